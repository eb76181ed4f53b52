"""What the paper found, and whether it holds here: read from the cells, by rules that are the same for every budget.

A finding about MAP is a band that differences lie in. It holds if their 95% intervals are within the band, does not if
one is outside of it, and is not settled otherwise: as long as a system is missing, or with few questions. The intervals
are over questions: of other seeds, only what is said of seeds tells.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from arcf.evaluation.plots import Panel
from arcf.experiments import paper
from arcf.experiments.measured import Measured
from arcf.experiments.seeds import SeedTest

Verdict = Literal["holds", "does not hold", "not settled"]
Interval = tuple[float, float]

#: The largest difference that is one: what is as good is not worse.
WORSE = -1e-9
#: Differences of MAP that count as none between losses (the paper's own are up to 0.013) and within a sweep (0.001).
EQUAL, FLAT = 0.02, 0.01
#: What the rest of the ranking may be worth to be worth nothing; the paper's is 0.0001.
NOTHING = 0.001
#: What a system must lose to have lost much, and one that learns nothing of all that there is.
MUCH, HALF = 0.02, 0.5
#: How far the exponent of a cost may be from the paper's word for it; the paper's own times give 0.97 and 1.83.
EXPONENT = 0.25
#: By how much more must be gained on hard roles than on the easy one. No interval is known there.
GAIN = 0.02
SIGNIFICANT = 0.05
#: With fewer, intervals are too short.
FEW_QUESTIONS = 30

BASELINES = ("TF-IDF", "Single fact", "Path re-rank", "Ensemble")
VARIANTS = ("ARCF, RankNet, CN", "ARCF, NCE", "ARCF, NCE, CN")
HARD_ROLES, EASY_ROLE = ("GROUNDING", "LEXGLUE"), "CENTRAL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One of them, the verdict, and the figures that it rests on."""

    claim: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Results:
    """All that findings are read from: cells, tests over seeds, the panels of figure 2."""

    cells: Sequence[Measured]
    tests: Sequence[SeedTest] = ()
    panels: Sequence[Panel] = ()

    def of(self, table: str) -> list[Measured]:
        """The cells of a table."""
        return [cell for cell in self.cells if cell.table == table]


Rule = Callable[[Results], Iterable[Finding]]


def findings(results: Results) -> list[Finding]:
    """Those that anything is known of."""
    return [finding for rule in FINDINGS.values() for finding in rule(results)]


def _baselines(results: Results) -> Iterable[Finding]:
    for dataset, cells in _by_dataset(results.of("table-2a")):
        yield from _within(f"ARCF is above all baselines on {dataset}", BASELINES, cells, (-inf, WORSE))


def _losses(results: Results) -> Iterable[Finding]:
    for dataset, cells in _by_dataset(results.of("table-2a")):
        claim = f"Losses and CN differ from RankNet by at most {EQUAL:g} on {dataset}"
        yield from _within(claim, VARIANTS, cells, (-EQUAL, EQUAL))


def _ablations(results: Results) -> Iterable[Finding]:
    cells = results.of("table-2b")
    for claim, name, band in (
        (f"bXENT is worse, by at most {EQUAL:g}", "ARCF, bXENT", (-EQUAL, WORSE)),
        (f"Trained on single facts, Algorithm 1 fails: more than {MUCH:g} worse", "ARCF, SF train", (-inf, -MUCH)),
        ("A single pass is worse than chains", "ARCF, SF inf", (-inf, WORSE)),
        ("Without prefix and neighborhoods, it is worse", "ARCF, without prefix and neighborhoods", (-inf, WORSE)),
        (f"The rest by distance (R3) is worth at most {NOTHING:g}", "ARCF, without R3", (-NOTHING, NOTHING)),
        (f"Scores of facts not chosen (S2) are worth more than {MUCH:g}", "ARCF, without R3 and S2", (-inf, -MUCH)),
    ):
        yield from _within(claim, (name,), cells, band)


def _pretraining(results: Results) -> Iterable[Finding]:
    for cell in results.of("table-2b"):
        if cell.name == "ARCF, random weights" and cell.map_all is not None and cell.difference is not None:
            least = HALF * (cell.map_all - cell.difference)
            yield from _within("Without pretraining, most of MAP is lost", (cell.name,), [cell], (-inf, -least))


def _flatness(results: Results) -> Iterable[Finding]:
    for table, setting, usual, theirs in SWEEPS:
        names = tuple(f"{setting} = {value}" for value in theirs if value > usual)
        claim = f"MAP is flat above {setting} = {usual}: within {FLAT:g}"
        yield from _within(claim, names, results.of(table), (-FLAT, FLAT))


def _costs(results: Results) -> Iterable[Finding]:
    for table, setting, _, theirs in SWEEPS:
        cells = {cell.name: cell for cell in results.of(table)}
        own = {value: cell for value in theirs if (cell := cells.get(f"{setting} = {value}")) and cell.timed}
        if len(own) < len(theirs):
            continue
        fast = {value: cell.seconds for value, cell in own.items() if cell.seconds is not None}
        exact = {value: cell.seconds_exact for value, cell in own.items() if cell.seconds_exact is not None}
        (low, high), told = _cost(setting, exact or fast)
        exponent, word = {"k": (1, "linear"), "L": (2, "quadratic")}[setting]
        also = f"; with fast search {_cost(setting, fast)[1]}" if exact else ""
        verdict = _verdict((low, high), (exponent - EXPONENT, exponent + EXPONENT))
        yield Finding(f"The cost is {word} in {setting}", verdict, told + also)


