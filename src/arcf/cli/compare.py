"""`arcf compare`: runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.output import console, print_json, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.evaluation import Comparison, Interval


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more runs; the first is the baseline.")],
    dataset: Annotated[
        str, typer.Option(help="A dataset's name, or the path of a folder, archive or facts file.")
    ] = "science",
    split: Annotated[str, typer.Option(help="The split whose gold facts are looked for.")] = "dev",
    parts: Annotated[
        bool, typer.Option("--parts", help="Also compare on parts of questions and gold, and F1 of chains.")
    ] = False,
    hops: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="The parts by hops from the question at this k, too.")
    ] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Only the fixed sample of the split that arcf rank --questions takes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare runs with the first one: MAP, bootstrap intervals, paired t-test with Holm's correction, wins.

    With --parts, the MAP of each part that `arcf evaluate` knows stands beside the others', with the interval of the
    paired difference; and where JSON runs hold chains, how F1 of their facts differs.

    Example: arcf compare tfidf.txt bm25.txt --dataset worldtree-2020 --split dev
    """
    from arcf.data import load
    from arcf.data.sample import sampled
    from arcf.evaluation import compare as compare_runs
    from arcf.evaluation import hop_groups
    from arcf.runs import read_runs

    corpus = sampled(load(dataset), split, questions)
    groups = {} if hops is None else {"hops": hop_groups(corpus, split, hops)}
    result = compare_runs(read_runs(runs), corpus, split, groups)
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result, parts or hops is not None)


def _print(result: "Comparison", parts: bool) -> None:
    from rich.markup import escape

    terminal = console()
    terminal.print(f"{escape(result.dataset)}, {escape(result.split)}: {result.questions_all:,} questions\n")
    terminal.print(_scores(result))
    terminal.print()
    terminal.print(_differences(result))
    if parts:
        terminal.print()
        terminal.print(_parts(result))
    terminal.print(
        f"\n[dim]Intervals: {result.confidence:.0%}, {result.resamples:,} paired resamples. p: paired t-test; Holm: "
        f"corrected for {len(result.runs) - 1} comparison(s); * where that is below {result.level}.[/]"
    )


def _scores(result: "Comparison") -> "Table":
    from rich.markup import escape

    table = table_of("run", "MAP", "interval", "official MAP")
    for row in result.runs:
        official = "-" if row.map_official is None else f"{row.map_official:.4f}"
        table.add_row(escape(row.name), f"[bold]{row.map_all:.4f}[/]", _interval(row.interval), official)
    return table


def _differences(result: "Comparison") -> "Table":
    from rich.markup import escape

    table = table_of(f"against {escape(result.runs[0].name)}", "MAP", "interval", "p", "Holm", "", "won/tied/lost")
    for row in result.runs:
        if change := row.difference:
            table.add_row(
                escape(row.name),
                f"[bold]{change.map:+.4f}[/]",
                _interval(change.interval, "+"),
                _p(change.p),
                _p(change.p_corrected),
                "*" if change.significant else "",
                f"{change.wins}/{change.ties}/{change.losses}",
            )
    return table


def _parts(result: "Comparison") -> "Table":
    from rich.markup import escape

    first, *others = (escape(row.name) for row in result.runs)
    columns = [title for name in others for title in (name, "difference, interval")]
    table = table_of("part", "questions", first, *columns)
    for part in result.parts:
        cells = [f"{part.values[0]:.4f}"]
        for value, interval in zip(part.values[1:], part.intervals, strict=True):
            cells += [f"{value:.4f}", f"{value - part.values[0]:+.4f}, {_interval(interval, '+')}"]
        table.add_row(escape(f"{part.breakdown} {part.name}"), f"{part.questions:,}", *cells)
    return table


def _interval(interval: "Interval", sign: str = "") -> str:
    return f"{interval.low:{sign}.4f} to {interval.high:{sign}.4f}"


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
