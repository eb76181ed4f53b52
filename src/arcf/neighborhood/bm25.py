"""BM25 (Robertson and Zaragoza), as published, and a variant with its term weights at unit length.

A term of a fact weighs idf * (k1 + 1) tf / (tf + k1 (1 - b + b length / mean length)) with
idf = ln(1 + (n - df + 0.5) / (df + 0.5)); the score of a fact is the sum over the query's terms.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arcf.errors import SettingError
from arcf.neighborhood.rows import Floats, TermRows, unit
from arcf.neighborhood.terms import TermCounts


@dataclass(frozen=True)
class Bm25:
    """Weights of BM25. `k1` bounds what repetition adds, `b` is how much long facts are penalised (0 to 1)."""

    k1: float = 1.2
    b: float = 0.75
    symmetric: ClassVar[bool] = False
    limit: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise SettingError(f"BM25 takes k1 >= 0 and b from 0 to 1, not k1 = {self.k1} and b = {self.b}.")

    def terms(self, counts: TermCounts) -> Floats:
        """The idf of every term, which is never negative."""
        return np.log1p((counts.documents - counts.document_frequency + 0.5) / (counts.document_frequency + 0.5))

    def facts(self, counts: TermCounts, terms: Floats) -> TermRows:
        """The BM25 weight of every term in every fact."""
        rows = counts.rows
        length = np.bincount(rows.row_of, weights=rows.values, minlength=len(rows))
        relative = length / length.mean() if len(length) and length.any() else length
        penalty = (1.0 - self.b + self.b * relative)[rows.row_of]
        saturated = rows.values * (self.k1 + 1) / (rows.values + self.k1 * penalty)
        return rows.with_values(terms[rows.terms] * saturated)

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """A term counts as often as it occurs."""
        del terms
        return frequency


@dataclass(frozen=True)
class Bm25Cosine:
    """BM25's saturated tf * idf, compared as cosines.

    Facts are single sentences: unit length fits them better than BM25's linear penalty. A query's term counts once,
    however often a story repeats it, and weighs its idf as the fact's does.
    """

    k1: float = 0.8
    symmetric: ClassVar[bool] = False
    limit: ClassVar[float] = 1.0

    def terms(self, counts: TermCounts) -> Floats:
        """BM25's idf."""
        return Bm25(self.k1, b=0.0).terms(counts)

    def facts(self, counts: TermCounts, terms: Floats) -> TermRows:
        """BM25 rows at unit length."""
        return Bm25(self.k1, b=0.0).facts(counts, terms).at_unit_length()

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """A unit vector of idf values."""
        del frequency
        return unit(terms)
