"""What it costs to keep what was read ahead in fewer bits: python studies/kept.py MODEL --dataset NAME.

MODEL has torch weights, of any encoding; they are run with `--read-ahead` layers read ahead. Scores are compared with
those of states that are computed anew every time, in single precision.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from arcf.data import load
from arcf.scorer.network.backbone import load_backbone
from arcf.scorer.network.scorer import TorchScorer, make_model
from arcf.scorer.parity import compare


def eight_bits(read: Callable[[NDArray[np.int64]], NDArray[Any]]) -> Callable[[NDArray[np.int64]], NDArray[Any]]:
    """A reader whose states are rounded to 8 bits, with a scale for every token."""

    def rounded(facts: NDArray[np.int64]) -> NDArray[Any]:
        states = read(facts)
        scales = np.abs(states).max(axis=1, keepdims=True) / 127
        restored: NDArray[Any] = np.rint(states / scales) * scales
        return restored

    return rounded


def main(
    model: str,
    dataset: str = "worldtree-2020",
    read_ahead: Annotated[int, typer.Option(help="Layers that are read ahead.")] = 3,
    questions: Annotated[int, typer.Option(help="How many of the dev split's questions.")] = 42,
) -> None:
    """Compare scores of states kept in half precision, and in 8 bits, with those of states that are not kept."""
    data = load(dataset)
    backbone = load_backbone(model)
    backbone = backbone.with_settings(replace(backbone.settings, encoding="late", read_ahead=read_ahead))
    facts = backbone.tokenizer.facts([fact.text for fact in data.facts])
    anew, half, eight = (TorchScorer(make_model(backbone, "late").eval(), facts) for _ in range(3))
    anew.kept = None
    assert eight.kept is not None
    eight.kept.reader = replace(eight.kept.reader, read=eight_bits(eight.kept.reader.read))
    asked = data.split("dev")[:: max(1, len(data.split("dev")) // questions)][:questions]
    numbers = facts.candidates.lengths[:-1].mean() * backbone.head.in_features
    table = Table("kept", "KB / fact", "largest", "mean", "spread", "rank correlation", "same best")
    for name, scorer, size in (("float16", half, 2.0), ("int8", eight, 1 + 4 / backbone.head.in_features)):
        found = compare(anew, scorer, data, asked)
        cells = (found.largest, found.mean, found.spread, found.rank_correlation, found.same_best)
        table.add_row(name, f"{numbers * size / 1000:.1f}", *(f"{cell:.5f}" for cell in cells))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
