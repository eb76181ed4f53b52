"""What fast search costs in MAP, and what it saves in time: python studies/rescoring.py RUNS --dataset NAME.

RUNS is a folder with runs of a whole split: `exact.txt`, and `M.txt` for numbers M of old facts that are scored again.

    arcf rank --dataset worldtree-2020 --split dev --ranker arcf --exact --output runs/exact.txt
    arcf rank --dataset worldtree-2020 --split dev --ranker arcf --set rescored=16 --output runs/16.txt
    ...

The times are those of some of the split's questions, which are explained with every setting in turns.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from arcf.chain import ChainSearch, ChainSettings
from arcf.data import load as load_dataset
from arcf.evaluation import Comparison, compare
from arcf.evaluation.plots import plot_trade_off
from arcf.explainer import load
from arcf.runs.files import read_runs
from arcf.types import Question

EXACT = "exact"


def seconds_a_question(searches: Mapping[str, ChainSearch], questions: Sequence[Question]) -> dict[str, float]:
    """The mean time of each search."""
    times: dict[str, list[float]] = {name: [] for name in searches}
    for question in track(questions, "Explaining"):
        for name, search in searches.items():
            start = perf_counter()
            search.find(question)
            times[name].append(perf_counter() - start)
    return {name: float(np.mean(taken)) for name, taken in times.items()}


def report(comparison: Comparison, seconds: Mapping[str, float], plot: Path | None) -> None:
    """The table, and the picture."""
    table = Table("m", "MAP", "official MAP", "more than exact", "s / question", title=comparison.split)
    for name, run in zip(seconds, comparison.runs, strict=True):
        change = run.difference
        gain = "" if change is None else f"{change.map:+.4f} [{change.interval.low:+.4f}, {change.interval.high:+.4f}]"
        official = "-" if run.map_official is None else f"{run.map_official:.4f}"
        table.add_row(name, f"{run.map_all:.4f}", official, gain, f"{seconds[name]:.2f}")
    Console().print(table)
    if plot is not None:
        points = {name: (seconds[name], run.map_all) for name, run in zip(seconds, comparison.runs, strict=True)}
        exact = points.pop(EXACT)
        plot_trade_off({int(name): point for name, point in points.items()}, exact, plot)


def main(
    runs: Annotated[Path, typer.Argument(help="The folder of the runs.")],
    model: Annotated[str | None, typer.Option(help="Folder of their model [default: the packaged one].")] = None,
    dataset: Annotated[str, typer.Option(help="A dataset with gold facts.")] = "science",
    split: Annotated[str, typer.Option(help="The split of the runs.")] = "dev",
    questions: Annotated[int, typer.Option(min=1, help="How many questions are timed, from all over the split.")] = 20,
    plot: Annotated[Path | None, typer.Option(help="Draw into this picture.")] = None,
) -> None:
    """Compare exact with fast search."""
    names = [EXACT, *sorted((path.stem for path in runs.glob("*.txt") if path.stem.isdecimal()), key=int)]
    corpus = load_dataset(dataset)
    comparison = compare(read_runs([runs / f"{name}.txt" for name in names]), corpus, split)
    usual = load(model, corpus).ranker.search
    settings = {name: ChainSettings(rescored=None if name == EXACT else int(name)) for name in names}
    searches = {name: ChainSearch(usual.scorer, usual.neighborhood, wanted) for name, wanted in settings.items()}
    asked = corpus.split(split)
    timed = asked[:: max(1, len(asked) // questions)][:questions]
    report(comparison, seconds_a_question(searches, timed), plot)


if __name__ == "__main__":
    typer.run(main)
