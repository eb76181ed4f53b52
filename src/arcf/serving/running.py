"""Running a search in a worker thread, one step at a time, for as long as somebody waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

import anyio
from starlette.types import Receive

from arcf.explanation import Explanation
from arcf.serving.gate import Gate
from arcf.serving.search import Search
from arcf.types import Step

Answer = TypeVar("Answer")


class GoneError(Exception):
    """The client has left; nobody reads the answer."""


async def run(search: Search, gate: Gate, on_step: Callable[[Step], Awaitable[None]] | None = None) -> Explanation:
    """Search while having a turn, and tell of each step as it is found.

    A thread cannot be stopped, but each step is a call of its own: a search that is cancelled ends after the step that
    it is in, and keeps its slot until then.
    """
    steps = search.steps()
    try:
        while True:
            found = await gate.thread(advance, steps)
            if isinstance(found, Explanation):
                return found
            if on_step is not None:
                await on_step(found)
    finally:
        steps.close()


async def while_connected(receive: Receive, work: Callable[[], Awaitable[Answer]]) -> Answer:
    """Do the work, and give it up when the client leaves.

    Raises:
        GoneError: it has left.
    """
    with anyio.CancelScope() as scope:
        watch = asyncio.create_task(_watch(receive, scope))
        try:
            return await work()
        finally:
            watch.cancel()
    raise GoneError


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def advance(steps: Generator[Step, None, Explanation]) -> Step | Explanation:
    """The next step, or what the generator returns after the last one."""
    try:
        return next(steps)
    except StopIteration as end:
        explanation: Explanation = end.value
        return explanation
