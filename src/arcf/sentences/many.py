"""Vectors of very many texts: made in blocks, each of which is kept until all are there.

A million facts take the better part of an hour: whoever is killed on the way goes on with the block that was in work.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arcf.kept.arrays import Arrays
from arcf.kept.folder import SUFFIX, cache_folder
from arcf.kept.head import About
from arcf.kept.keeping import kept
from arcf.progress import report
from arcf.sentences.base import Encoder, Vectors

KIND: Final = "vectors"
BLOCK: Final = 8192
"""Texts of a block: about 20 seconds of a processor for a small encoder."""


def encode_many(encoder: Encoder, texts: Sequence[str], rows: NDArray[np.int64], mark: str) -> Vectors:
    """The vectors of the texts at some places, (rows, dimension); `mark` names all that they are made from."""
    parts = []
    for first in range(0, max(len(rows), 1), BLOCK):
        report("encoding facts", first, len(rows))
        own = rows[first : first + BLOCK]
        parts.append(_block(encoder, [texts[row] for row in own.tolist()], f"{mark}-{first}"))
    report("encoding facts", len(rows), len(rows))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def forget_blocks(mark: str) -> None:
    """Delete the blocks of `encode_many`, once all vectors are kept elsewhere."""
    for path in (cache_folder() / KIND).glob(f"{mark}-*{SUFFIX}"):
        with suppress(OSError):
            path.unlink()


def _block(encoder: Encoder, texts: Sequence[str], mark: str) -> Vectors:
    def encode() -> Arrays:
        return {"vectors": encoder.encode(texts)}

    if len(texts) < BLOCK:  # The last one, and in most corpora the only one.
        return encode()["vectors"]
    return kept(KIND, mark, About("vectors, until all are there", len(texts), ""), encode)["vectors"]
