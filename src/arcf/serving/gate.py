"""The bounded queue in front of the model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from time import perf_counter
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from arcf.serving.problems import ProblemError

Answer = TypeVar("Answer")

WEIGHT = 0.2
"""Of the newest search in the running mean of how long one takes."""


class BusyError(ProblemError):
    """The queue is full; it should have moved on after so many seconds.

    The connection is closed: were it kept, it would time out about when the client comes back, and a request sent at
    that moment is lost.
    """

    def __init__(self, seconds: int) -> None:
        headers = {"Retry-After": str(seconds), "Connection": "close"}
        super().__init__(503, f"The server is busy; try again in {seconds} s.", headers)


class LateError(ProblemError):
    """The time of a request ended while it stood in line: nothing was searched for."""

    def __init__(self, waited: float, seconds: int) -> None:
        detail = f"The request waited in line for {waited:g} s, all of its time; try again in {seconds} s."
        super().__init__(504, detail, {"Retry-After": str(seconds)})


class Gate:
    """Lets `workers` searches run at once and `waiting` more stand in line. For one event loop, no threads.

    `full` and `late` count whom it has sent away: for want of a place, and for want of time.
    """

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers = workers
        self.places = workers + waiting
        self.inside = 0
        self.full = 0
        self.late = 0
        self._free = asyncio.Semaphore(workers)
        self._threads = anyio.CapacityLimiter(workers)
        self._mean = 1.0

    @property
    def running(self) -> int:
        """How many searches run now."""
        return min(self.inside, self.workers)

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return self.inside - self.running

    @property
    def is_full(self) -> bool:
        """Whether the next one would be sent away."""
        return self.inside >= self.places

    @property
    def moves_on(self) -> int:
        """In about how many seconds all that are here now will have had their turn; at least 1."""
        return max(1, ceil(self._mean * self.inside / self.workers))

    async def thread(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """Do the work of somebody who has a turn in a thread.

        There is one for every turn. Those that the whole process shares are 40: searches would wait for each other
        beyond that, and whoever needs no turn behind them.
        """
        return await to_thread.run_sync(work, *given, limiter=self._threads)

    @asynccontextmanager
    async def turn(self, seconds: float) -> AsyncIterator[None]:
        """Wait for a turn and have it for the length of the block, both within so many seconds.

        Raises:
            BusyError: at once, if the line is full.
            LateError: the time was over before the turn came.
            TimeoutError: it was over before the block was.
        """
        begun = False
        try:
            with anyio.fail_after(seconds):
                async with self.slot():
                    begun = True
                    yield
        except TimeoutError as error:
            if begun:
                raise
            self.late += 1
            raise LateError(seconds, self.moves_on) from error

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the length of the block.

        Raises:
            BusyError: at once, if the line is full.
        """
        if self.is_full:
            self.full += 1
            raise BusyError(self.moves_on)
        self.inside += 1
        try:
            async with self._free:
                begun = perf_counter()
                try:
                    yield
                finally:
                    self._mean += WEIGHT * (perf_counter() - begun - self._mean)
        finally:
            self.inside -= 1
