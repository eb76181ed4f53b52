"""Zip archives, which may come from anywhere: one is opened only if its list of entries is harmless.

A few megabytes can unpack to gigabytes, and a name can lead anywhere. All of that stands in the list, so an archive is
refused before any of it is unpacked; and Python never unpacks more of an entry than the list says.
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath

from arcf.errors import InputError

BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, ValueError)
"""What zipfile raises about a damaged archive, depending on where the damage is."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The methods that everyone packs with. Others pack more tightly, and may ask for gigabytes to unpack a few bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold: text packs to a third of its size, tables to a tenth, and reading takes six times it.

    `unpacked` and `harmless` are bytes of all entries together; `ratio` is to the archive's own size, and is of no
    interest as long as they are harmless. `name` and `path` are bytes: what the common file systems can keep.
    """

    entries: int = 20_000
    unpacked: int = 1_000_000_000
    harmless: int = 16_000_000
    ratio: int = 100
    name: int = 255
    path: int = 1024


LIMITS = Limits()


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip archive, open for reading.

    Raises:
        InputError: it cannot be read, is no zip archive, is larger inside than the limits, or holds an entry that is
            encrypted, no file, or of a name that cannot be unpacked.
    """
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN as error:
        raise InputError("is not a zip archive, or is damaged; get it again.", path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", path) from error
    with archive:
        entries = archive.infolist()
        problem = _too_large(entries, path.stat().st_size) or _odd_entry(entries) or _clash(entries)
        if problem:
            raise InputError(problem, path)
        yield archive


def unpack(path: Path, folder: Path) -> None:
    """Unpack an archive into a new folder.

    Raises:
        InputError: as `open_archive` does, or an entry is damaged, or the folder cannot be written to.
    """
    with open_archive(path) as archive:
        try:
            archive.extractall(folder)
        except BROKEN as error:
            raise InputError(f"cannot be unpacked ({error}); get it again.", path) from error
        except OSError as error:
            raise InputError(f"cannot be unpacked ({error.strerror or error}).", path) from error


def _too_large(entries: Sequence[zipfile.ZipInfo], packed: int) -> str:
    """Why an archive is too large inside; empty if it is not."""
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > LIMITS.entries:
        problem = f"holds {len(entries):,} entries, and {LIMITS.entries:,} are allowed"
    elif unpacked > LIMITS.unpacked:
        problem = f"holds {_megabytes(unpacked)} when unpacked, and {_megabytes(LIMITS.unpacked)} are allowed"
    elif unpacked > LIMITS.harmless and unpacked > LIMITS.ratio * packed:
        problem = f"holds {unpacked // packed:,} times its own size when unpacked, and {LIMITS.ratio} times are allowed"
    else:
        return ""
    return f"{problem}; if you trust it, unpack it yourself and give the folder."


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _odd_entry(entries: Sequence[zipfile.ZipInfo]) -> str:
    """What is wrong with the first entry that is no plain file or folder; empty if there is none."""
    for entry in entries:
        oddity = _oddity(entry)
        if oddity:
            return f"holds {oddity} ({_shown(entry)}); pack its files again, without that."
    return ""


def _oddity(entry: zipfile.ZipInfo) -> str:
    path = path_of(entry)
    sizes = [len(part.encode(errors="surrogatepass")) for part in path.parts]
    kind = stat.S_IFMT(entry.external_attr >> 16)
    away = path.is_absolute() or ".." in path.parts or PureWindowsPath(entry.filename).is_absolute()
    oddities = {
        "a file that would land outside of its folder": away,
        "a file without a name": not sizes and not _is_folder(entry),
        "a name that is too long": max(sizes, default=0) > LIMITS.name or sum(sizes) + len(sizes) > LIMITS.path,
        "a link": kind == stat.S_IFLNK,
        "what is no file": kind not in (0, stat.S_IFREG, stat.S_IFDIR),
        "an encrypted file": entry.flag_bits & 0x1,
        "a file packed in another way than deflated": entry.compress_type not in METHODS,
    }
    return next((oddity for oddity, found in oddities.items() if found), "")


def _clash(entries: Sequence[zipfile.ZipInfo]) -> str:
    """Which entries cannot lie in one folder: two files of one path, or a file where a folder is needed.

    In the order of their paths, what is below a file, or the same, comes right after it.
    """
    paths = sorted((path_of(entry).parts, _is_folder(entry), _shown(entry)) for entry in entries)
    for (path, is_folder, shown), (after, _, after_shown) in pairwise(paths):
        if not is_folder and after[: len(path)] == path:
            return f"holds two entries that cannot lie beside each other ({shown} and {after_shown}); pack it again."
    return ""


def path_of(entry: zipfile.ZipInfo) -> PurePosixPath:
    """Where an entry would be unpacked to, also where the backslash separates folders."""
    return PurePosixPath(entry.filename.replace("\\", "/"))


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.endswith("/")


def _shown(entry: zipfile.ZipInfo) -> str:
    return repr(entry.filename if len(entry.filename) <= 60 else f"{entry.filename[:60]}...")
