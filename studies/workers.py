"""What a worker of a cluster holds in memory of its own: python studies/workers.py [--facts 100000 --workers 2].

Workers of one node rank a question over a made-up corpus, as `arcf rank --ray` lets them. Linux tells of each page
whether it is the process's own (written to: nobody else can have it), or may be shared: of a file that is mapped, or of
the object store. `--ranker tfidf` leaves out the model, which every worker has for itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from arcf.bench.corpus import make_corpus
from arcf.bench.memory import Held, held
from arcf.cluster import HERE, Pool, PoolSettings, connected
from arcf.rankers import RankerSettings, build_ranker
from arcf.rankers.parcel import Parcel
from arcf.types import Dataset, Question


@dataclass(frozen=True, eq=False)
class Weighing:
    """Ranks, and tells how much memory that takes."""

    parcel: Parcel

    def prepare(self) -> Callable[[Question], Held | None]:
        """Build the ranker as every worker does."""
        ranker = build_ranker(*self.parcel.open())

        def weigh(question: Question) -> Held | None:
            ranker.rank(question)
            return held()

        return weigh


def main(
    facts: Annotated[int, typer.Option(help="Size of the corpus.")] = 100_000,
    workers: Annotated[int, typer.Option(help="How many there are, all on this machine.")] = 2,
    ranker: Annotated[str, typer.Option(help="What they rank with.")] = "arcf",
) -> None:
    """Print a row for each worker."""
    made_up = make_corpus(facts, workers)
    settings = RankerSettings(ranker, threads=1) if ranker == "arcf" else RankerSettings(ranker)
    work = Weighing(Parcel.of(settings, Dataset("made-up", made_up.facts)))
    with connected(HERE), Pool(work, PoolSettings(workers, cpus=0)) as pool:
        while pool.alive < workers:
            list(pool.answers(made_up.questions))
        found = list(pool.answers(made_up.questions))
    table = Table("worker", "own MB", "shared MB", "mapped by it alone MB", box=None)
    for number, row in enumerate(filter(None, found), 1):
        table.add_row(f"{number}", f"{row.own / 1e6:.0f}", f"{row.shared / 1e6:.0f}", f"{row.mapped / 1e6:.0f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
