"""Answering many items on many workers, in any order, whichever of them die on the way.

Ray decides where workers run, starts them and notices when they are gone; here is only who gets which items next. Items
travel in small chunks, so that little is lost with a worker, and what all workers need travels once to each node.
"""

import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Generic, Self, TypeVar

from arcf.cluster.connection import import_ray
from arcf.cluster.worker import Failure, Work, Worker
from arcf.errors import ArcfWarning, InputError, SettingError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

TRIES = 4
"""How often an item is asked in all, where workers die or fail over it."""

CHUNK = 8
"""Items that travel together at most; fewer where there are few for each worker."""

ROUNDS = 8
"""Chunks that each worker should get at least, so that none is left with much when the others are done."""

IDLE = 60.0
"""Seconds without any worker after which it is said what may be wrong."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many workers there are, and what Ray sets aside for each; None: as many as the cluster has room for now."""

    workers: int | None = None
    cpus: float = 1
    gpus: float = 0

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise SettingError(f"At least 1 worker is needed, not {self.workers}.")

    def count(self, resources: dict[str, float]) -> int:
        """How many workers there are, on a cluster with these resources; one at least, even if it must wait."""
        if self.workers is not None:
            return self.workers
        wanted = {"CPU": self.cpus, "GPU": self.gpus}
        room = [resources.get(name, 0) // share for name, share in wanted.items() if share]
        return max(1, int(min(room, default=1)))


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Items that travel together, and how often they did."""

    items: tuple[Any, ...]
    tries: int = 0

    def again(self) -> list["_Chunk"]:
        """One by one, so that an item that kills its worker takes no others with it."""
        return [_Chunk((item,), self.tries + 1) for item in self.items]


class Pool(Generic[Item, Answer]):
    """Workers that do one kind of work, as a context manager; the process is connected to a cluster."""

    def __init__(self, work: Work[Item, Answer], settings: PoolSettings | None = None) -> None:
        self._ray = import_ray()
        self._settings = settings or PoolSettings()
        self._work = self._ray.put(work)
        self.size = self._settings.count(self._ray.cluster_resources())
        self.lost = 0
        self._ready: set[Any] = set()
        # What is under way: the worker, and its chunk; None while it prepares.
        self._running: dict[Any, tuple[Any, _Chunk | None]] = {}

    @property
    def alive(self) -> int:
        """How many workers are ready, as far as is known; `size` is how many there should be, `lost` how many died."""
        return len(self._ready)

    def __enter__(self) -> Self:
        for _ in range(self.size):
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._ready | {worker for worker, _ in self._running.values()}:
            self._ray.kill(worker)
        self._ready.clear()
        self._running.clear()

    def answers(self, items: Sequence[Item]) -> Iterator[Answer]:
        """The answer to each item, as they come.

        Raises:
            InputError: the work cannot be prepared on a node, or an item fails wherever it is asked.
        """
        size = min(CHUNK, max(1, len(items) // (self.size * ROUNDS)))
        waiting = deque(_Chunk(tuple(items[start : start + size])) for start in range(0, len(items), size))
        idle = list(self._ready - {worker for worker, _ in self._running.values()})
        left = len(items)
        while left:
            while idle and waiting:
                self._ask(idle.pop(), waiting.popleft())
            worker, chunk, outcome = self._next()
            if isinstance(outcome, Failure):
                waiting.extendleft(self._again(chunk, outcome))
            if isinstance(outcome, Failure) and outcome.died:
                self._replace(worker)
            else:
                self._ready.add(worker)
                idle.append(worker)
            if isinstance(outcome, list):
                left -= len(outcome)
                yield from outcome

    def _start(self) -> None:
        settings = self._settings
        made = self._ray.remote(Worker).options(num_cpus=settings.cpus, num_gpus=settings.gpus, max_restarts=0)
        worker = made.remote(self._work)
        self._running[worker.prepare.remote(version("arcf"))] = worker, None

    def _ask(self, worker: Any, chunk: _Chunk) -> None:
        self._running[worker.answer.remote(chunk.items)] = worker, chunk

    def _replace(self, worker: Any) -> None:
        """Start another worker: Ray finds a place for it where there is room, now or later."""
        self.lost += 1
        self._ready.discard(worker)
        self._ray.kill(worker)
        self._start()

    def _next(self) -> tuple[Any, _Chunk | None, list[Answer] | Failure | None]:
        """A worker that has finished something, its chunk (None: it has prepared), and what came of it."""
        done: list[Any] = []
        while not done:
            done, _ = self._ray.wait(list(self._running), timeout=IDLE)
            if not done and not self._ready:
                warnings.warn(self._no_room(), ArcfWarning, stacklevel=2)
        worker, chunk = self._running.pop(done[0])
        try:
            return worker, chunk, self._ray.get(done[0])
        except self._ray.exceptions.RayError as error:
            # Its last line says most: before it come the ids of Ray's own things.
            reason = [line.strip() for line in str(error).splitlines() if line.strip()][-1:]
            return worker, chunk, Failure(f"A worker died ({''.join(reason)})", died=True)

    def _again(self, chunk: _Chunk | None, failure: Failure) -> list[_Chunk]:
        """What is to be asked once more, if that can help."""
        is_hopeless = chunk.tries + 1 >= TRIES if chunk else self.lost >= TRIES * self.size and not self._ready
        if failure.final or is_hopeless:
            often = "" if failure.final else f" Nothing else came of {TRIES} tries."
            raise InputError(failure.reason + often)
        return chunk.again() if chunk else []

    def _no_room(self) -> str:
        settings = self._settings
        return (
            f"No worker has begun for {IDLE:g} s: the cluster has no room for one ({settings.cpus:g} processors, "
            f"{settings.gpus:g} GPUs), or it has much to load."
        )
