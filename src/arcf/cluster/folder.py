"""A folder of files, such as a model's, that travels to other machines."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.files import make_folder


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """The files below a folder, by their relative names. As arrays they lie in a node's memory once for all workers."""

    files: Mapping[str, NDArray[np.uint8]]

    @property
    def key(self) -> str:
        """A hash of names and contents."""
        digest = sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content.data)
        return digest.hexdigest()[:32]

    def unpack(self, parent: Path) -> Path:
        """The folder on this machine: below `parent`, written by whoever comes first, whole or not at all.

        Its date of change says when it was last asked for.

        Raises:
            InputError: it cannot be written.
        """
        folder = parent / self.key
        with suppress(OSError):  # It is not there, or read-only.
            os.utime(folder)
        if folder.is_dir():
            return folder
        make_folder(parent)
        try:
            self._write(folder)
        except OSError as error:
            if not folder.is_dir():
                raise InputError(f"cannot be written ({error.strerror or error}); make room there.", folder) from error
        return folder

    def _write(self, folder: Path) -> None:
        begun = Path(mkdtemp(prefix=".", dir=folder.parent))
        try:
            for name, content in self.files.items():
                (begun / name).parent.mkdir(parents=True, exist_ok=True)
                (begun / name).write_bytes(content.data)
            begun.chmod(0o755)
            begun.rename(folder)
        finally:
            shutil.rmtree(begun, ignore_errors=True)


def pack(folder: Path) -> Folder:
    """A folder's files.

    Raises:
        InputError: one cannot be read.
    """
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return Folder({path.relative_to(folder).as_posix(): np.fromfile(path, np.uint8) for path in paths})
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}).", error.filename or folder) from error
