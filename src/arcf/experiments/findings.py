"""What the paper found, and whether it holds here: read from the cells, by rules that are the same for every budget.

A finding is *not settled* where our figures allow both: an interval that reaches over 0, or over the margin within
which two systems count as level.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arcf.evaluation.plots import Panel
from arcf.experiments.measured import Measured
from arcf.experiments.seeds import SeedTest
from arcf.experiments.tables import Table

Verdict = Literal["holds", "does not hold", "not settled"]

#: Systems count as level within these margins of MAP: about twice what the paper's own differ by.
LOSSES, SWEEPS, R3 = 0.02, 0.01, 0.001
#: How far the exponent of a cost may be from the paper's word for it; the paper's own times give 0.97 and 1.84.
EXPONENT = 0.25
SIGNIFICANT = 0.05
HARD_ROLES, EASY_ROLE = ("GROUNDING", "LEXGLUE"), "CENTRAL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One of them, the verdict, and the figures that it rests on."""

    claim: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Results:
    """All that findings are read from: the tables and their cells, tests over seeds, the panels of figure 2."""

    tables: Mapping[str, Table]
    cells: Sequence[Measured]
    tests: Sequence[SeedTest]
    panels: Sequence[Panel]

    def differences(self, table: str, *names: str) -> list[Measured]:
        """The cells of a table that are compared with its reference: those of these names, or all of them."""
        own = [cell for cell in self.cells if cell.table == table and cell.difference_interval is not None]
        return [cell for cell in own if not names or cell.name in names]


def findings(results: Results) -> list[Finding]:
    """Those that anything is known of."""
    found = [rule(results) for rule in FINDINGS]
    return [finding for one in found for finding in one]


def _main(results: Results) -> Iterable[Finding]:
    baselines = ("TF-IDF", "Single fact", "Path re-rank", "Ensemble")
    cells = results.differences("table-2a")
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = [cell for cell in cells if cell.dataset == dataset]
        yield from _below(f"ARCF is above all baselines on {dataset}", [c for c in own if c.name in baselines])
        others = [cell for cell in own if cell.name not in baselines]
        yield from _level(f"RankNet, NCE and CN are about equal on {dataset}", others, LOSSES)


def _ablations(results: Results) -> Iterable[Finding]:
    for claim, name in (
        ("bXENT is slightly worse", "ARCF, bXENT"),
        ("Trained on single facts, Algorithm 1 fails", "ARCF, SF train"),
        ("A single pass is worse than chains", "ARCF, SF inf"),
        ("Training wants prefixes and neighborhoods", "ARCF, without prefix and neighborhoods"),
        ("Without pretraining, little is learnt", "ARCF, random weights"),
        ("The scores of facts that were not chosen (S2) are worth a lot", "ARCF, without R3 and S2"),
    ):
        yield from _below(claim, results.differences("table-2b", name))
    without = results.differences("table-2b", "ARCF, without R3")
    yield from _level("Ranking the rest by distance (R3) is worth nothing", without, R3)


def _sweeps(results: Results) -> Iterable[Finding]:
    for name, setting, word, exponent in (("table-2d", "k", "linear", 1), ("table-2e", "L", "quadratic", 2)):
        table = results.tables.get(name)
        if table is None:
            continue
        places = {cell.name: cell.place for cell in table.cells}
        usual = places.get(table.reference, 0)
        above = [cell for cell in results.differences(name) if places[cell.name] > usual]
        yield from _level(f"MAP is flat above {table.reference}", above, SWEEPS)
        own = {places[cell.name]: cell for cell in results.cells if cell.table == name}
        exact = {value: seconds for value, cell in own.items() if (seconds := cell.seconds_exact or cell.seconds)}
        fast = {value: cell.seconds for value, cell in own.items() if cell.seconds_exact and cell.seconds}
        if len(exact) > 2:
            slope, told = _cost(setting, exact)
            faster = f"; with fast search {_cost(setting, fast)[1]}" if len(fast) > 2 else ""
            verdict: Verdict = "holds" if abs(slope - exponent) <= EXPONENT else "does not hold"
            yield Finding(f"The cost is {word} in {setting}", verdict, told + faster)


