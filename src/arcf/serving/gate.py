"""The bounded queue in front of the model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil
from time import perf_counter

from arcf.serving.problems import ProblemError

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


class Gate:
    """Lets `workers` searches run at once and `waiting` more stand in line. For one event loop, no threads."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers = workers
        self.places = workers + waiting
        self.inside = 0
        self._free = asyncio.Semaphore(workers)
        self._mean = 1.0

    @property
    def running(self) -> int:
        """How many searches run now."""
        return min(self.inside, self.workers)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the length of the block.

        Raises:
            BusyError: at once, if the line is full.
        """
        if self.inside >= self.places:
            raise BusyError(max(1, ceil(self._mean * self.inside / self.workers)))
        self.inside += 1
        try:
            async with self._free:
                begun = perf_counter()
                yield
                self._mean += WEIGHT * (perf_counter() - begun - self._mean)
        finally:
            self.inside -= 1
