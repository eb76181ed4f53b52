"""Top-k search over dense vectors: the exact one, and how well another does beside it."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood.base import smallest
from arcf.sentences.base import Vectors

#: Similarities that are held at a time, about 64 MB: queries are answered in blocks, and nothing is ever N x N.
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The rows found for every query, most similar first, and their dot products with it, (queries, k)."""

    rows: NDArray[np.int64]
    similarities: Vectors


class Index(Protocol):
    """Finds the rows with the largest dot product."""

    def search(self, queries: Vectors, k: int) -> Matches:
        """The k rows nearest to every query, or all where there are fewer."""
        ...


class Exact:
    """Compares every query with every row."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors  # (rows, dimension)

    def search(self, queries: Vectors, k: int) -> Matches:
        """The k rows nearest to every query; equal similarities by row."""
        k = max(0, min(k, len(self.vectors)))
        rows = np.empty((len(queries), k), dtype=np.int64)
        similarities = np.empty((len(queries), k), dtype=np.float32)
        step = max(1, BLOCK // max(1, len(self.vectors)))
        for start in range(0, len(queries), step):
            block = queries[start : start + step] @ self.vectors.T  # (step, rows)
            for row, values in enumerate(block, start):
                rows[row] = smallest(-values, k)
                similarities[row] = values[rows[row]]
        return Matches(rows, similarities)


def recall(index: Index, vectors: Vectors, queries: Vectors, k: int) -> float:
    """recall@k: the mean share of the exact k nearest rows that an index finds, 0 to 1."""
    if not len(queries) or not len(vectors) or k <= 0:
        return 1.0
    truth, found = Exact(vectors).search(queries, k).rows, index.search(queries, k).rows
    return float(np.mean([np.isin(wanted, got).mean() for wanted, got in zip(truth, found, strict=True)]))
