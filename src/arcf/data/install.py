"""Installing published datasets into the data directory, whole or not at all."""

import shutil
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

from arcf.data.archive import unpack
from arcf.data.directory import data_directory
from arcf.data.loading import PACKAGED, is_name, locate, read
from arcf.data.releases import RELEASES, Release
from arcf.data.source import places
from arcf.errors import ArcfError, ArcfWarning, InputError
from arcf.files import digest_file
from arcf.registry import pick

Progress = Callable[[int, int | None], None]
"""Told the bytes downloaded so far and, where the server says, all bytes."""

_CHUNK = 1 << 16
_TIMEOUT = 30  # Seconds without a byte before a download is given up.


@dataclass(frozen=True, slots=True)
class Installed:
    """What a dataset holds: facts, and questions by split; or, where it cannot be read, why."""

    name: str
    path: Path
    facts: int = 0
    questions: Mapping[str, int] | None = None
    problem: str = ""


def install(name: str, archive: Path | None = None, progress: Progress | None = None) -> Path:
    """Install a published dataset and return its folder.

    Without `archive` it is downloaded. An archive must be the official one by its checksum; where no checksum is known
    (worldtree-2019), an archive or a folder in the official layout is taken if it can be read. Everything is prepared
    in a temporary folder beside the final one and renamed at the end, so an earlier install stays until then.

    Raises:
        InputError: no download, another checksum, a broken archive, another layout, or no right to write.
        UnknownNameError: arcf knows no such dataset.
    """
    release = pick(RELEASES, name, "dataset to install")
    if archive is None and release.url is None:
        raise InputError(
            f"No download address is known for {name}; run: arcf data install {name} --from FILE_OR_FOLDER"
        )
    directory = data_directory()
    with _workshop(directory) as workshop:
        origin = archive or _download(release, name, workshop / "download.zip", progress)
        place = str(archive or release.url)
        content = workshop / "content"
        with _calling(place, origin, content):
            _check(origin, release, name)
            _unpack(origin, content)
            _validate(content, name)
        _replace(directory / name, content, workshop / "old")
    return directory / name


def installed() -> list[Installed]:
    """The packaged corpus and what lies in the data directory, by name. Each one is read, to tell what it holds."""
    directory = data_directory()
    folders = sorted(directory.iterdir()) if directory.is_dir() else []
    names = [folder.name for folder in folders if folder.is_dir() and is_name(folder.name) and folder.name != PACKAGED]
    return [_look(name) for name in (PACKAGED, *names)]


def summary(dataset: str) -> Installed:
    """What the dataset of a name or at a path holds, in numbers.

    Raises:
        ArcfError: as `load` does.
    """
    path = locate(dataset)
    content = read(path)
    questions = {split: len(asked) for split, asked in content.splits.items()}
    return Installed(content.name, path, len(content.facts), questions)


def _look(name: str) -> Installed:
    try:
        with _quiet():
            return summary(name)
    except ArcfError as error:
        return Installed(name, locate(name), problem=str(error))


@contextmanager
def _workshop(directory: Path) -> Iterator[Path]:
    """A temporary folder in the data directory: on its file system, so that renaming is one step."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(dir=directory, prefix=".install-", ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}); set ARCF_DATA.", directory) from error
    with folder as path:
        yield Path(path)


def _download(release: Release, name: str, target: Path, progress: Progress | None) -> Path:
    assert release.url is not None
    try:
        with urllib.request.urlopen(release.url, timeout=_TIMEOUT) as response, target.open("wb") as file:
            length = response.headers.get("Content-Length")
            total = int(length) if length else None
            done = 0
            while chunk := response.read(_CHUNK):
                done += file.write(chunk)
                if progress:
                    progress(done, total)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        advice = f"check the network, or get it elsewhere and run: arcf data install {name} --from FILE"
        raise InputError(f"{release.url} cannot be downloaded ({reason}); {advice}") from error
    return target


@contextmanager
def _calling(place: str, *paths: Path) -> Iterator[None]:
    """Let errors name the archive, or its address, where they name a temporary path."""
    try:
        yield
    except InputError as error:
        message = str(error)
        for path in paths:
            message = message.replace(str(path), place)
        raise InputError(message) from error


def _check(origin: Path, release: Release, name: str) -> None:
    """Whether it is what it should be, by its checksum if there is one, else by the names of its files."""
    if release.sha256 is not None:
        found = _checksum(origin, name)
        if found != release.sha256:
            expected = f"expected {release.sha256}"
            raise InputError(f"is not the official archive of {name}: its sha256 is {found}, {expected}.", origin)
    with closing(places(origin)) as sources:
        if not any(source.names(release.layout) for source in sources):
            raise InputError(f"is not laid out as {name}: it has no {release.layout}.", origin)


def _checksum(origin: Path, name: str) -> str:
    if origin.is_dir():
        advice = "give the zip archive to --from, or use the folder's path in place of the dataset's name."
        raise InputError(f"is a folder, but {name} is known by the checksum of its archive; {advice}", origin)
    return digest_file(origin)


def _unpack(origin: Path, content: Path) -> None:
    if origin.is_dir():
        _copy(origin, content)
    else:
        unpack(origin, content)


def _copy(folder: Path, content: Path) -> None:
    """The files of a folder, without their permissions: a read-only original should not make a read-only install."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            target = content / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _validate(content: Path, name: str) -> None:
    """Read all of it once, so that only what works is installed."""
    with _quiet():
        dataset = read(content, name)
    missing = {"train", "dev", "test"} - dataset.splits.keys()
    if missing:
        raise InputError(f"lacks the questions of {', '.join(sorted(missing))}.", content)


def _replace(target: Path, content: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    try:
        content.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise


@contextmanager
def _quiet() -> Iterator[None]:
    """Without arcf's warnings: they belong to the use of a dataset, not to looking at it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArcfWarning)
        yield
