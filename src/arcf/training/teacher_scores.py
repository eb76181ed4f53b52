"""A teacher's scores on disk: computed once, shared by all students that learn from the same samples.

A folder belongs to one teacher. In it, every corpus has a folder named by a hash of what decides its samples (facts,
questions, settings of sampling, seed), with files of `SHARD` samples each: plain arrays, never a pickle. So other
corpora, other weights and longer runs find again what is theirs, and what would be another sample's is never found.
"""

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.files import atomic_write, make_folder, read_json_object, write_text

Scores = NDArray[np.float32]

#: Samples of a file: what a kill costs a slow teacher, at most.
SHARD = 64
TEACHER = "teacher.json"
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, TypeError, ValueError)


def claim_folder(folder: Path, teacher: Mapping[str, Any]) -> None:
    """Make the folder that teacher's, if it is nobody's yet.

    Raises:
        InputError: it is another's, or cannot be written.
    """
    if not (folder / TEACHER).exists():
        make_folder(folder)
        write_text(folder / TEACHER, json.dumps(teacher, indent=2) + "\n")
    elif read_teacher(folder) != teacher:
        raise InputError("holds the scores of another teacher; choose another folder.", folder)


def read_teacher(folder: Path) -> dict[str, Any]:
    """Which teacher a folder belongs to.

    Raises:
        InputError: it holds no teacher's scores.
    """
    if not (folder / TEACHER).is_file():
        raise InputError("holds no teacher's scores; make them with arcf teach.", folder)
    return read_json_object(folder / TEACHER)


class TeacherScores:
    """The scores of the samples of one corpus, by their number from the start of training; `key` tells its samples."""

    def __init__(self, folder: Path, corpus: str, key: str) -> None:
        self.folder = folder
        self._corpus = corpus
        self._key = key
        self._shard = lru_cache(maxsize=1)(self._read)

    def missing(self, samples: int) -> list[int]:
        """The files that the first so many samples need and that are not there, by number."""
        return [shard for shard in range(-(-samples // SHARD)) if not self._path(shard).is_file()]

    def require(self, samples: int) -> None:
        """Make sure that the first so many samples have scores.

        Raises:
            InputError: some have none.
        """
        missing = self.missing(samples)
        if missing:
            raise InputError(
                f"has no scores of {len(missing) * SHARD} of the samples that these settings draw from {self._corpus}; "
                "run arcf teach with the same settings.",
                self.folder,
            )

    def write(self, shard: int, scores: Sequence[Scores]) -> None:
        """Keep the scores of the `SHARD` samples of one file; those of a sample without candidates are empty."""
        counts = np.array([len(own) for own in scores], dtype=np.int64)
        make_folder(self._path(shard).parent)
        with atomic_write(self._path(shard)) as file:
            np.savez(file, allow_pickle=False, counts=counts, scores=np.concatenate(scores).astype(np.float32))

    def scores(self, number: int, candidates: int) -> Scores:
        """The scores of a sample's candidates.

        Raises:
            InputError: there are none, they are damaged, or they are of another number of candidates.
        """
        shard, place = divmod(number, SHARD)
        found = self._shard(shard)[place]
        if len(found) != candidates:
            raise InputError(
                f"has {len(found)} scores of a sample with {candidates} candidates: another arcf made it; delete "
                "it and run arcf teach again.",
                self._path(shard),
            )
        return found

    def _path(self, shard: int) -> Path:
        return self.folder / self._key[:16] / f"{shard:06}.npz"

    def _read(self, shard: int) -> list[Scores]:
        path = self._path(shard)
        try:
            with path.open("rb") as content, np.load(content, allow_pickle=False) as file:
                counts, scores = file["counts"], file["scores"]
            if len(counts) != SHARD or counts.sum() != len(scores) or not np.isfinite(scores).all():
                raise ValueError
            return np.split(scores, np.cumsum(counts)[:-1])
        except FileNotFoundError as error:
            raise InputError("is not there; run arcf teach again.", path) from error
        except _DAMAGE as error:
            raise InputError("is damaged; delete it and run arcf teach again.", path) from error
