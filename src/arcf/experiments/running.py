"""Doing jobs: in order, what is needed first, none twice, several at once if wanted."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread
from time import perf_counter

from arcf.errors import ArcfWarning, InputError
from arcf.experiments.budget import Speed
from arcf.experiments.pace import Pace
from arcf.experiments.place import Job, Place, key_of, needs
from arcf.files import make_folder

GO_ON = "give the same command again: what is finished stays"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the jobs are: `state` is begun, done or known (it was done before).

    The job takes about `seconds`, and all that are left take about `left` seconds.
    """

    job: Job
    state: str
    done: int
    total: int
    seconds: float
    left: float


def in_order(jobs: Iterable[Job]) -> tuple[Job, ...]:
    """The jobs and all that they need, each once and after what it needs; what must run alone comes last."""
    found: dict[str, Job] = {}

    def visit(job: Job) -> None:
        for need in needs(job):
            visit(need)
        found.setdefault(key_of(job), job)

    for job in jobs:
        visit(job)
    return tuple(sorted(found.values(), key=lambda job: job.alone))


def due(jobs: Sequence[Job], place: Place) -> tuple[Job, ...]:
    """Those that are to be done: not finished, or needed for one that is to be done while what they made is gone."""
    found: dict[str, Job] = {}
    needed: set[str] = set()
    for job in reversed(jobs):
        key, product = key_of(job), job.product(place)
        is_gone = product is not None and not product.exists()
        if place.result(job) is None or (key in needed and is_gone):
            found[key] = job
            needed.update(key_of(need) for need in needs(job))
    return tuple(reversed(found.values()))


def run_jobs(
    jobs: Sequence[Job],
    place: Place,
    speed: Speed,
    processes: int = 1,
    report: Callable[[Progress], None] = lambda _: None,
    executor: Executor | None = None,
) -> None:
    """Do those of the jobs, in that order, that are not done yet: so many at once, or those that an executor takes.

    Raises:
        ArcfError: a job failed, the disk is full, or a process was killed; what is finished stays.
    """
    unfinished = due(jobs, place)
    left = {key_of(job): job for job in unfinished}
    total, pace = len(jobs), Pace.of(jobs, place, speed)

    def tell(job: Job, state: str) -> None:
        if state == "done":
            del left[key_of(job)]
            pace.learn(job, place)
        seconds = sum(pace.seconds(other) for other in left.values()) / processes
        report(Progress(job, state, total - len(left), total, pace.seconds(job), seconds))

    for job in jobs:
        if key_of(job) not in left:
            tell(job, "known")
    together = [job for job in unfinished if not job.alone] if processes > 1 or executor else []
    if together:
        with executor or worker_processes(processes) as pool:
            _run_together(together, place, pool, processes, tell)
    for job in unfinished:
        if job not in together:
            tell(job, "begun")
            run_job(job, place)
            tell(job, "done")


def run_job(job: Job, place: Place) -> None:
    """Do one job and keep its result."""
    started = perf_counter()
    with _plain_failures(place):
        make_folder(place.of(job))
        result = job.run(place)
        place.keep(job, result, perf_counter() - started)


def worker_processes(count: int) -> ProcessPoolExecutor:
    """Processes that end when this one does, even if it is killed: they would work on beside those that go on later."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin_process)


def _begin_process() -> None:
    # The parent has read the same datasets to know their content, and said what is odd about them.
    warnings.filterwarnings("ignore", category=ArcfWarning, module=r"arcf\.data\.")
    _end_with_parent()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)  # Files are written whole or not at all, so any moment will do.

    Thread(target=end, daemon=True).start()


def _run_together(
    jobs: Sequence[Job], place: Place, pool: Executor, processes: int, tell: Callable[[Job, str], None]
) -> None:
    waiting, running = list(jobs), dict[Future[None], Job]()
    try:
        while waiting or running:
            unfinished = {key_of(job) for job in (*waiting, *running.values())}
            ready = [job for job in waiting if not unfinished & {key_of(need) for need in needs(job)}]
            for job in ready[: processes - len(running)]:
                waiting.remove(job)
                running[pool.submit(run_job, job, place)] = job
                tell(job, "begun")
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                future.result()
                _check_shared(job, place)
                tell(job, "done")
    except BrokenProcessPool as error:
        raise InputError(f"A process that did a job was killed; {GO_ON}.") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _check_shared(job: Job, place: Place) -> None:
    """A job that is done elsewhere is no use if its result stays there."""
    if place.result(job) is None:
        raise InputError("is not shared by all machines that do jobs; choose a folder that is.", place.folder)


@contextmanager
def _plain_failures(place: Place) -> Iterator[None]:
    """A full disk, or another fault of the system, as one sentence."""
    try:
        yield
    except OSError as error:
        where = error.filename or place.folder
        raise InputError(f"{error.strerror or error}; see to that, and {GO_ON}.", where) from error
