"""An encoder for tests: a plain one, of numpy alone."""

import re
from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np
import pytest

from arcf.neighborhood import embedding, wmd
from arcf.sentences import Vectors

DIMENSION = 6


class PlainEncoder:
    """Vectors of small whole numbers per word, added up: equal words in any order give bit-equal rows, and ties abound.

    Words that begin with x are unknown.
    """

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        return self._rows(texts)

    def keys(self, texts: Sequence[str]) -> list[bytes]:
        return [row.tobytes() if row.any() else b"" for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                if not word.startswith("x"):
                    sums[row] += np.random.default_rng(crc32(word.encode())).integers(-1, 3, DIMENSION)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)


@pytest.fixture(scope="module")
def plain_encoder() -> Iterator[PlainEncoder]:
    """Every model is the plain encoder, for the tests of a module."""
    encoder = PlainEncoder()
    with pytest.MonkeyPatch.context() as patch:
        for module in (embedding, wmd):
            patch.setattr(module, "load_encoder", lambda *_: encoder)
            patch.setattr(module, "model_stamp", lambda model: model)
        yield encoder
