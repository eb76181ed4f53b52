"""Lexical overlap: the share of terms that two texts have in common, |A and B| / sqrt(|A| |B|) (Ochiai)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from arcf.neighborhood.sparse import unit, unit_rows, with_data
from arcf.neighborhood.terms import Floats, TermCounts


@dataclass(frozen=True)
class Overlap:
    """Every distinct term weighs the same."""

    symmetric: ClassVar[bool] = True
    limit: ClassVar[float] = 1.0

    def terms(self, counts: TermCounts) -> Floats:
        """One for every term."""
        return np.ones(len(counts.vocabulary))

    def facts(self, counts: TermCounts, terms: Floats) -> csr_array:
        """Unit rows of equal values."""
        return unit_rows(with_data(counts.counts, terms[counts.counts.indices]))

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """A unit vector of equal values."""
        del frequency
        return unit(terms)
