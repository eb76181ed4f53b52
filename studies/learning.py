"""The learning curves of training runs: python studies/learning.py runs/a runs/b --plot curves.png."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from arcf.evaluation.plots import plot_learning

POINTS = 60
PREFIX = "validation_map_"


def curves(run: Path) -> dict[str, dict[int, float]]:
    """A run's loss, as means of as many steps each as make 60 points, and what each validation found, by its name."""
    records = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = [record for record in records if "loss" in record]
    parts = np.array_split(np.arange(len(steps)), min(POINTS, len(steps)))
    lines = {
        "loss": {steps[part[-1]]["position"]: float(np.mean([steps[step]["loss"] for step in part])) for part in parts}
    }
    for record in records:
        for name, value in record.items():
            if name.startswith(PREFIX):
                lines.setdefault(name.removeprefix(PREFIX), {})[record["position"]] = value
    # A corpus in which no two explanations share a fact has unseen facts alone.
    twice = {
        name for name in lines if name.endswith("_unseen") and lines[name] == lines.get(name.removesuffix("_unseen"))
    }
    own = {name: line for name, line in lines.items() if name not in twice}
    return {name if name == "loss" else f"held-out MAP, {name}": line for name, line in own.items()}


def main(
    runs: Annotated[list[Path], typer.Argument(help="Folders of `arcf train`.")],
    plot: Annotated[Path, typer.Option(help="The picture to draw.")] = Path("learning.png"),
) -> None:
    """Draw the loss and every held-out MAP over the prefixes that were seen."""
    plot_learning({run.name: curves(run) for run in runs}, plot)


if __name__ == "__main__":
    typer.run(main)
