"""Where a dataset's text lies: a folder, a zip archive, or one file or pipe, all read in the same way.

Readers never ask which of the three they got, so that every format can be used packed or unpacked.
"""

import json
import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from arcf.data.archive import BROKEN, open_archive, path_of
from arcf.errors import InputError
from arcf.files import decode, digest_file, kind_of, read_text


class Source(ABC):
    """Named text files. `place` is the path that error messages show."""

    place: str

    @abstractmethod
    def names(self, pattern: str) -> list[str]:
        """The files whose path below the source matches, sorted; `*` stays within one path component.

        Hidden files are left out: archives made on a Mac hold a `._NAME` beside every NAME.
        """

    @abstractmethod
    def text(self, name: str) -> str:
        """The text of one file.

        Raises:
            InputError: it cannot be read, or is not UTF-8.
        """

    @abstractmethod
    def fingerprint(self, patterns: Iterable[str]) -> str | None:
        """What tells the content of the files that match from any other; None for a pipe, which is read only once.

        Raises:
            InputError: one cannot be read.
        """

    def at(self, name: str) -> str:
        """The path of one file as a message shows it."""
        return f"{self.place}/{name}"


class Folder(Source):
    """The files in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = str(path)

    def names(self, pattern: str) -> list[str]:
        """See Source; the file system does the matching, so that a large folder is never walked."""
        try:
            found = [match.relative_to(self.path) for match in self.path.glob(pattern) if match.is_file()]
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error}).", self.path) from error
        return sorted(name.as_posix() for name in found if not _is_hidden(name))

    def text(self, name: str) -> str:
        """See Source."""
        return read_text(self.path / name)

    def fingerprint(self, patterns: Iterable[str]) -> str:
        """See Source."""
        names = sorted({name for pattern in patterns for name in self.names(pattern)})
        return json.dumps([(name, digest_file(self.path / name)) for name in names])


class Archive(Source):
    """The files in an open zip archive, or in one top folder of it."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, top: str = "") -> None:
        self.archive = archive
        self.place = f"{path}/{top}".rstrip("/")
        self._path, self._top = path, top
        self._files = _files_below(archive, top)

    def names(self, pattern: str) -> list[str]:
        """See Source."""
        return sorted(str(name) for name in self._files if not _is_hidden(name) and _matches(name, pattern))

    def text(self, name: str) -> str:
        """See Source."""
        try:
            content = self.archive.read(self._files[PurePosixPath(name)])
        except (*BROKEN, OSError) as error:
            raise InputError(f"cannot be unpacked ({error}); get the archive again.", self.at(name)) from error
        return decode(content, self.at(name))

    def fingerprint(self, patterns: Iterable[str]) -> str:
        """See Source; that of the archive as a whole, and of the folder in it."""
        del patterns
        return json.dumps([self._top, digest_file(self._path)])


class SingleFile(Source):
    """A file on its own. It holds no named files, so that no reader of folders takes it for its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = str(path)

    def names(self, pattern: str) -> list[str]:
        """See Source."""
        del pattern
        return []

    def text(self, name: str) -> str:
        """The text of the file, whose own name is the only one to ask for."""
        return read_text(self.path.with_name(name))

    def fingerprint(self, patterns: Iterable[str]) -> str | None:
        """See Source; the ending of the name tells the format."""
        del patterns
        return json.dumps([self.path.suffix.lower(), digest_file(self.path)]) if self.path.is_file() else None

    def at(self, name: str) -> str:
        """See Source."""
        return str(self.path.with_name(name))


def places(path: Path) -> Generator[Source, None, None]:
    """The sources at a path in which a dataset may lie, nearest first.

    A folder is looked at itself, then the one zip archive in it, then the one folder in it; an archive itself, then
    its one top folder. An archive is open only until the next source is asked for: close the iterator when done. A
    pipe can be read only once, so nobody looks into it first.

    Raises:
        InputError: nothing is there, or a device, or an archive is broken.
    """
    mode = _mode(path)
    if stat.S_ISDIR(mode):
        yield from _in_folder(path)
    elif stat.S_ISFIFO(mode):
        yield SingleFile(path)
    elif not stat.S_ISREG(mode):
        raise InputError(f"is {kind_of(mode)}; give a folder, a file or a pipe.", path)
    elif path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
        yield from _in_archive(path)
    else:
        yield SingleFile(path)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise InputError("does not exist.", path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", path) from error


def _in_folder(path: Path, deeper: bool = True) -> Iterator[Source]:
    yield Folder(path)
    visible = [entry for entry in sorted(path.iterdir()) if not _is_hidden(PurePosixPath(entry.name))]
    archives = [entry for entry in visible if entry.suffix.lower() == ".zip" and entry.is_file()]
    if len(archives) == 1:
        yield from _in_archive(archives[0])
    folders = [entry for entry in visible if entry.is_dir()]
    if deeper and len(folders) == 1:
        yield from _in_folder(folders[0], deeper=False)


def _in_archive(path: Path) -> Iterator[Source]:
    with open_archive(path) as archive:
        yield Archive(archive, path)
        names = [path_of(entry) for entry in archive.infolist()]
        tops = {name.parts[0] for name in names if name.parts and not _is_hidden(name)}
        if len(tops) == 1:
            yield Archive(archive, path, tops.pop())


def _files_below(archive: zipfile.ZipFile, top: str) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The entries that are files, by their paths below a folder; `./a` is `a`."""
    files = {path_of(entry): entry for entry in archive.infolist() if not entry.is_dir()}
    return {path.relative_to(top): entry for path, entry in files.items() if path.is_relative_to(top)}


def _is_hidden(name: PurePosixPath | Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _matches(name: PurePosixPath, pattern: str) -> bool:
    wanted = PurePosixPath(pattern).parts
    return len(name.parts) == len(wanted) and all(map(fnmatchcase, name.parts, wanted))
