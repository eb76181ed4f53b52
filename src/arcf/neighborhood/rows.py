"""Sparse rows as plain arrays: one row of values per fact, each of a term.

The same as scipy's csr_array, which is what they are built with. But they are used without it: importing scipy takes
longer than mapping the terms of a million facts.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TermVector:
    """The known terms of one text, ascending, and a value for each."""

    terms: NDArray[np.int64]
    values: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TermRows:
    """Row i has the terms `terms[starts[i]:starts[i + 1]]`, ascending, of `width` terms in all, and their `values`."""

    values: Floats
    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> TermVector:
        own = slice(self.starts[row], self.starts[row + 1])
        return TermVector(self.terms[own].astype(np.int64), self.values[own])

    @property
    def row_of(self) -> NDArray[np.int64]:
        """The row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.values.nbytes + self.terms.nbytes + self.starts.nbytes

    def with_values(self, values: Floats) -> "TermRows":
        """The same terms with other values."""
        return TermRows(values, self.terms, self.starts, self.width)

    def at_unit_length(self) -> "TermRows":
        """The same rows at Euclidean length 1; empty rows stay empty."""
        rows = self.row_of
        length = np.sqrt(np.bincount(rows, weights=self.values**2, minlength=len(self)))
        return self.with_values(self.values / length[rows])

    def dot(self, rows: NDArray[np.int64], query: Floats) -> Floats:
        """The dot product of some rows with a dense vector, (width,) -> (rows,); looks at no other row."""
        first = self.starts[rows]
        lengths = self.starts[rows + 1] - first
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + lengths, lengths)
        products = self.values[places] * query[self.terms[places]]
        row_of = np.repeat(np.arange(len(rows)), lengths)
        return np.bincount(row_of, weights=products, minlength=len(rows)).astype(np.float64)  # Integers, if of nothing.

    def csr(self) -> "csr_array":
        """The rows as scipy's matrix, (rows, terms)."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.terms, self.starts), shape=(len(self), self.width))


def unit(values: Floats) -> Floats:
    """A vector at Euclidean length 1; an empty one stays empty."""
    return values / np.sqrt(np.sum(values**2)) if len(values) else values
