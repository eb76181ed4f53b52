"""Ranking many questions: side by side, going on where a run was, into a file if wanted."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from arcf.files import check_writable
from arcf.pretrained.location import find_folder
from arcf.pretrained.threads import usable_threads
from arcf.rankers import Ranker, RankerSettings, build_ranker, find_kind
from arcf.rankers.screening import decided
from arcf.registry import pick
from arcf.runs.files import FORMATS, write_run
from arcf.runs.journal import Journal, fingerprint
from arcf.scorer import packaged_model
from arcf.scorer.exported.folder import is_exported
from arcf.types import Dataset, Question, Ranking

BEGUN = 2
"""How many questions a thread may be ahead."""


def rank_questions(
    ranker: Ranker,
    questions: Sequence[Question],
    top_k: int | None = None,
    journal: Journal | None = None,
    progress: Callable[[], None] = lambda: None,
    at_once: int = 1,
) -> Iterator[Ranking]:
    """The ranking of each question, in order.

    Args:
        ranker: what ranks; threads must be able to share it, if more than one question is ranked at once.
        questions: what is ranked for.
        top_k: how many facts of each ranking; all unless given.
        journal: where rankings are kept; those that it holds are not made again.
        progress: is called after each question.
        at_once: how many questions are ranked side by side, each in a thread; no ranking depends on it.

    Raises:
        InputError: the journal cannot be written, or is one of other settings.
    """
    with journal or nullcontext():
        is_kept = [journal is not None and question in journal for question in questions]
        missing = [question for question, kept in zip(questions, is_kept, strict=True) if not kept]
        with closing(_side_by_side(lambda question: ranker.rank(question).top(top_k), missing, at_once)) as fresh:
            for question, kept in zip(questions, is_kept, strict=True):
                ranking = journal.get(question) if journal and kept else next(fresh)
                if journal and not kept:
                    journal.add(ranking)
                progress()
                yield ranking


def _side_by_side(
    rank: Callable[[Question], Ranking], questions: Sequence[Question], at_once: int
) -> Generator[Ranking, None, None]:
    """The ranking of each question, in order; a few are begun ahead, so that no thread waits for a slow question."""
    if at_once == 1:
        yield from map(rank, questions)
        return
    pool = ThreadPoolExecutor(at_once, "arcf-rank")
    begun: deque[Future[Ranking]] = deque()
    try:
        for question in questions:
            begun.append(pool.submit(rank, question))
            if len(begun) > BEGUN * at_once:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)  # If nobody wants the rest: a file cannot be written, or the user has gone.


@dataclass(frozen=True, slots=True)
class RankingJob:
    """Everything that decides a run: the ranker's description, the questions and their facts, how many are kept."""

    ranker: RankerSettings
    dataset: Dataset
    questions: Sequence[Question]
    top_k: int | None = None

    def decided(self) -> "RankingJob":
        """The job with what the cache decides of it now; see `rankers.screening`."""
        return replace(self, ranker=decided(self.ranker, self.dataset))

    def journal(self, output: Path) -> Journal:
        """The journal of the run file that is being made: beside it, and keyed by all of this."""
        ranker = decided(self.ranker, self.dataset)
        decisive = {"arcf": version("arcf"), "ranker": ranker.identity(), "top_k": self.top_k}
        path = output.with_name(f"{output.name}.partial")
        return Journal(path, decisive | fingerprint(self.dataset, self.questions))


def threads_of(settings: RankerSettings) -> int:
    """How many threads a ranker may use, if they can rank a question each: if its models are exported, else 1.

    torch divides a single call among threads by itself, or has a GPU whose memory is for one question.
    """
    models = [settings.model or packaged_model(), *(model for _, model in settings.ensemble.split() if model)]
    folders = [find_folder(model) for model in models]
    if not all(folder is not None and is_exported(folder) for folder in folders):
        return 1
    return settings.threads or usable_threads()


def rank_to_file(
    job: RankingJob, output: Path, file_format: str = "textgraphs", progress: Callable[[], None] = lambda: None
) -> None:
    """Rank questions and write a run; `progress` is called after each question.

    A ranker with a model takes long: its rankings are kept in a journal beside the file until all are there. The
    threads of an exported model rank a question each: what only one can do for a question, such as reading its prefix,
    then leaves no other idle.

    Raises:
        UnknownNameError: there is no such ranker or format.
        InputError: a file cannot be written, or the journal is one of other settings.
    """
    pick(FORMATS, file_format, "run format")
    check_writable(output)
    job = job.decided()
    journal = job.journal(output) if find_kind(job.ranker).takes_long else None
    at_once = threads_of(job.ranker) if journal is not None else 1
    ranker = build_ranker(job.ranker if at_once == 1 else replace(job.ranker, threads=1), job.dataset)
    rankings = rank_questions(ranker, job.questions, job.top_k, journal, progress, at_once)
    if journal is not None:
        # All of them first: a kill on the way would leave a half-written file behind that nobody needs.
        for _ in rankings:
            pass
        rankings = rank_questions(ranker, job.questions, job.top_k, journal)
    write_run(output, job.dataset, rankings, file_format)
    if journal is not None:
        journal.remove()
