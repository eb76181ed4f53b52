"""How far long work has come, told to whoever listens: the command line shows it, a program hears nothing.

Corpora are read, counted and tokenised several layers below the commands. What listens is set for a context
(`contextvars`), as warnings are caught, instead of being handed down through every signature on the way.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Is told what is done, how many items of it are, and how many there are."""

STEP = 1024
"""Items between two reports: asking for the time of each would cost more than some of them do."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let `listener` hear of the work that is done inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(what: str, done: int, total: int) -> None:
    """Tell whoever listens how far work has come."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def tracked(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    """The items one by one, reported now and then, and once more when the last one is done."""
    for place, item in enumerate(items):
        if place % STEP == 0:
            report(what, place, total)
        yield item
    report(what, total, total)
