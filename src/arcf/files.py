"""Reading and writing files so that bad input gets one clear sentence and nothing is ever half-written."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from arcf.errors import InputError


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


def decode(content: bytes, path: Path | str) -> str:
    """Text of UTF-8 bytes; `path` is only for the message."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text; save it as UTF-8 and try again.", path, line) from error


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        InputError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg}).", path, error.lineno) from error


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
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears under its name only when all of it is on disk.

    The content goes to a temporary file beside it first, so an exception or a kill inside the block leaves an older
    file as it was.

    Raises:
        InputError: the folder cannot be made or written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}).", path) from error
    temporary = Path(file.name)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file atomically."""
    with atomic_write(path) as file:
        file.write(text.encode())


def _umask() -> int:
    """The process's umask: temporary files are private, the final one should be as readable as any other."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
