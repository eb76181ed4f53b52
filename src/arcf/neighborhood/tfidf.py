"""tf-idf cosine, the paper's distance.

A term weighs tf * idf with idf = ln((1 + n) / (1 + df)) + 1 over n documents, df of which hold it; vectors have length
1 and the distance is 1 - cosine. Sublinear term frequency takes 1 + ln(tf) for tf.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arcf.neighborhood.rows import Floats, TermRows, unit
from arcf.neighborhood.terms import TermCounts


@dataclass(frozen=True)
class TfIdf:
    """Weights of tf-idf cosine similarity."""

    sublinear: bool = False
    symmetric: ClassVar[bool] = True
    limit: ClassVar[float] = 1.0

    def terms(self, counts: TermCounts) -> Floats:
        """The smoothed idf of every term."""
        return np.log((1 + counts.documents) / (1 + counts.document_frequency)) + 1.0

    def facts(self, counts: TermCounts, terms: Floats) -> TermRows:
        """Unit tf-idf rows."""
        rows = counts.rows
        return rows.with_values(self._tf(rows.values) * terms[rows.terms]).at_unit_length()

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """The unit tf-idf vector of a text's known terms."""
        return unit(self._tf(frequency) * terms)

    def _tf(self, frequency: Floats) -> Floats:
        return 1.0 + np.log(frequency) if self.sublinear else frequency
