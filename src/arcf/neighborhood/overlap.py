"""Lexical overlap: the share of terms that two texts have in common, |A and B| / sqrt(|A| |B|) (Ochiai)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arcf.neighborhood.rows import Floats, TermRows, unit
from arcf.neighborhood.terms import TermCounts


@dataclass(frozen=True)
class Overlap:
    """Every distinct term weighs the same."""

    symmetric: ClassVar[bool] = True
    limit: ClassVar[float] = 1.0

    def terms(self, counts: TermCounts) -> Floats:
        """One for every term."""
        return np.ones(len(counts.vocabulary))

    def facts(self, counts: TermCounts, terms: Floats) -> TermRows:
        """Unit rows of equal values."""
        return counts.rows.with_values(terms[counts.rows.terms]).at_unit_length()

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """A unit vector of equal values."""
        del frequency
        return unit(terms)
