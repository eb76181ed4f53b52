"""The report of an experiment: what holds, and each table with our figures, the paper's, and their commands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arcf.evaluation.plots import Panel
from arcf.experiments.budget import Budget
from arcf.experiments.findings import Finding
from arcf.experiments.measured import Measured
from arcf.experiments.rendering import Report, Section, Whisker
from arcf.experiments.seeds import SeedTest
from arcf.experiments.tables import Table

#: The columns of a table, each shown where a cell has something in it.
COLUMNS: Mapping[str, Callable[[Measured], str]] = {
    "questions": lambda cell: _number(cell.questions, ",.0f"),
    "reachable": lambda cell: _number(cell.reachable, ".4f"),
    "MAP": lambda cell: _number(cell.map_all, ".4f"),
    "95% interval": lambda cell: f"{cell.interval[0]:.3f} to {cell.interval[1]:.3f}" if cell.interval else "",
    "difference, 95% interval": lambda cell: _difference(cell),
    "the paper's difference": lambda cell: _number(cell.paper_difference, "+.4f"),
    "official MAP": lambda cell: _number(cell.map_official, ".4f"),
    "chain F1": lambda cell: _number(cell.chain_f1, ".3f"),
    # What a whole ranking took says little: other jobs may have run beside it.
    "seconds a question": lambda cell: _number(cell.seconds, ".3g") if cell.timed else "",
    "seconds, exact search": lambda cell: _number(cell.seconds_exact, ".3g"),
    "chains a question": lambda cell: _number(cell.chains, ",.0f"),
    "training hours": lambda cell: _number(cell.train_seconds and cell.train_seconds / 3600, ".3g"),
    "the paper's MAP": lambda cell: _number(cell.paper, ".4f") if cell.reachable is None else "",
    "the paper's fraction": lambda cell: _number(cell.paper, ".2f") if cell.reachable is not None else "",
    "the paper's is of": lambda cell: cell.paper_on,
    "the paper's seconds": lambda cell: _number(cell.paper_seconds, "g"),
    "the paper's training hours": lambda cell: _number(cell.paper_hours, "g"),
}


#: What is said above a table instead, where it is the same for all of its rows.
SAID_ONCE: Mapping[str, str] = {"questions": "{} questions", "the paper's is of": "the paper's figures are of {}"}


@dataclass(frozen=True)
class Details:
    """What is told beside the cells: examples by question, tests over seeds, the panels of figure 2, what holds."""

    examples: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tests: Sequence[SeedTest] = ()
    panels: Sequence[Panel] = ()
    findings: Sequence[Finding] = ()


def make_report(budget: Budget, tables: Sequence[Table], cells: Sequence[Measured], details: Details) -> Report:
    """The report without figures."""
    sections = [_findings(details.findings)] if details.findings else []
    for table in tables:
        own = [cell for cell in cells if cell.table == table.name]
        if not own:
            continue
        if table.name == "examples":
            examples = details.examples
            sections += [_example(cell, examples[cell.name]) for cell in own if cell.name in examples]
            continue
        is_seeded = table.name == "significance"
        sections += _sections(table, own, [_told(test) for test in details.tests] if is_seeded else [])
        if table.name == "figure-2" and details.panels:
            sections.append(_breakdowns(details.panels))
    return Report("The paper, reproduced", _introduction(budget), tuple(sections), {})


def _introduction(budget: Budget) -> tuple[str, ...]:
    sample = "all questions" if budget.questions is None else f"a fixed sample of at most {budget.questions} questions"
    return (
        f"Budget: {budget.name}. Split: {budget.split}, {sample}. The gold facts of the test splits are not public, so "
        "the paper's figures, which are mostly of the test splits, stand beside ours and are not the same measurement.",
        "MAP is over all questions; the official scorer counts fewer. Intervals are the bootstrap's over questions: "
        "they say nothing of other seeds.",
    )


def _findings(findings: Sequence[Finding]) -> Section:
    rows = tuple((finding.claim, finding.verdict, finding.evidence) for finding in findings)
    caption = (
        "A finding about MAP holds if 95% intervals of paired differences are within what it says, and does not if one "
        "is outside; of roles, no interval is known. Unless seeds are named, systems were trained once: what another "
        "seed changes is not in the intervals."
    )
    return Section("What holds here", ("the paper's finding", "here", "figures"), rows, caption)


def _sections(table: Table, cells: Sequence[Measured], remarks: Sequence[str]) -> list[Section]:
    """A table for each dataset."""
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    made = []
    for dataset in datasets:
        own = [cell for cell in cells if cell.dataset == dataset]
        title = f"{table.name}: {table.title}" + (f", {dataset}" if len(datasets) > 1 else "")
        made.append(_section(table, title, own, remarks))
    return made


def _section(table: Table, title: str, cells: Sequence[Measured], remarks: Sequence[str]) -> Section:
    seeded = len({cell.seed for cell in cells}) > 1
    columns = {"seed": lambda cell: str(cell.seed)} | dict(COLUMNS) if seeded else dict(COLUMNS)
    texts = {name: [column(cell) for cell in cells] for name, column in columns.items()}
    shared = {name: text for name in SAID_ONCE if (text := _shared(texts[name]))}
    shown = {name: column for name, column in texts.items() if any(column) and name not in shared}
    said = [cells[0].dataset, *(SAID_ONCE[name].format(text) for name, text in shared.items())]
    whiskers = tuple(map(_whisker, cells))
    return Section(
        title=title,
        headers=("", *shown),
        rows=tuple(zip((cell.name for cell in cells), *shown.values(), strict=True)),
        caption=f"{'; '.join(said)}.",
        remarks=(*_compared(table, cells), *remarks),
        commands=tuple("\n".join(filter(None, (cell.command, cell.difference_command))) for cell in cells),
        names=tuple(f"{cell.name}, seed {cell.seed}" if seeded else cell.name for cell in cells),
        whiskers=whiskers if any(whiskers) else (),
    )


def _shared(texts: Sequence[str]) -> str:
    """What all rows say that say anything; empty if two say different things.

    The paper's figures are of a split and, after a comma, of a model, if there is one.
    """
    longest = max(texts, key=len)
    if all(text in ("", longest) for text in texts):
        return longest
    if all(text in ("", longest) or longest.startswith(f"{text}, ") for text in texts):
        return f"{longest} (where there is a model)"
    return ""


def _whisker(cell: Measured) -> Whisker | None:
    if cell.difference is None or cell.difference_interval is None:
        return None
    return Whisker(cell.difference, *cell.difference_interval, cell.paper_difference)


def _breakdowns(panels: Sequence[Panel]) -> Section:
    """What figure 2 shows, in figures. The first panel counts questions, the others have the same systems."""
    rows = [
        (
            panel.title,
            group,
            str(panel.questions[group]),
            *(_number(bars.get(group), ".3f") for bars in panel.bars.values()),
        )
        for panel in panels[1:]
        for group in panel.groups
    ]
    return Section("figure-2: in figures", ("MAP by", "", "questions", *panels[1].bars), tuple(rows))


def _example(cell: Measured, result: Mapping[str, Any]) -> Section:
    rows = tuple(
        (str(rank), "gold" if fact["gold"] else "", fact["uid"], fact["text"])
        for rank, fact in enumerate(result["facts"], 1)
    )
    return Section(
        f"examples: {cell.name} ({result['gold']} gold facts)",
        ("rank", "", "uid", "fact"),
        rows,
        command=cell.command,
    )


def _told(test: SeedTest) -> str:
    # The paper tested this pair only.
    theirs = " The paper: p < 0.001." if (test.first, test.second) == ("ARCF, RankNet", "Single fact") else ""
    p = "not to be tested" if test.p is None else f"p = {test.p:.2g}"
    sides = [
        f"{name}: {mean:.4f} ± {deviation:.4f} ({seeds} seed{'s' * (seeds > 1)})"
        for name, mean, deviation, seeds in zip(
            (test.first, test.second), test.means, test.deviations, test.seeds, strict=True
        )
    ]
    return f"{sides[0]}; {sides[1]}. One-tailed independent t-test, the first above the second: {p}.{theirs}"


def _compared(table: Table, cells: Sequence[Measured]) -> list[str]:
    is_compared = any(cell.difference is not None for cell in cells)
    if not is_compared:
        return []
    told = "the last line of a row's commands tells them, once both runs are made"
    return [f"Differences are from {table.reference}, on the same questions; {told}."]


def _difference(cell: Measured) -> str:
    if cell.difference is None or cell.difference_interval is None:
        return ""
    low, high = cell.difference_interval
    return f"{cell.difference:+.4f} ({low:+.3f} to {high:+.3f})"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
