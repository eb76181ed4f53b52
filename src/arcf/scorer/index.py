"""What a model has read of a corpus's facts, on disk: written once, and mapped into memory by all who use it.

An index is one file in the user's cache: a line that says what it is, and the hidden states of all tokens of all facts,
in half precision. Its name, and that line, is a hash of the model's files and of the facts' tokens: after any change of
either, another file is looked for. A file that is not what its name says, or not complete, costs a warning, and facts
are read when they are needed.
"""

import warnings
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arcf.errors import ArcfWarning
from arcf.files import atomic_write, make_folder
from arcf.scorer.ragged import Ragged

FORMAT: Final = 1
"""Goes up when the same model makes something else of the same tokens, or the file changes."""

NUMBER: Final = np.dtype("<f2")


def fingerprint(model: str, candidates: Ragged) -> str:
    """The sha256 of what the states are made from, in hexadecimal: the model, and the tokens of each fact."""
    digest = sha256(f"arcf index {FORMAT}\n{len(model)}:{model}\n{len(candidates)}:".encode())
    digest.update(candidates.offsets.astype("<i8").tobytes())
    digest.update(candidates.tokens.astype("<i4").tobytes())
    return digest.hexdigest()


def index_folder() -> Path:
    """Where indexes are, beside the neighborhoods."""
    from platformdirs import user_cache_path

    return user_cache_path("arcf") / "facts"


def index_path(model: str, candidates: Ragged) -> Path:
    """Where the index of these facts is, or would be."""
    return index_folder() / f"{fingerprint(model, candidates)}.states"


def find_index(model: str, candidates: Ragged, width: int) -> NDArray[np.float16] | None:
    """The states of all tokens, mapped into memory: (tokens, width). None if there is no index that can be used."""
    path = index_path(model, candidates)
    head = _head(path)
    shape = len(candidates.tokens), width
    try:
        with path.open("rb") as file:
            is_right = file.read(len(head)) == head
            size = file.seek(0, 2)
        if is_right and size == len(head) + shape[0] * width * NUMBER.itemsize:
            return np.asarray(np.memmap(path, NUMBER, "r", len(head), shape))
        reason = "is damaged, or something else"
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
    warnings.warn(
        f"{path}: {reason}; facts are read when they are needed. `arcf index` writes it anew.",
        ArcfWarning,
        stacklevel=2,
    )
    return None


def write_index(path: Path, candidates: Ragged, parts: Iterable[tuple[NDArray[np.int64], NDArray[np.float16]]]) -> int:
    """Write an index from the states of some facts after the other, in any order; gives its size in bytes.

    The file appears only when it is complete.

    Raises:
        InputError: the folder cannot be made or written to.
        OSError: the disk is full, or fails.
    """
    make_folder(path.parent)
    head = _head(path)
    with atomic_write(path) as file:
        file.write(head)
        for facts, states in parts:
            ends = np.cumsum(candidates.lengths[facts])
            for fact, own in zip(facts.tolist(), np.split(states.astype(NUMBER), ends[:-1]), strict=True):
                file.seek(len(head) + int(candidates.offsets[fact]) * own.shape[1] * NUMBER.itemsize)
                file.write(own.tobytes())
    return path.stat().st_size


def _head(path: Path) -> bytes:
    return f"arcf index {FORMAT} {path.stem}\n".encode()
