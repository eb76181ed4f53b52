"""Rows of uneven length in one flat array: how tokens of facts, prefixes and batches are kept, without padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Row i is `tokens[offsets[i]:offsets[i + 1]]`. `digest`: what tells them from other rows, if that is known."""

    tokens: NDArray[np.int32]  # (all tokens,)
    offsets: NDArray[np.int64]  # (rows + 1,)
    digest: str | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> "Ragged":
        """Rows given one by one."""
        tokens = np.concatenate([np.asarray(row, dtype=np.int32) for row in rows]) if rows else np.empty(0, np.int32)
        return cls.flat(tokens, np.array([len(row) for row in rows], dtype=np.int64))

    @classmethod
    def flat(cls, tokens: NDArray[np.int32], lengths: NDArray[np.int64]) -> "Ragged":
        """Rows of these lengths, one after the other."""
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(tokens, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        start = row if row >= 0 else len(self) + row
        return self.tokens[self.offsets[start] : self.offsets[start + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each row."""
        return np.diff(self.offsets)

    def lengths_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these rows; looks at no others. -1 is the last one."""
        return _spans(rows, self.offsets)[1]

    @classmethod
    def concatenate(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The rows of all parts, in order."""
        lengths = [np.diff(part.offsets) for part in parts]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))]) if parts else np.zeros(1)
        tokens = np.concatenate([part.tokens for part in parts]) if parts else np.empty(0, np.int32)
        return cls(tokens, offsets.astype(np.int64))

    def between(self, first: int, last: int) -> "Ragged":
        """The same rows, each with a token before and a token after its own."""
        offsets = self.offsets + 2 * np.arange(len(self.offsets))
        tokens = np.empty(offsets[-1], dtype=np.int32)
        tokens[offsets[:-1]], tokens[offsets[1:] - 1] = first, last
        is_own = np.ones(len(tokens), dtype=bool)
        is_own[offsets[:-1]] = is_own[offsets[1:] - 1] = False
        tokens[is_own] = self.tokens
        return Ragged(tokens, offsets)

    def take(self, rows: NDArray[np.int64]) -> "Ragged":
        """These rows, in this order; as in numpy, a row may repeat and -1 is the last one."""
        places, offsets = places_of(rows, self.offsets)
        return Ragged(self.tokens[places], offsets)


def places_of(rows: NDArray[np.int64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the tokens of these rows are in the flat array, and the rows' offsets once they are taken from there."""
    starts, lengths = _spans(rows, offsets)
    taken = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=taken[1:])
    return within(lengths) + np.repeat(starts, lengths), taken


def _spans(rows: NDArray[np.int64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where these rows start, and their lengths."""
    starts = offsets[:-1][rows]
    return starts, offsets[1:][rows] - starts


def within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each token in its own row: 0, 1, .. of the first row, 0, 1, .. of the second, and so on."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