def _cost(setting: str, times: Mapping[int, float]) -> tuple[Interval, str]:
    """The 95% interval of the exponent that a setting's cost grows with, and the cost in words."""
    from scipy.stats import linregress, t

    fit = linregress(np.log(list(times)), np.log(list(times.values())))
    reach = float(t.ppf(0.975, len(times) - 2)) * float(fit.stderr)
    slope, first, last = float(fit.slope), min(times), max(times)
    seconds = f"{times[first]:.3g} s a question at {setting} = {first}, {times[last]:.3g} s at {setting} = {last}"
    return (slope - reach, slope + reach), f"{seconds}, so as {setting}^{slope:.2f} (± {reach:.2f})"


def _roles(results: Results) -> Iterable[Finding]:
    panel = next((panel for panel in results.panels if panel.title == "role" and len(panel.bars) == 2), None)
    if panel is None:
        return
    (first, ours), (second, theirs) = panel.bars.items()
    if not all(role in ours and role in theirs for role in (*HARD_ROLES, EASY_ROLE)):
        return
    gains = {role: ours[role] - theirs[role] for role in (EASY_ROLE, *HARD_ROLES)}
    least = min(gains[role] - gains[EASY_ROLE] for role in HARD_ROLES)
    told = ", ".join(f"{role.lower()} {gain:+.3f} ({panel.questions[role]} questions)" for role, gain in gains.items())
    is_few = min(panel.questions[role] for role in gains) < FEW_QUESTIONS
    verdict: Verdict = "not settled" if is_few or abs(least) <= GAIN else "holds" if least > 0 else "does not hold"
    claim = f"Grounding and lexical glue gain more than central facts do: by more than {GAIN:g}"
    yield Finding(claim, verdict, f"{first} less {second}: {told}")


def _seeds(results: Results) -> Iterable[Finding]:
    for test in results.tests:
        if test.second == "Single fact" and test.p is not None:
            means = " and ".join(f"{mean:.4f}" for mean in test.means)
            yield Finding(
                f"{test.first} is above {test.second} in the mean over seeds",
                _significance(test.p),
                f"{means}, {test.seeds[0]} and {test.seeds[1]} seeds, p = {test.p:.2g}",
            )


def _significance(p: float) -> Verdict:
    """Of a one-tailed test: the other tail says that it does not hold."""
    if p < SIGNIFICANT:
        return "holds"
    return "does not hold" if p > 1 - SIGNIFICANT else "not settled"


def _by_dataset(cells: Sequence[Measured]) -> Iterable[tuple[str, list[Measured]]]:
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        yield dataset, [cell for cell in cells if cell.dataset == dataset]


def _within(claim: str, names: Sequence[str], cells: Sequence[Measured], band: Interval) -> Iterable[Finding]:
    """Whether the differences of all systems of these names are in a band; nothing, if none of them is known."""
    known = {cell.name: cell for cell in cells if cell.name in names and cell.difference_interval is not None}
    if not known:
        return
    verdicts = {_judged(cell, band) for cell in known.values()}
    missing = [name for name in names if name not in known]
    verdict: Verdict = "holds" if verdicts == {"holds"} and not missing else "not settled"
    evidence = [_told(cell) for cell in known.values()] + [f"missing: {', '.join(missing)}"] * bool(missing)
    yield Finding(claim, "does not hold" if "does not hold" in verdicts else verdict, "; ".join(evidence))


def _judged(cell: Measured, band: Interval) -> Verdict:
    is_few = cell.questions is None or cell.questions < FEW_QUESTIONS
    return "not settled" if is_few or cell.difference_interval is None else _verdict(cell.difference_interval, band)


def _verdict(interval: Interval, band: Interval) -> Verdict:
    """Whether a value that is known to be in an interval is in a band."""
    if band[0] <= interval[0] and interval[1] <= band[1]:
        return "holds"
    return "does not hold" if interval[1] < band[0] or interval[0] > band[1] else "not settled"


def _told(cell: Measured) -> str:
    low, high = cell.difference_interval or (0.0, 0.0)
    theirs = "" if cell.paper_difference is None else f", the paper {cell.paper_difference:+.4f}"
    return f"{cell.name} {cell.difference or 0.0:+.4f} ({low:+.4f} to {high:+.4f}{theirs})"


SWEEPS = (("table-2d", "k", 180, paper.BY_K), ("table-2e", "L", 8, paper.BY_L))

FINDINGS: Mapping[str, Rule] = {
    "baselines": _baselines,
    "seeds": _seeds,
    "losses": _losses,
    "ablations": _ablations,
    "pretraining": _pretraining,
    "flatness": _flatness,
    "costs": _costs,
    "roles": _roles,
}
