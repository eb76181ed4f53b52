"""What reading facts ahead costs in MAP, and what it saves: python studies/read_ahead.py runs/late-3 runs/late-4 ...

Each run is one of `arcf train`, with the same samples and another number of layers that are read ahead:

    arcf train --preset minilm --set model.encoding=late --set model.read_ahead=3 --output runs/late-3 ...
    arcf train --preset minilm --output runs/shared ...

The first run is what the others are compared with. Their models are exported in int8, and explain the same questions in
turns with chains of nine facts, all facts read ahead; the first question is not counted.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from arcf.bench.explain import SCREENED
from arcf.bench.turns import seconds_in_turns
from arcf.chain import ChainSearch
from arcf.data import load as load_dataset
from arcf.data.sample import sampled
from arcf.evaluation.plots import plot_trade_off
from arcf.explainer import load
from arcf.scorer import Prefix
from arcf.scorer.export import write_export
from arcf.scorer.network.backbone import load_backbone
from arcf.types import Dataset

UNSEEN = "_unseen"


@dataclass(frozen=True, slots=True)
class Validated:
    """What a run's log says at its end: MAP of held-out questions, and that of gold facts which training never saw."""

    map: float
    unseen: float

    @classmethod
    def of(cls, run: Path) -> "Validated":
        """Read the last validation of the log."""
        lines = (run / "log.jsonl").read_text(encoding="utf-8").splitlines()
        last = [record for record in map(json.loads, lines) if "validation_map" in record][-1]
        unseen = [value for name, value in last.items() if name.endswith(UNSEEN)]
        return cls(last["validation_map"], float(np.mean(unseen)))


def search_of(run: Path, corpus: Dataset, folder: Path) -> ChainSearch:
    """Chains of nine facts by a run's model in int8; all facts have been read."""
    write_export(load_backbone(str(run / "model")), folder, "int8", run.name)
    search = load(folder, corpus, SCREENED).ranker.search
    search.scorer.score(Prefix(""), np.arange(len(corpus.facts)))
    return search


def report(validated: Mapping[str, Validated], seconds: Mapping[str, float]) -> None:
    """The table."""
    first = next(iter(validated.values()))
    table = Table("run", "held-out MAP", "more than the first", "unseen facts", "s / question")
    for name, found in validated.items():
        gain = f"{found.map - first.map:+.4f}"
        table.add_row(name, f"{found.map:.4f}", gain, f"{found.unseen:.4f}", f"{seconds[name]:.3f}")
    Console().print(table)


def main(
    runs: Annotated[list[Path], typer.Argument(help="Folders of `arcf train`; the first is compared with.")],
    dataset: Annotated[str, typer.Option(help="Where questions are asked.")] = "worldtree-2020",
    split: Annotated[str, typer.Option(help="Where they are drawn from.")] = "dev",
    questions: Annotated[int, typer.Option(min=2, help="How many are timed.")] = 10,
    plot: Annotated[Path | None, typer.Option(help="Draw into this picture.")] = None,
) -> None:
    """Compare numbers of layers that are read ahead."""
    corpus = load_dataset(dataset)
    with TemporaryDirectory(prefix="arcf-study-") as temporary:
        ways = {run.name: search_of(run, corpus, Path(temporary) / run.name).find for run in runs}
        asked = sampled(corpus, split, questions).split(split)
        seconds = seconds_in_turns(ways, asked)
    validated = {run.name: Validated.of(run) for run in runs}
    report(validated, seconds)
    if plot is not None:
        plot_trade_off({name: (seconds[name], found.map) for name, found in validated.items()}, runs[0].name, plot)


if __name__ == "__main__":
    typer.run(main)
