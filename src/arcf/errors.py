"""The exceptions of arcf, in one tree.

    ArcfError
    ├── InputError          a file or its content is not what it should be
    ├── SettingError        a setting has an impossible value
    ├── UnknownNameError    no dataset, split, ranker, ... of that name
    └── MissingExtraError   an optional dependency is not installed

Every message is one sentence or two: what was found, what was expected, what to do. The command line prints it as it
is and exits with code 2.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

#: How many names a message lists before it only counts the rest.
LISTED = 12
#: How many names a misspelt one is compared with: with a million uids, that would take a minute.
COMPARED = 20_000


class ArcfError(Exception):
    """Base of every error that arcf raises on purpose.

    It travels between processes as its message and attributes: a pool breaks over an error that cannot be made again
    from what it was made of, which the message no longer tells.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.args), self.__dict__


class InputError(ArcfError):
    """A file, or something in it, is not what it should be. The message starts with `path:line:` where known."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class SettingError(ArcfError):
    """A setting has a value that cannot work."""


class UnknownNameError(ArcfError):
    """A name that nothing is registered under; the message offers the nearest one and lists the rest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1) if len(names) <= COMPARED else []
        guess = f" Did you mean '{near[0]}'?" if near else ""
        listed = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
        choice = f"choose one of: {listed}" if names else "there is none"
        super().__init__(f"There is no {kind} named '{name}'; {choice}.{guess}")


class MissingExtraError(ArcfError):
    """A feature whose optional dependency is not installed; the message holds the install command."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs more than the base install: run pip install 'arcf[{extra}]'")


def _made_again(kind: type[ArcfError], parts: tuple[Any, ...]) -> ArcfError:
    return kind.__new__(kind, *parts)


class ArcfWarning(UserWarning):
    """Something in the input is odd, and arcf went on with a stated rule."""
