"""Arrays on disk: written as a whole, mapped into memory by all who use them, never believed when damaged.

A file is read only where it is used, so its arrays cannot be checked whenever it is opened. Instead it is sealed: its
date of change is set to the one that its head names. A file of that date and of the right size is as it was written; of
any other date, the checksums of all arrays are compared, and if they are right, it is sealed again. No pickle: numbers.
"""

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time, time_ns
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.files import atomic_write, make_folder
from arcf.kept.head import About, Head, Slot, read_head

Arrays = Mapping[str, NDArray[Any]]

NANOSECONDS = 1_000_000_000


def write_arrays(path: Path, mark: str, about: About, arrays: Arrays) -> None:
    """Write a file, into a new folder if need be; it appears only when it is complete.

    Raises:
        InputError: the folder cannot be made or written to.
        OSError: the disk is full, or fails.
    """
    plain = {name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in arrays.items()}
    if any(array.dtype.hasobject for array in plain.values()):
        raise TypeError("only plain numbers can be kept, not objects")
    slots = {
        name: Slot(array.dtype.str, array.shape, zlib.crc32(_bytes(array)))  # (..) of any shape
        for name, array in plain.items()
    }
    with writing(path, Head(mark, about, int(time()), slots)) as (file, starts):
        for name, array in plain.items():
            file.seek(starts[name])
            file.write(_bytes(array))


@contextmanager
def writing(path: Path, head: Head) -> Iterator[tuple[IO[bytes], Mapping[str, int]]]:
    """A new file with that head, and where each array starts in it: to be filled in any order, then sealed.

    Raises what `write_arrays` does.
    """
    make_folder(path.parent)
    starts, size = head.starts()
    with atomic_write(path) as file:
        file.write(head.encoded())
        yield file, starts
        file.truncate(size)
        file.flush()
        _seal(Path(file.name), head)


def read_arrays(path: Path, mark: str) -> Arrays | None:
    """The arrays of a file, mapped into memory; None if there is no such file.

    Raises:
        InputError: it is damaged, cannot be read, or was made from something else than the mark says.
    """
    try:
        with path.open("rb") as file:
            head = read_head(file)
            _, size = head.starts()
            if head.mark != mark or os.fstat(file.fileno()).st_size != size:
                raise InputError("is damaged, or something else.")
            arrays = dict(_mapped(file, head))
            if os.fstat(file.fileno()).st_mtime_ns != head.sealed * NANOSECONDS:
                _check(head, arrays)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", path) from error
    except InputError as error:
        raise InputError(str(error), path) from error
    with suppress(OSError):  # A folder that is read-only.
        _seal(path, head)
    return arrays


def _seal(path: Path, head: Head) -> None:
    """Set the date of change, and that of the last use to now, which many systems do not do by themselves."""
    os.utime(path, ns=(time_ns(), head.sealed * NANOSECONDS))


def _mapped(file: IO[bytes], head: Head) -> Iterator[tuple[str, NDArray[Any]]]:
    content: NDArray[np.uint8] = np.asarray(np.memmap(file, np.uint8, "r"))
    starts, _ = head.starts()
    for name, slot in head.arrays.items():
        own = content[starts[name] : starts[name] + slot.nbytes]
        yield name, own.view(slot.dtype).reshape(slot.shape)


def _check(head: Head, arrays: Arrays) -> None:
    """Compare all checksums; an array without one cannot be believed any more."""
    if any(slot.checksum != zlib.crc32(_bytes(arrays[name])) for name, slot in head.arrays.items()):
        raise InputError("is damaged.")


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
