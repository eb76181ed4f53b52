"""What fast search costs in MAP: python benchmarks/rescoring.py --model DIR --dataset worldtree-2020 --questions 100.

Every question is explained exactly and with several numbers m of old facts that are scored again, in turns; and once
more with the default m, where facts that are not chosen are ranked by their last score instead of their mean. The table
and the picture show MAP and seconds. Each question's results go to a journal as they come, so the same command
goes on after an interruption.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from arcf.chain import ChainSettings
from arcf.data import load as load_dataset
from arcf.evaluation.measures import average_precision
from arcf.evaluation.plots import plot_trade_off
from arcf.explainer import load
from arcf.rankers import Autoregressive
from arcf.types import Dataset, Question

EXACT, LAST = "exact", "last score"
Row = dict[str, dict[str, float]]
"""By m: the average precision and the seconds of one question."""


def measure(rankers: Mapping[str, Autoregressive], dataset: Dataset, question: Question) -> Row:
    """One question with every m."""
    row = {}
    gold = dataset.gold_ids(question)
    for name, ranker in rankers.items():
        start = perf_counter()
        ranking = ranker.rank(question)
        seconds = perf_counter() - start
        ranks = np.flatnonzero(np.isin(ranking.facts, gold)) + 1
        row[name] = {"ap": average_precision(ranks.tolist(), len(gold)), "seconds": seconds}
    return row


def read_journal(path: Path) -> dict[str, Row]:
    """What an earlier call has measured, by question id; a last line that was cut off is measured again."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[record["id"]] = record["results"]
    return rows


def report(rows: Sequence[Row], plot: Path | None) -> None:
    """The table, and the picture."""
    names = list(rows[0])
    precision = {name: float(np.mean([row[name]["ap"] for row in rows])) for name in names}
    seconds = {name: float(np.mean([row[name]["seconds"] for row in rows])) for name in names}
    table = Table("m", "MAP", "less than exact", "s / question", title=f"{len(rows)} questions")
    for name in names:
        lost = precision[EXACT] - precision[name]
        table.add_row(name, f"{precision[name]:.4f}", f"{lost:+.4f}", f"{seconds[name]:.2f}")
    Console().print(table)
    if plot is not None:
        points = {int(name): (seconds[name], precision[name]) for name in names if name.isdecimal()}
        plot_trade_off(points, (seconds[EXACT], precision[EXACT]), plot)


def main(
    model: Annotated[str | None, typer.Option(help="Folder of a model [default: the packaged one].")] = None,
    dataset: Annotated[str, typer.Option(help="A dataset with gold facts.")] = "science",
    split: Annotated[str, typer.Option(help="The split that questions are taken from, evenly.")] = "dev",
    questions: Annotated[int, typer.Option(min=1)] = 50,
    rescored: Annotated[list[int], typer.Option(help="Values of m.")] = [16, 32, 64, 96, 128, 192],  # noqa: B006
    journal: Annotated[Path, typer.Option(help="Where each question's results are kept.")] = Path("rescoring.jsonl"),
    plot: Annotated[Path | None, typer.Option(help="Draw into this picture.")] = None,
) -> None:
    """Compare exact with fast search."""
    corpus = load_dataset(dataset)
    search = load(model, corpus).ranker.search
    usual = ChainSettings()
    settings = {
        EXACT: replace(usual, rescored=None),
        **{str(m): replace(usual, rescored=m) for m in rescored},
        LAST: replace(usual, averaged=False),
    }
    rankers = {name: Autoregressive(search.scorer, search.neighborhood, wanted) for name, wanted in settings.items()}
    asked = [question for question in corpus.split(split) if corpus.gold_ids(question)]
    chosen = asked[:: max(1, len(asked) // questions)][:questions]
    rows = read_journal(journal)
    with journal.open("a", encoding="utf-8") as file:
        for question in track([question for question in chosen if question.id not in rows], "Explaining"):
            rows[question.id] = measure(rankers, corpus, question)
            file.write(json.dumps({"id": question.id, "results": rows[question.id]}) + "\n")
            file.flush()
    report([rows[question.id] for question in chosen], plot)


if __name__ == "__main__":
    typer.run(main)
