"""The line that tells how far loading a large corpus has come."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from arcf.cli.verbosity import CHOSEN
from arcf.progress import listening

PATIENCE = 1.0
"""Seconds of one kind of work before a line is worth showing."""
EVERY = 0.2
"""Seconds between two lines."""


class ProgressLine:
    """Shows one line on standard error that is written over and over, and wiped when the work is done."""

    def __init__(self) -> None:
        self._what = ""
        self._began = self._last = 0.0
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        """See `progress.Listener`."""
        now = perf_counter()
        if what != self._what:
            self._what, self._began = what, now
        if done >= total:
            self.wipe()
            self._what = ""
        elif now - self._began >= PATIENCE and now - self._last >= EVERY and not CHOSEN.quiet:
            self._last = now
            self._show(f"{what}: {done:,} of {total:,} ({done / total:.0%})")

    def wipe(self) -> None:
        """Leave an empty line."""
        if self._width:
            self._show("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<{self._width}}")
        sys.stderr.flush()
        self._width = len(text)


@contextmanager
def progress_line() -> Iterator[None]:
    """Show how far long work has come, if standard error is a terminal: a pipe or a log gets nothing, nor does -q."""
    if not sys.stderr.isatty():
        yield
        return
    line = ProgressLine()
    try:
        with listening(line):
            yield
    finally:
        line.wipe()
