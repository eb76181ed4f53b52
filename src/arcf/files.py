"""Reading and writing files so that bad input gets one clear sentence and nothing is ever half-written."""

import hashlib
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from arcf.errors import InputError

STANDARD_INPUT = "standard input"


def read_text(path: Path) -> str:
    """The whole of a UTF-8 file (a byte order mark is dropped).

    Raises:
        InputError: the file cannot be read, or is not UTF-8; the message names the first bad line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", path) from error
    return decode(content, path)


def read_input(path: Path) -> tuple[str, str]:
    """The text of a file, or of standard input for the path `-`, and what messages should call it.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    if str(path) != "-":
        return read_text(path), str(path)
    if sys.stdin is None:
        raise InputError("is closed.", STANDARD_INPUT)
    return decode(sys.stdin.buffer.read(), STANDARD_INPUT), STANDARD_INPUT


def decode(content: bytes, path: Path | str) -> str:
    """Text of UTF-8 bytes; `path` is only for the message."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(content, error.start, path) from error
    if "\0" in text:  # UTF-16 of plain English is proper UTF-8, with a zero after every letter.
        raise _not_utf8(content, content.index(b"\0"), path)
    return text


def _not_utf8(content: bytes, place: int, path: Path | str) -> InputError:
    return InputError("is not UTF-8 text; save it as UTF-8 and try again.", path, content.count(b"\n", 0, place) + 1)


def lines_of(text: str) -> list[str]:
    """The lines of a text; of one without a line feed, as on old Macs, they end at carriage returns."""
    return text.split("\n" if "\n" in text else "\r")


def digest_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", path) from error


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        InputError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg}).", path, error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            "is JSON that cannot be read: a number is too long, or it is nested too deeply.", path
        ) from error


def read_json_object(path: Path) -> dict[str, Any]:
    """The content of a JSON file that holds an object, as config.json does.

    Raises:
        InputError: it cannot be read or is not a JSON object.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError("is not a JSON object.", path)
    return content


@contextmanager
def own_folder(variable: str) -> Iterator[None]:
    """Say in one sentence that somebody without a home directory has to name a folder.

    Raises:
        InputError: the block looked for that directory.
    """
    try:
        yield
    except RuntimeError as error:
        raise InputError(
            f"There is no home directory to keep files in; name a folder by the variable {variable}."
        ) from error


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears under its name only when all of it is on disk.

    The content goes to a temporary file beside it first, so an exception or a kill inside the block leaves an older
    file as it was. An older file passes its mode on; a symbolic link stays, and the file that it leads to is replaced.

    Raises:
        InputError: as `check_writable` does.
        OSError: the disk is full, or fails.
    """
    target = _target(path)
    temporary = _beside(target, path)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = str(path)  # A name that the message's reader knows.
        raise


def check_writable(path: Path) -> None:
    """Find out whether `atomic_write` could write a file: a command asks before hours of work, not after.

    Raises:
        InputError: there is something else of that name (a folder, a device, a pipe), or its folder does not exist or
            cannot be written to.
    """
    _beside(_target(path), path).unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be the only one of all who ask for that to write a file, for the length of the block.

    A file that is not there is made, and goes again if nothing was written. Where there are no locks (a system or a
    file system without them), nobody is refused. A process that is killed gives its lock back.

    Raises:
        InputError: another command has it, or it cannot be written.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        yield
        return
    target, is_new = path.resolve(), not path.exists()
    try:
        file = target.open("ab")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}).", path) from error
    with file:
        if not _has_lock(file, target, fcntl):
            raise InputError("is being written by another command; wait for it, or choose another place.", path)
        try:
            yield
        finally:
            with suppress(OSError):  # The user has deleted it meanwhile.
                if is_new and not target.stat().st_size:
                    target.unlink()


def _has_lock(file: IO[bytes], path: Path, fcntl: Any) -> bool:
    """Try to lock an open file. If another one is at its path by now, somebody had it, and took it away."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:
        return True


def check_empty(folder: Path) -> None:
    """See that nothing of a folder that is to be made is there.

    Raises:
        InputError: something is.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is not an empty folder; choose another.", folder)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they are there. Writing a file makes none: its path may be mistyped.

    Raises:
        InputError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder ({error.strerror or error}).", path) from error


def usual_mode(path: Path) -> None:
    """Make a file as readable as any other: what libraries write by way of a temporary file is often private."""
    path.chmod(0o666 & ~_umask())


def kind_of(mode: int) -> str:
    """What a path leads to, by its `st_mode`, in words."""
    kinds = {stat.S_IFREG: "a file", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file atomically."""
    with atomic_write(path) as file:
        file.write(text.encode())


def _target(path: Path) -> Path:
    """The file that a path stands for, there or not yet: where its symbolic links lead."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}).", path) from error
    if not stat.S_ISREG(mode):
        raise InputError(f"is {kind_of(mode)}; give the name of a file to write.", path)
    return path.resolve()


def _beside(target: Path, path: Path) -> Path:
    """A new, empty file in the folder of `target`: on its file system, so that renaming is one step."""
    # Not all of a name that is as long as names can be.
    temporary = target.with_name(f".{target.name[:32]}.{secrets.token_hex(4)}")
    try:
        temporary.touch(exist_ok=False)
    except FileNotFoundError as error:
        raise InputError(f"cannot be written: there is no folder {target.parent}; make it first.", path) from error
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}).", path) from error
    return temporary


def _umask() -> int:
    """The process's umask. To read it is to set it: to a strict one, in case a thread makes a file meanwhile."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
