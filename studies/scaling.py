"""How far ranking on a cluster scales: python studies/scaling.py [--plot docs/scaling.png].

Workers that sleep as long as a real model computes, and so need no processor: on any machine there can be many of them.
What is left is what the cluster itself costs: the driver's work for each question, the way to a worker and back, and
idle workers at the end. All workers are ready before the time is taken.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from arcf.bench.memory import peak_bytes
from arcf.cluster import HERE, Pool, PoolSettings, connected
from arcf.runs.journal import Journal
from arcf.types import Ranking

WORKERS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 16
"""Questions for each worker."""


@dataclass(frozen=True)
class Sleeping:
    """Ranks in as much time as it is told, always the same facts."""

    seconds: float
    facts: int

    def prepare(self) -> Callable[[int], Ranking]:
        """There is nothing to load."""

        def rank(number: int) -> Ranking:
            sleep(self.seconds)
            return Ranking(str(number), np.arange(self.facts), np.linspace(1, 0, self.facts))

        return rank


@dataclass(frozen=True)
class Measured:
    """What so many workers took.

    `overhead` and `driver` are seconds a question, of a worker and of the driver; `megabytes` is the most memory that
    the driver held, `kilobytes` what the journal has of a question.
    """

    workers: int
    questions: int
    seconds: float
    efficiency: float
    overhead: float
    driver: float
    megabytes: float
    kilobytes: float


def measure(workers: int, work: Sleeping, folder: Path) -> Measured:
    """Rank with so many workers, into a journal."""
    questions = workers * ROUNDS
    with (
        Pool(work, PoolSettings(workers, cpus=0)) as pool,
        Journal(folder / f"{workers}", {"workers": workers}) as journal,
    ):
        while pool.alive < workers:
            for _ in pool.answers(range(workers)):
                pass
        begun, worked = perf_counter(), process_time()
        for ranking in pool.answers(range(questions)):
            journal.add(ranking)
        taken, worked = perf_counter() - begun, process_time() - worked
    ideal = ROUNDS * work.seconds
    return Measured(
        workers,
        questions,
        taken,
        ideal / taken,
        (taken - ideal) / ROUNDS,
        worked / questions,
        (peak_bytes() or 0) / 1e6,
        journal.path.stat().st_size / questions / 1e3,
    )


def show(found: list[Measured]) -> None:
    """The table."""
    table = Table(
        "workers", "questions", "seconds", "efficiency", "overhead ms", "driver ms", "driver MB", "journal KB", box=None
    )
    for row in found:
        table.add_row(
            f"{row.workers}",
            f"{row.questions}",
            f"{row.seconds:.1f}",
            f"{row.efficiency:.1%}",
            f"{1000 * row.overhead:.0f}",
            f"{1000 * row.driver:.2f}",
            f"{row.megabytes:.0f}",
            f"{row.kilobytes:.1f}",
        )
    Console(width=100).print(table)


def draw(found: list[Measured], path: Path) -> None:
    """Questions a second, and the driver's time for each, by workers."""
    from matplotlib import pyplot

    figure, (speed, cost) = pyplot.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    workers = [row.workers for row in found]
    speed.plot(workers, [row.questions / row.seconds for row in found], marker="o", label="measured")
    ideal = [row.questions / (row.seconds * row.efficiency) for row in found]
    speed.plot(workers, ideal, linestyle="--", color="grey", label="no overhead")
    speed.set(xscale="log", yscale="log", xlabel="workers", ylabel="questions a second")
    speed.legend(frameon=False)
    cost.plot(workers, [1000 * row.overhead for row in found], marker="o", label="of a worker")
    cost.plot(workers, [1000 * row.driver for row in found], marker="s", label="of the driver")
    cost.set(xscale="log", yscale="log", xlabel="workers", ylabel="ms a question beside ranking")
    cost.legend(frameon=False)
    for axes in (speed, cost):
        axes.set_xticks(workers, [str(count) for count in workers])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main(
    seconds: Annotated[float, typer.Option(help="That a question takes.")] = 1.0,
    facts: Annotated[int, typer.Option(help="That travel back with each ranking.")] = 1_000,
    least: Annotated[int, typer.Option(help="Workers at least.")] = WORKERS[0],
    most: Annotated[int, typer.Option(help="Workers at most.")] = WORKERS[-1],
    plot: Annotated[Path | None, typer.Option(help="Where the picture is drawn.")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="Where the figures are written.")] = None,
) -> None:
    """Measure 1 to 64 workers."""
    with TemporaryDirectory() as folder, connected(HERE):
        work, counts = Sleeping(seconds, facts), [count for count in WORKERS if least <= count <= most]
        found = [measure(workers, work, Path(folder)) for workers in counts]
    show(found)
    if as_json:
        as_json.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")
    if plot:
        draw(found, plot)


if __name__ == "__main__":
    typer.run(main)
