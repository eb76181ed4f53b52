"""`arcf reachability`: how much of the gold explanations the neighborhoods can reach."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcf.cli.output import console, print_json, progress_console, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.evaluation.reachability import Reachability

    Results = Mapping[str, Sequence[Reachability]]


def reachability(
    dataset: Annotated[
        str, typer.Option(help="A dataset's name, or the path of a folder, archive or facts file.")
    ] = "science",
    split: Annotated[str, typer.Option(help="The split whose gold facts are to be reached.")] = "train",
    distance: Annotated[
        list[str] | None,
        typer.Option(help="A distance, or several joined by +; repeat it to compare. [default: tfidf]"),
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", min=1, help="Neighbors of each fact; repeat it. [default: 90 130 180 290]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the fractions into this picture (.png, .svg, ...).")] = (None),
) -> None:
    """Measure how much of the gold explanations can be reached from the question, in any number of hops via gold.

    Example: arcf reachability --dataset worldtree-2020 --distance tfidf --distance bm25 -k 90 -k 290 --plot reach.png
    """
    from rich.progress import Progress

    from arcf.data import load
    from arcf.evaluation.plots import check_picture, plot_reachability
    from arcf.evaluation.reachability import reachabilities
    from arcf.files import check_writable
    from arcf.neighborhood import recipe

    names = list(dict.fromkeys(distance or ["tfidf"]))
    for name in names:
        recipe(name)
    ks = list(dict.fromkeys(k or [90, 130, 180, 290]))
    if plot is not None:
        check_picture(plot)
        check_writable(plot)
    corpus = load(dataset)
    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Hopping", total=len(corpus.split(split)) * len(names) * len(ks))
        results = reachabilities(corpus, split, names, ks, lambda: bar.advance(task))
    if plot is not None:
        plot_reachability(
            {name: {reach.k: reach.fraction for reach in reaches} for name, reaches in results.items()},
            f"{corpus.name}, {split}",
            plot,
        )
    if as_json:
        print_json({"dataset": corpus.name, "split": split} | _as_json(results))
    else:
        _print(results, f"{corpus.name}, {split}")


def _as_json(results: "Results") -> dict[str, Any]:
    """The first distance's figures stand at the top as well: most commands ask for one."""
    distances = {
        name: {
            "reachability": {str(reach.k): reach.fraction for reach in reaches},
            "hops": {str(reach.k): reach.histogram for reach in reaches},
        }
        for name, reaches in results.items()
    }
    name, reaches = next(iter(results.items()))
    return {"questions": reaches[0].questions, "distance": name, **distances[name], "distances": distances}


def _print(results: "Results", title: str) -> None:
    from rich.markup import escape

    first = next(iter(results.values()))
    terminal = console()
    terminal.print(f"[bold]Mean fraction of gold reachable[/], {escape(title)}, {first[0].questions:,} questions\n")
    table = table_of("distance", *(f"k = {reach.k}" for reach in first))
    for name, reaches in results.items():
        table.add_row(escape(name), *(f"{reach.fraction:.4f}" for reach in reaches))
    terminal.print(table)
    terminal.print("\n[bold]Gold facts by hops from the question[/]\n")
    terminal.print(_hops(results))


def _hops(results: "Results") -> "Table":
    from rich.markup import escape

    longest = max(len(reach.hops) for reaches in results.values() for reach in reaches)
    table = table_of("distance", "k", *map(str, range(1, longest + 1)), "out of reach")
    for name, reaches in results.items():
        for reach in reaches:
            counts = [*reach.hops, *[0] * (longest - len(reach.hops)), reach.unreachable]
            table.add_row(escape(name), str(reach.k), *(f"{count:,}" for count in counts))
    return table
