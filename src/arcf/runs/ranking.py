"""Ranking many questions: one after the other, going on where a run was, into a file if wanted."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from arcf.files import check_writable
from arcf.rankers import Ranker, RankerSettings, build_ranker, find_kind
from arcf.registry import pick
from arcf.runs.files import FORMATS, write_run
from arcf.runs.journal import Journal, fingerprint
from arcf.types import Dataset, Question, Ranking


def rank_questions(
    ranker: Ranker,
    questions: Sequence[Question],
    top_k: int | None = None,
    journal: Journal | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Ranking]:
    """The ranking of each question, in order.

    Args:
        ranker: what ranks.
        questions: what is ranked for.
        top_k: how many facts of each ranking; all unless given.
        journal: where rankings are kept; those that it holds are not made again.
        progress: is called after each question.

    Raises:
        InputError: the journal cannot be written, or is one of other settings.
    """
    with journal or nullcontext():
        for question in questions:
            ranking = journal.get(question) if journal else None
            if ranking is None:
                ranking = ranker.rank(question).top(top_k)
                if journal:
                    journal.add(ranking)
            progress()
            yield ranking


@dataclass(frozen=True, slots=True)
class RankingJob:
    """Everything that decides a run: the ranker's description, the questions and their facts, how many are kept."""

    ranker: RankerSettings
    dataset: Dataset
    questions: Sequence[Question]
    top_k: int | None = None

    def journal(self, output: Path) -> Journal:
        """The journal of the run file that is being made: beside it, and keyed by all of this."""
        decisive = {"arcf": version("arcf"), "ranker": self.ranker.identity(), "top_k": self.top_k}
        path = output.with_name(f"{output.name}.partial")
        return Journal(path, decisive | fingerprint(self.dataset, self.questions))


def rank_to_file(
    job: RankingJob, output: Path, file_format: str = "textgraphs", progress: Callable[[], None] = lambda: None
) -> None:
    """Rank questions and write a run; `progress` is called after each question.

    A ranker with a model takes long: its rankings are kept in a journal beside the file until all are there.

    Raises:
        UnknownNameError: there is no such ranker or format.
        InputError: a file cannot be written, or the journal is one of other settings.
    """
    pick(FORMATS, file_format, "run format")
    check_writable(output)
    journal = job.journal(output) if find_kind(job.ranker).takes_long else None
    ranker = build_ranker(job.ranker, job.dataset)
    rankings = rank_questions(ranker, job.questions, job.top_k, journal, progress)
    if journal is not None:
        # All of them first: a kill on the way would leave a half-written file behind that nobody needs.
        for _ in rankings:
            pass
        rankings = rank_questions(ranker, job.questions, job.top_k, journal)
    write_run(output, job.dataset, rankings, file_format)
    if journal is not None:
        journal.remove()
