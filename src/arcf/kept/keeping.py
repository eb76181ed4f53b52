"""Make something of a corpus once: from the cache if it is there, else made now and, where that took long, kept."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import perf_counter

from arcf.errors import ArcfWarning, InputError
from arcf.kept.arrays import Arrays, read_arrays, write_arrays
from arcf.kept.folder import keep_bounded, kept_path
from arcf.kept.head import About
from arcf.kept.turns import turn

WORTH_SECONDS = 0.05
"""What is made faster than this is not worth a file."""
WORTH_FACTS = 1000
"""Fewer are rather documents that a program has ranked for it, others every time, than a corpus: they are worth a file
only if `MISSED_SECONDS` says so."""
MISSED_SECONDS = 2.0
"""What takes longer than this is missed by whoever waits for it: that it could not be kept is worth a sentence."""


_keeps: ContextVar[bool] = ContextVar("keeps", default=True)


@contextmanager
def keeping_nothing() -> Iterator[None]:
    """Inside the block, nothing is kept of what is made: it is of texts that nobody will ask for again."""
    token = _keeps.set(False)
    try:
        yield
    finally:
        _keeps.reset(token)


def kept(kind: str, mark: str, about: About, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of a mark, which says all that they are made from; mapped into memory, if they could be kept.

    Of many processes that ask for those of a corpus at once, such as the workers of a node, one makes them. If it could
    not keep them, as on a full disk, the others make them side by side: in turns, the last would wait for all.
    """
    found = find(kind, mark)
    if found is not None:
        return found
    if not _keeps.get():
        return make()
    if about.facts < WORTH_FACTS:
        return _made(kind, mark, about, make, MISSED_SECONDS)
    path = kept_path(kind, mark)
    with turn(path) as waited:
        with suppress(InputError):  # It was told of already.
            found = read_arrays(path, mark)
        if found is None and not waited:
            return _made(kind, mark, about, make, WORTH_SECONDS)
    return _made(kind, mark, about, make, WORTH_SECONDS) if found is None else found


def _made(kind: str, mark: str, about: About, make: Callable[[], Arrays], least: float) -> Arrays:
    """Make arrays, and keep them if that took so many seconds at least."""
    start = perf_counter()
    made = make()
    seconds = perf_counter() - start
    return made if seconds < least else keep(kind, mark, about, made, seconds)


def find(kind: str, mark: str) -> Arrays | None:
    """The arrays of a mark, if they are in the cache. A file that is damaged costs a warning, and will be replaced."""
    try:
        return read_arrays(kept_path(kind, mark), mark)
    except InputError as error:
        warnings.warn(f"{error} It is made again now.", ArcfWarning, stacklevel=3)
        return None


def keep(kind: str, mark: str, about: About, made: Arrays, seconds: float) -> Arrays:
    """Keep what was made in so many seconds; gives it mapped into memory, so that what was made can be forgotten.

    A cache that cannot be written to costs a warning where the next command will have to wait as long again, and
    nothing else.
    """
    path = kept_path(kind, mark)
    try:
        write_arrays(path, mark, about, made)
        keep_bounded()
        return read_arrays(path, mark) or made
    except (InputError, OSError) as error:
        if seconds >= MISSED_SECONDS:
            reason = str(error) if isinstance(error, InputError) else f"{path}: {error.strerror or error}."
            message = f"What was made of the {about.facts:,} facts ({about.what}) is not kept for next time: {reason}"
            warnings.warn(message, ArcfWarning, stacklevel=3)
        return made
