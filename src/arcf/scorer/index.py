"""What a model has read of a corpus's facts, on disk: written once, and mapped into memory by all who use it.

An index is one kept file: the hidden states of all tokens of all facts, in half precision. Its mark is a hash of the
model's files and of the facts' tokens: after any change of either, another file is looked for. A file that is not what
its name says, or not complete, costs a warning, and facts are read when they are needed. It is written in the order in
which facts are read, so it has no checksum: one that was changed by anybody else is not believed.
"""

import json
import warnings
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arcf.errors import ArcfWarning, InputError
from arcf.kept.arrays import read_arrays, writing
from arcf.kept.folder import kept_path
from arcf.kept.head import FORMAT, About, Head, Slot
from arcf.scorer.ragged import Ragged

VERSION: Final = 2
"""Goes up when the same model makes something else of the same tokens."""

KIND, STATES = "readings", "states"
NUMBER: Final = np.dtype("<f2")


def fingerprint(model: str, candidates: Ragged) -> str:
    """The sha256 of what the states are made from, in hexadecimal: the model, and the tokens of each fact."""
    return sha256(json.dumps([KIND, FORMAT, VERSION, model, _digest(candidates)]).encode()).hexdigest()


def index_path(model: str, candidates: Ragged) -> Path:
    """Where the index of these facts is, or would be."""
    return kept_path(KIND, fingerprint(model, candidates))


def find_index(model: str, candidates: Ragged, width: int) -> NDArray[np.float16] | None:
    """The states of all tokens, mapped into memory: (tokens, width). None if there is no index that can be used."""
    path = index_path(model, candidates)
    try:
        arrays = read_arrays(path, path.stem)
        if arrays is None:
            return None
        states: NDArray[np.float16] = arrays[STATES]
        if states.shape != (len(candidates.tokens), width):
            raise InputError("is something else.", path)
    except InputError as error:
        message = f"{error} Facts are read when they are needed; `arcf index` writes it anew."
        warnings.warn(message, ArcfWarning, stacklevel=2)
        return None
    return states


def write_index(
    path: Path,
    about: About,
    candidates: Ragged,
    width: int,
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.float16]]],
) -> None:
    """Write an index from the states of some facts after the other, in any order.

    The file appears only when it is complete.

    Raises:
        InputError: the folder cannot be made or written to.
        OSError: the disk is full, or fails.
    """
    head = Head(path.stem, about, int(time()), {STATES: Slot(NUMBER.str, (len(candidates.tokens), width))})
    with writing(path, head) as (file, starts):
        for facts, states in parts:
            ends = np.cumsum(candidates.lengths_of(facts))
            for fact, own in zip(facts.tolist(), np.split(states.astype(NUMBER), ends[:-1]), strict=True):
                file.seek(starts[STATES] + int(candidates.offsets[fact]) * width * NUMBER.itemsize)
                file.write(own.tobytes())


def _digest(candidates: Ragged) -> str:
    """What tells tokens from others: known of those that were kept, else a hash of them all."""
    if candidates.digest is not None:
        return candidates.digest
    digest = sha256(candidates.offsets.astype("<i8").tobytes())
    digest.update(candidates.tokens.astype("<i4").tobytes())
    return digest.hexdigest()
