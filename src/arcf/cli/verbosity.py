"""How much a command says besides its result: nothing (-q), notes and progress, or what it loads as well (-v).

What is loaded comes from the library, as messages of `logging` at the level INFO.
"""

import logging
import sys
from dataclasses import dataclass
from typing import Final

from arcf.display import shown
from arcf.errors import SettingError

LOADING: Final = logging.getLogger("arcf")


@dataclass(slots=True)
class Verbosity:
    """What the running command was told; there is one command in a process."""

    quiet: bool = False


CHOSEN: Final = Verbosity()


class _Notes(logging.Handler):
    """Writes a message as one line, fit for a terminal, to what is standard error at that time."""

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        sys.stderr.write(f"{shown(record.getMessage())}\n")
        sys.stderr.flush()


_NOTES: Final = _Notes()


def choose(*, quiet: bool = False, verbose: bool = False) -> None:
    """Say as much as was asked for; the usual unless given.

    Raises:
        SettingError: both less and more was asked for.
    """
    if quiet and verbose:
        raise SettingError("-q says less and -v says more; give one of them.")
    CHOSEN.quiet = quiet
    LOADING.removeHandler(_NOTES)
    LOADING.setLevel(logging.INFO if verbose else logging.NOTSET)
    if verbose:
        LOADING.addHandler(_NOTES)
