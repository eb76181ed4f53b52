"""What readers find odd in their input: a warning for the user, kept with a corpus that is read only once.

Whoever reads on behalf of others hears it first. It is heard in a context (`contextvars`), as progress is: what
`warnings.catch_warnings` would catch is the whole process's, other threads' warnings included.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from arcf.errors import ArcfWarning

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[str]]:
    """What is remarked inside the block, instead of warnings: whoever hears it gives them."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def remark(message: str) -> None:
    """Say that something in the input is odd, and by which rule reading went on."""
    heard = _heard.get()
    if heard is None:
        warnings.warn(message, ArcfWarning, stacklevel=3)
    else:
        heard.append(message)
