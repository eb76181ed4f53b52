"""`arcf evaluate`: score a run."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.output import console, note, print_json, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.evaluation import ChainCalibration, ChainQuality, Evaluation
    from arcf.runs import Run
    from arcf.types import Dataset


def evaluate(
    runs: Annotated[
        list[Path], typer.Argument(help="A run, or several: TextGraphs predict.txt, TREC or JSON; may end in .gz.")
    ],
    dataset: Annotated[
        str, typer.Option(help="A dataset's name, or the path of a folder, archive or facts file.")
    ] = "science",
    split: Annotated[str, typer.Option(help="The split whose gold facts are looked for.")] = "dev",
    hops: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Also break down by hops from the question at this k.")
    ] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Only the fixed sample of the split that arcf rank --questions takes.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Draw the breakdowns of the paper's figure 2 there, and the reliability diagram of chains with "
            "confidences, as SVG and PNG.",
        ),
    ] = None,
    per_question: Annotated[bool, typer.Option("--per-question", help="Also show every question's scores.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score a run: MAP as the shared tasks compute it, precision and recall at cutoffs, nDCG, and breakdowns.

    JSON runs of the ranker arcf hold its chains: how good those are is told as well, and whether their confidence can
    be taken at its word (the expected calibration error; 0 is perfect). JSON output is one object for one run, and a
    list `runs` of them for several.

    Example: arcf evaluate predict.txt --dataset worldtree-2020 --split dev

    Example: arcf evaluate arcf.json single-fact.json --dataset worldtree-2020 --plot pictures
    """
    from arcf.data import load
    from arcf.data.sample import sampled
    from arcf.evaluation import evaluate as evaluate_run
    from arcf.evaluation import hop_groups
    from arcf.evaluation.plots import check_picture
    from arcf.runs import read_runs

    if plot is not None:
        check_picture(plot / "breakdowns.png")
    corpus = sampled(load(dataset), split, questions)
    groups = {} if hops is None else {"hops": hop_groups(corpus, split, hops)}
    read = read_runs(runs)
    results = [evaluate_run(run, corpus, split, groups) for run in read]
    if plot is not None:
        _draw(read, corpus, split, hops, plot)
        _draw_calibration(results, plot)
    if as_json:
        records = [result.to_dict(per_question) for result in results]
        print_json(records[0] if len(records) == 1 else {"runs": records})
    else:
        for place, result in enumerate(results):
            typer.echo("\n" if place else "", nl=False)
            _print(result, per_question)


def _draw(runs: "Sequence[Run]", corpus: "Dataset", split: str, k: int | None, folder: Path) -> None:
    from arcf.evaluation.panels import K, breakdown_panels
    from arcf.evaluation.plots import plot_breakdowns

    panels = breakdown_panels(runs, corpus, split, k or K)
    _write_pictures(partial(plot_breakdowns, panels), folder / "breakdowns")


def _draw_calibration(results: "Sequence[Evaluation]", folder: Path) -> None:
    from arcf.evaluation.plots import plot_reliability

    lines = {result.run: result.calibration.bins for result in results if result.calibration}
    if lines:
        _write_pictures(partial(plot_reliability, lines), folder / "reliability")


def _write_pictures(draw: Callable[[Path], None], path: Path) -> None:
    """Draw a picture as SVG and PNG, under a path without ending."""
    from arcf.evaluation.plots import write_pictures
    from arcf.files import make_folder

    make_folder(path.parent)
    write_pictures(draw, path)
    note(f"Drawn in {path}.svg and .png")


def _print(result: "Evaluation", per_question: bool) -> None:
    from rich.markup import escape

    terminal = console()
    terminal.print(f"[bold]{escape(result.run)}[/] on {escape(result.dataset)}, {escape(result.split)}\n")
    terminal.print(_rules(result))
    terminal.print()
    terminal.print(_cutoffs(result))
    if result.chains:
        terminal.print()
        terminal.print(_chains(result.chains))
    if result.calibration:
        terminal.print()
        terminal.print(_calibration(result.calibration))
    if any(result.breakdowns.values()):
        terminal.print()
        terminal.print(_breakdowns(result))
    if per_question:
        terminal.print()
        terminal.print(_questions(result))


def _rules(result: "Evaluation") -> "Table":
    """MAP by each rule. Those of the shared tasks mean nothing where no question has the task's flags."""
    table = table_of("rule", "MAP", "questions")
    of_the_task = result.questions_official > 0
    if of_the_task:
        table.add_row("official, 2020", f"[bold]{_score(result.map_official)}[/]", f"{result.questions_official:,}")
    table.add_row("all questions with gold", f"[bold]{_score(result.map_all)}[/]", f"{result.questions_all:,}")
    if of_the_task:
        table.add_row("2019", _score(result.map_2019), f"{result.questions_2019:,}")
    return table


def _cutoffs(result: "Evaluation") -> "Table":
    table = table_of("at rank", *map(str, result.precision), "all")
    table.add_row("precision", *map(_score, result.precision.values()), "")
    table.add_row("recall", *map(_score, result.recall.values()), "")
    table.add_row("nDCG", *[""] * len(result.precision), _score(result.ndcg))
    return table


def _chains(quality: "ChainQuality") -> "Table":
    table = table_of("chains", "precision", "recall", "F1", "facts", "gold", "stopped", "too early", "too late")
    scores = (f"{value:.4f}" for value in (quality.precision, quality.recall, quality.f1))
    sizes = (f"{value:.1f}" for value in (quality.length, quality.gold_length))
    shares = (f"{value:.0%}" for value in (quality.stopped, quality.too_early, quality.too_late))
    table.add_row(f"{quality.questions:,}", *scores, *sizes, *shares)
    return table


def _calibration(calibration: "ChainCalibration") -> "Table":
    table = table_of("calibration", "ECE", "facts")
    table.add_row("confidence", f"{calibration.ece:.4f}", f"{calibration.facts:,}")
    return table


def _breakdowns(result: "Evaluation") -> "Table":
    from rich.markup import escape

    table = table_of("by", "", "MAP", "questions", "gold facts", texts=2)
    for title, groups in result.breakdowns.items():
        for index, group in enumerate(groups):
            by = "" if index else escape(title.replace("_", " "))
            table.add_row(by, escape(group.name), _score(group.map), f"{group.questions:,}", f"{group.facts:,}")
    return table


def _questions(result: "Evaluation") -> "Table":
    from rich.markup import escape

    of_the_task = result.questions_official > 0
    table = table_of("question", "AP", "nDCG", "gold", "found", "first at", *(["official"] if of_the_task else []))
    for question in result.questions:
        table.add_row(
            escape(question.id),
            _score(question.average_precision),
            _score(question.ndcg),
            str(question.gold),
            str(question.found),
            "-" if question.first is None else f"{question.first:,}",
            *(["yes" if question.official else "no"] if of_the_task else []),
        )
    return table


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
