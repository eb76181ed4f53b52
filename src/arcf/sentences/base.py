"""What a text encoder must be able to do, and the one thing that differs between the libraries that run it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
TokenIds = NDArray[np.int64]


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text at Euclidean length 1; all zeros for a text without a token that the model knows.

        Texts that the model cannot tell apart (the same tokens) get bit-equal rows, if they are encoded together.
        """
        ...

    def keys(self, texts: Sequence[str]) -> list[bytes]:
        """The same key for texts that the model cannot tell apart, another for any other; empty for one of zeros."""
        ...


class Backend(Protocol):
    """Runs the transformer; a library each."""

    def states(self, ids: TokenIds, mask: TokenIds) -> Vectors:
        """The last hidden state of every token, (texts, tokens, dimension), from two arrays (texts, tokens).

        `mask` is 1 for a token and 0 for padding.
        """
        ...
