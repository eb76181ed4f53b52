"""Where attention finds its rows: the bridge between flat tokens and the dense blocks that attention multiplies.

Linear layers see tokens as one flat run. Attention multiplies per head, per prefix and per sequence; a plan says, once
per batch and for all layers, which flat rows go where.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcf.scorer.relative import relative_buckets


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Sequences of similar length that share a prefix (or have none): the unit of attention."""

    count: int  # sequences, C
    query_length: int  # queries of each sequence, Q: its length L, or 1 if only its first token asks
    length: int  # keys of each sequence, L
    query_rows: slice  # of the gathered queries: heads * C * Q rows
    key_rows: slice  # of the gathered keys: heads * C * L rows
    prefix: slice | None  # of the flat prefix tokens, P
    padding: Tensor | None  # (C, 1, L), True where a key is padding
    buckets: Tensor | None  # (Q, P + L), of every key's position relative to every query's; None without a bias


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A gather of flat (token, head) rows into blocks, and back.

    Block rows are ordered head, sequence, token. Padding repeats the sequence's last token; it is never gathered back.
    """

    index: Tensor  # (block rows,) -> flat row
    inverse: Tensor  # (flat rows,) -> block row
    padding: Tensor  # (padding rows,) of the block rows


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Attention of one batch: the same for all layers.

    `bias` is what a relative position adds to the scores of each head, (buckets, heads), in models that have that.
    `joined` is the number of leading rows that are the prefixes of the sequences after them, in the same flat run; 0 if
    prefixes come from elsewhere, or there are none.
    """

    heads: int
    blocks: tuple[Block, ...]
    queries: Rows
    keys: Rows
    bias: Tensor | None = None
    joined: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Flat sequences, and the flat prefixes that they see.

    Sequence i is rows `offsets[i]:offsets[i + 1]`. With prefixes, the first `counts[0]` sequences see rows
    `prefix_offsets[0]:prefix_offsets[1]` of the prefix tokens, and so on. In a `joined` layout prefixes and sequences
    are one flat run: its first sequences are the prefixes themselves.
    """

    offsets: NDArray[np.int64]
    prefix_offsets: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None
    joined: bool = False

    @property
    def first(self) -> int:
        """The first sequence that is not a prefix of others."""
        return len(self.counts) if self.joined and self.counts is not None else 0

    def groups(self) -> Iterator[tuple[NDArray[np.int64], slice | None]]:
        """Sequences of one block, and the rows of their prefix; joined prefixes themselves come first."""
        lengths = np.diff(self.offsets)
        if self.prefix_offsets is None or self.counts is None:
            yield from ((group, None) for group in bucket(lengths))
            return
        first = self.first
        if first:
            yield from ((group, None) for group in bucket(lengths[:first]))
        for number, count in enumerate(self.counts.tolist()):
            rows = slice(int(self.prefix_offsets[number]), int(self.prefix_offsets[number + 1]))
            yield from ((group + first, rows) for group in bucket(lengths[first : first + count]))
            first += count


def make_plan(
    layout: Layout, heads: int, device: torch.device, bias: Tensor | None = None, *, first_only: bool = False
) -> Plan:
    """The plan of a batch; with `first_only`, only the first token of each sequence asks (it is what is read out)."""
    starts, lengths = layout.offsets[:-1], np.diff(layout.offsets)
    keys = _Gather(heads, int(layout.offsets[-1]))
    queries = _Gather(heads, len(starts)) if first_only else keys
    blocks = []
    for group, prefix in layout.groups():
        key_rows, padding = keys.add(starts[group], lengths[group])
        query_rows = queries.add(group, np.ones_like(group))[0] if first_only else key_rows
        longest = padding.shape[1]
        asking = 1 if first_only else longest
        mask = torch.from_numpy(padding[:, None]).to(device) if padding.any() else None
        buckets = None if bias is None else _buckets(prefix, asking, longest).to(device)
        blocks.append(Block(len(group), asking, longest, query_rows, key_rows, prefix, mask, buckets))
    key_gather = keys.rows(device)
    query_gather = queries.rows(device) if first_only else key_gather
    return Plan(heads, tuple(blocks), query_gather, key_gather, bias, int(layout.offsets[layout.first]))


def _buckets(prefix: slice | None, queries: int, keys: int) -> Tensor:
    """Of the keys of a prefix and of a sequence, which stands after it: (Q, P + L)."""
    start = prefix.stop - prefix.start if prefix else 0
    return torch.from_numpy(relative_buckets(np.arange(start, start + queries), np.arange(start + keys)))


class _Gather:
    """Collects the rows of one block after the other."""

    def __init__(self, heads: int, tokens: int) -> None:
        self._heads = np.arange(heads)[:, None]  # (heads, 1)
        self._index: list[NDArray[np.int64]] = []
        self._padding: list[NDArray[np.int64]] = []
        self._inverse = np.zeros(tokens * heads, dtype=np.int64)
        self._end = 0

    def add(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[slice, NDArray[np.bool_]]:
        """Append a block of sequences; gives its rows and which of its (sequence, token) places are padding."""
        place = np.arange(lengths.max())
        padding = place >= lengths[:, None]  # (C, L)
        tokens = starts[:, None] + np.minimum(place, lengths[:, None] - 1)  # (C, L)
        index = (tokens.reshape(-1) * len(self._heads) + self._heads).reshape(-1)  # (heads * C * L,)
        rows = np.arange(self._end, self._end + len(index))
        is_padding = np.tile(padding.reshape(-1), len(self._heads))
        self._inverse[index[~is_padding]] = rows[~is_padding]
        self._index.append(index)
        self._padding.append(rows[is_padding])
        self._end += len(index)
        return slice(self._end - len(index), self._end), padding

    def rows(self, device: torch.device) -> Rows:
        """All blocks added so far."""
        arrays = (np.concatenate(self._index), self._inverse, np.concatenate(self._padding))
        return Rows(*(torch.from_numpy(array).to(device) for array in arrays))


def bucket(lengths: NDArray[np.int64], slack: float = 0.2) -> list[NDArray[np.int64]]:
    """Indices of sequences, in groups whose shortest is at most `slack` shorter than their longest.

    A little padding is cheaper than many small matrix products. Groups come longest first; equal lengths keep their
    order.
    """
    order = np.argsort(-lengths, kind="stable")
    groups = []
    start = 0
    while start < len(order):
        shortest = int(lengths[order[start]] * (1 - slack))
        end = int(np.searchsorted(-lengths[order], -shortest, side="right"))
        groups.append(order[start:end])
        start = end
    return groups
