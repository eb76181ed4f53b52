"""The report of an experiment: each table with our figures, the paper's, and the commands that make them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from arcf.evaluation.plots import Panel
from arcf.experiments.budget import Budget
from arcf.experiments.measured import Measured
from arcf.experiments.seeds import SeedTest
from arcf.experiments.tables import Table
from arcf.files import read_text

#: The columns of a table, each shown where a cell has something in it.
COLUMNS: Mapping[str, Callable[[Measured], str]] = {
    "dataset": lambda cell: cell.dataset,
    "questions": lambda cell: _number(cell.questions, ",.0f"),
    "reachable": lambda cell: _number(cell.reachable, ".4f"),
    "MAP": lambda cell: _number(cell.map_all, ".4f"),
    "95% interval": lambda cell: f"{cell.interval[0]:.3f} to {cell.interval[1]:.3f}" if cell.interval else "",
    "difference, 95% interval": lambda cell: _difference(cell),
    "the paper's difference": lambda cell: _number(cell.paper_difference, "+.4f"),
    "official MAP": lambda cell: _number(cell.map_official, ".4f"),
    "chain F1": lambda cell: _number(cell.chain_f1, ".3f"),
    "seconds a question": lambda cell: _number(cell.seconds, ".3g"),
    "seconds, exact search": lambda cell: _number(cell.seconds_exact, ".3g"),
    "chains a question": lambda cell: _number(cell.chains, ",.0f"),
    "training hours": lambda cell: _number(cell.train_seconds and cell.train_seconds / 3600, ".3g"),
    "the paper's": lambda cell: f"{cell.paper:.4g} ({cell.paper_on})" if cell.paper is not None else "",
    "the paper's seconds": lambda cell: _number(cell.paper_seconds, "g"),
    "the paper's training hours": lambda cell: _number(cell.paper_hours, "g"),
}


@dataclass(frozen=True)
class Details:
    """What is told beside the cells: examples by question, tests over seeds, the panels of figure 2."""

    examples: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tests: Sequence[SeedTest] = ()
    panels: Sequence[Panel] = ()


@dataclass(frozen=True)
class Section:
    """A table of the report: rows of text, remarks below it, a figure, and the commands of its rows."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """All of it; `figures` are SVG files by name."""

    title: str
    introduction: tuple[str, ...]
    sections: tuple[Section, ...]
    figures: Mapping[str, Path]

    def markdown(self) -> str:
        """As Markdown, with links to the figures."""
        parts = [f"# {self.title}", *self.introduction]
        for section in self.sections:
            parts += [f"## {section.title}", _markdown_table(section), *section.remarks]
            if section.commands:
                listed = "\n".join(f"# {name}\n{command}" for name, command in section.commands)
                parts += ["Commands:", f"```\n{listed}\n```"]
        parts += [f"## {name}\n\n![{name}]({path.name})" for name, path in self.figures.items()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def html(self) -> str:
        """As one HTML file that needs no other."""
        parts = [f"<h1>{escape(self.title)}</h1>", *(f"<p>{escape(text)}</p>" for text in self.introduction)]
        for section in self.sections:
            parts += [f"<h2>{escape(section.title)}</h2>", _html_table(section)]
            parts += [f"<p>{escape(text)}</p>" for text in section.remarks]
            if section.commands:
                listed = "\n".join(f"# {name}\n{command}" for name, command in section.commands)
                parts.append(f"<details><summary>Commands</summary><pre>{escape(listed)}</pre></details>")
        for name, path in self.figures.items():
            parts.append(f"<h2>{escape(name)}</h2>" + _svg(path))
        return PAGE.format(title=escape(self.title), body="\n".join(parts))


def make_report(budget: Budget, tables: Sequence[Table], cells: Sequence[Measured], details: Details) -> Report:
    """The report without figures."""
    sections = []
    for table in tables:
        own = [cell for cell in cells if cell.table == table.name]
        if not own:
            continue
        if table.name == "examples":
            examples = details.examples
            sections += [_example(cell, examples[cell.name]) for cell in own if cell.name in examples]
            continue
        is_seeded = table.name == "significance"
        sections.append(_section(table, own, [_told(test) for test in details.tests] if is_seeded else []))
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


def _section(table: Table, cells: Sequence[Measured], remarks: Sequence[str]) -> Section:
    seeded = len({cell.seed for cell in cells}) > 1
    columns = {"seed": lambda cell: str(cell.seed)} | dict(COLUMNS) if seeded else dict(COLUMNS)
    shown = {name: column for name, column in columns.items() if any(column(cell) for cell in cells)}
    rows = tuple((cell.name, *(column(cell) for column in shown.values())) for cell in cells)
    names = [f"{cell.name}, {cell.dataset}, seed {cell.seed}" for cell in cells]
    commands = tuple(zip(names, (cell.command for cell in cells), strict=True))
    return Section(f"{table.name}: {table.title}", ("", *shown), rows, (*_compared(table, cells), *remarks), commands)


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
        commands=((cell.name, cell.command),),
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
    return [f"Differences are from {table.reference}, on the same questions."] if is_compared else []


def _difference(cell: Measured) -> str:
    if cell.difference is None or cell.difference_interval is None:
        return ""
    low, high = cell.difference_interval
    return f"{cell.difference:+.4f} ({low:+.3f} to {high:+.3f})"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _markdown_table(section: Section) -> str:
    lines = [section.headers, tuple("---" for _ in section.headers), *section.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _html_table(section: Section) -> str:
    head = "".join(f"<th>{escape(header)}</th>" for header in section.headers)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in section.rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _svg(path: Path) -> str:
    """The picture itself, without the head of its file."""
    text = read_text(path)
    return text[text.index("<svg") :]


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }} th, td {{ padding: .25rem .75rem; text-align: left; vertical-align: top; }}
th {{ border-bottom: 2px solid; }} tr + tr td {{ border-top: 1px solid #ccc; }}
pre {{ overflow-x: auto; background: #f4f4f4; padding: .75rem; font-size: 12px; }}
svg {{ max-width: 100%; height: auto; }}
</style></head><body>
{body}
</body></html>
"""
