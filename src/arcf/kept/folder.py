"""The user's cache: where kept files lie, what is in it, and what is thrown away.

Nothing in it is needed: whatever is deleted is made again when it is next asked for.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from stat import S_ISDIR, S_ISREG
from time import time
from typing import Final

from arcf.errors import InputError
from arcf.files import own_folder
from arcf.kept.head import About, read_head

VARIABLE, OWN = "ARCF_CACHE", "arcf-cache"
SUFFIX = ".kept"
MODELS = "models"
"""The folder of models that came from other machines of a cluster: a folder for each, named by its content."""

LIMIT_BYTES: Final = 20_000_000_000
"""What the cache may hold: beyond it, what was not used for the longest time goes. Room for all that is kept of a
million facts, readings of a model included."""
LIMIT_DAYS: Final = 90
"""What was not used for so long goes too, whenever something is added."""
DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache, or the folder of a model that came from another machine.

    `about` is None for what this arcf did not write: files of older ones, or leftovers. `is_leftover`: of somebody who
    was killed, or still at it after a day.
    """

    path: Path
    bytes: int
    used: float
    about: About | None

    @property
    def is_leftover(self) -> bool:
        """Whether it is no more than a beginning, or a lock."""
        return _is_under_way(self.path)


def cache_folder() -> Path:
    """The folder of all kept files: a folder of its own in $ARCF_CACHE, else the user's cache directory.

    Whatever is in it may be deleted at any time, so nothing of anybody else's may be there.

    Raises:
        InputError: the user has no home directory, and the variable names no folder.
    """
    from platformdirs import user_cache_path

    chosen = os.environ.get(VARIABLE)
    with own_folder(VARIABLE):
        return Path(chosen).expanduser() / OWN if chosen else user_cache_path("arcf")


def kept_path(kind: str, mark: str) -> Path:
    """Where a kept file is, or would be: a folder for every kind, a file for every mark."""
    return cache_folder() / kind / f"{mark}{SUFFIX}"


def entries() -> list[Entry]:
    """All files and models of the cache, the last used one first; without what others are writing now, and locks.

    Raises:
        InputError: the folder cannot be read.
    """
    folder = cache_folder()
    try:
        found = [entry for path in sorted(folder.glob("*/*")) if (entry := _entry(path))]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", folder) from error
    return sorted(found, key=lambda entry: -entry.used)


def prune(older_than: float | None = None, limit: int | None = None) -> list[Entry]:
    """Delete what was not used for so many days, then what was used the longest ago, down to a limit of bytes.

    Leftovers go in any case: nobody will use them. What another process has mapped stays readable for it. What cannot
    be deleted is passed over.

    Returns:
        What was deleted.

    Raises:
        InputError: the folder cannot be read.
    """
    found = entries()
    oldest = time() - older_than * DAY if older_than is not None else 0.0
    too_old = [entry for entry in found if entry.is_leftover or entry.used < oldest]
    left = [entry for entry in found if entry not in too_old]
    surplus = list(_surplus(left, limit)) if limit is not None else []
    return [entry for entry in (*too_old, *surplus) if _delete(entry.path)]


def keep_bounded() -> None:
    """Delete what is beyond the limits; the file that was used last stays, whatever its size."""
    last = next((entry.bytes for entry in entries() if not entry.is_leftover), 0)
    prune(LIMIT_DAYS, max(LIMIT_BYTES, last))


def _surplus(found: Sequence[Entry], limit: int) -> Iterator[Entry]:
    total = 0
    for entry in found:
        total += entry.bytes
        if total > limit or not limit:  # Some files are empty.
            yield entry


def _entry(path: Path) -> Entry | None:
    """A file or a model of the cache; None for anything else, and for what somebody else is writing, or has pruned."""
    try:
        status = path.stat()
        if _is_under_way(path) and status.st_mtime > time() - DAY:
            return None
        if S_ISDIR(status.st_mode) and path.parent.name == MODELS:
            return _model(path, status.st_mtime)
    except OSError:
        return None
    if not S_ISREG(status.st_mode):
        return None
    about = _about(path)
    with suppress(OSError):
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # To look at a file is not to use it.
    return Entry(path, status.st_size, max(status.st_atime, status.st_mtime), about)


def _is_under_way(path: Path) -> bool:
    """Whether it is not yet what it will be: until it is whole, it has a name with a dot before it, and so do locks."""
    return path.name.startswith(".")


def _model(folder: Path, used: float) -> Entry:
    """A model, or what is left of one that was not written to its end. Whoever uses it sets its date of change."""
    files = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    about = None if _is_under_way(folder) else About("model", 0, "", model=folder.name)
    return Entry(folder, files, used, about)


def _about(path: Path) -> About | None:
    try:
        with path.open("rb") as file:
            return read_head(file).about
    except (OSError, InputError):
        return None


def _delete(path: Path) -> bool:
    try:
        if path.is_dir():
            rmtree(path.rename(path.with_name(f".{path.name[:32]}.{token_hex(4)}")))  # Nobody finds half of a model.
        else:
            path.unlink()
    except OSError:
        return False
    return True
