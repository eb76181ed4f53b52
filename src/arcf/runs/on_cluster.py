"""Ranking many questions on a cluster, in any order."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arcf.files import check_writable
from arcf.rankers import build_ranker, find_kind
from arcf.rankers.on_cluster import OnCluster
from arcf.rankers.parcel import Parcel
from arcf.registry import pick
from arcf.runs.files import FORMATS, write_run
from arcf.runs.ranking import RankingJob
from arcf.types import Question, Ranking


@dataclass(frozen=True, slots=True, eq=False)
class RankingWork:
    """What a worker builds its ranker from, and how many facts of a ranking are wanted."""

    parcel: Parcel
    top_k: int | None

    def prepare(self) -> Callable[[Question], Ranking]:
        """A ranker on this machine."""
        ranker = build_ranker(*self.parcel.open())
        return lambda question: ranker.rank(question).top(self.top_k)


@dataclass(frozen=True, slots=True)
class ClusterProgress:
    """How far a run is, after each question: how many are ranked, and how many workers are ready, of how many."""

    ranked: int
    alive: int
    workers: int


def rank_on_cluster(
    job: RankingJob,
    cluster: OnCluster,
    output: Path,
    file_format: str = "textgraphs",
    report: Callable[[ClusterProgress], None] = lambda _: None,
) -> None:
    """Rank questions on a cluster and write a run: the one that `rank_to_file` writes.

    Rankings go into the same journal as there, whatever the ranker, as they come. So the driver may be killed as well
    as workers: what is ranked stays, and either command goes on.

    Raises:
        UnknownNameError: there is no such ranker or format.
        InputError: a file cannot be written, the journal is one of other settings, the cluster does not answer, or a
            question fails wherever it is asked.
        MissingExtraError: Ray is not installed.
    """
    pick(FORMATS, file_format, "run format")
    find_kind(job.ranker)
    check_writable(output)
    job = job.decided()
    with job.journal(output) as journal:
        left = [question for question in job.questions if question not in journal]
        if left:
            ranked = len(job.questions) - len(left)
            work = RankingWork(Parcel.of(job.ranker, job.dataset), job.top_k)
            with cluster.pool(job.ranker, work) as pool:
                for ranking in pool.answers(left):
                    journal.add(ranking)
                    ranked += 1
                    report(ClusterProgress(ranked, pool.alive, pool.size))
        write_run(output, job.dataset, map(journal.get, job.questions), file_format)
    journal.remove()