def _cost(setting: str, times: Mapping[int, float]) -> tuple[float, str]:
    """The exponent that a setting's cost grows with, and in words."""
    slope = float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])
    first, last = min(times), max(times)
    seconds = f"{times[first]:.3g} s a question at {setting} = {first}, {times[last]:.3g} s at {setting} = {last}"
    return slope, f"{seconds}, so as {setting}^{slope:.2f}"


def _roles(results: Results) -> Iterable[Finding]:
    panel = next((panel for panel in results.panels if panel.title == "role" and len(panel.bars) == 2), None)
    if panel is None:
        return
    (first, ours), (second, theirs) = panel.bars.items()
    if not all(role in ours and role in theirs for role in (*HARD_ROLES, EASY_ROLE)):
        return
    gains = {role: ours[role] - theirs[role] for role in (EASY_ROLE, *HARD_ROLES)}
    holds = all(gains[role] > max(gains[EASY_ROLE], 0.0) for role in HARD_ROLES)
    told = ", ".join(f"{role.lower()} {ours[role]:.3f} ({gain:+.3f})" for role, gain in gains.items())
    yield Finding(
        "Most is gained on lexical glue and grounding",
        "holds" if holds else "does not hold",
        f"{first}, and what it has more than {second}: {told}",
    )


def _seeds(results: Results) -> Iterable[Finding]:
    for test in results.tests:
        if test.second != "Single fact" or test.p is None:
            continue
        verdict: Verdict = "holds" if test.p < SIGNIFICANT else "not settled"
        yield Finding(
            f"{test.first} is above {test.second}, whatever the seed",
            "does not hold" if test.p > 1 - SIGNIFICANT else verdict,
            f"{test.means[0]:.4f} and {test.means[1]:.4f}, {test.seeds[0]} and {test.seeds[1]} seeds, p = {test.p:.2g}",
        )


def _below(claim: str, cells: Sequence[Measured]) -> Iterable[Finding]:
    """All of them are below the reference."""

    def rule(low: float, high: float) -> Verdict:
        if high < 0:
            return "holds"
        return "does not hold" if low > 0 else "not settled"

    return _judged(claim, cells, rule)


def _level(claim: str, cells: Sequence[Measured], margin: float) -> Iterable[Finding]:
    """None of them is farther from the reference than the margin."""

    def rule(low: float, high: float) -> Verdict:
        if -margin <= low and high <= margin:
            return "holds"
        return "does not hold" if low > margin or high < -margin else "not settled"

    return _judged(f"{claim} (within {margin:g})", cells, rule)


def _judged(claim: str, cells: Sequence[Measured], rule: Callable[[float, float], Verdict]) -> Iterable[Finding]:
    """What a rule makes of the cells' intervals: it holds if it does for all, and does not if it does not for one."""
    if not cells:
        return
    verdicts = [rule(*cell.difference_interval) for cell in cells if cell.difference_interval]
    verdict: Verdict = "holds" if set(verdicts) == {"holds"} else "not settled"
    yield Finding(claim, "does not hold" if "does not hold" in verdicts else verdict, "; ".join(map(_told, cells)))


def _told(cell: Measured) -> str:
    low, high = cell.difference_interval or (0.0, 0.0)
    theirs = "" if cell.paper_difference is None else f", the paper {cell.paper_difference:+.4f}"
    return f"{cell.name} {cell.difference or 0.0:+.4f} ({low:+.4f} to {high:+.4f}{theirs})"


#: Adding one is a function of the results, and a line here.
FINDINGS: Sequence[Callable[[Results], Iterable[Finding]]] = (_main, _seeds, _ablations, _sweeps, _roles)
