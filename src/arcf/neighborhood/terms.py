"""Term counts of a corpus: the vocabulary, and one sparse row of counts per text."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.kept.texts import PackedTexts
from arcf.neighborhood.base import State
from arcf.neighborhood.rows import TermRows
from arcf.neighborhood.text import Analyzer


@dataclass(frozen=True, eq=False)
class TermCounts:
    """How often each term occurs in each fact, and in how many texts it occurs at all.

    `document_frequency` counts facts and, where given, the texts of training questions: words that are common in
    questions ("best", "following") say little about an explanation.
    """

    vocabulary: PackedTexts
    rows: TermRows  # (facts, terms)
    document_frequency: NDArray[np.int64]  # (terms,)
    documents: int

    def with_questions(self, texts: Iterable[str], analyzer: Analyzer) -> "TermCounts":
        """The same, with other texts counted among those that a term occurs in. They add no terms."""
        vocabulary = {term: number for number, term in enumerate(self.vocabulary)}
        known = len(vocabulary)
        asked = _count_rows(texts, vocabulary, analyzer)
        frequency = self.document_frequency + np.bincount(asked.terms, minlength=known)[:known]
        return TermCounts(self.vocabulary, self.rows, frequency, self.documents + len(asked))

    def state(self) -> State:
        """Term counts as plain arrays."""
        return {
            **self.vocabulary.arrays("vocabulary"),
            "counts": self.rows.values,
            "terms": self.rows.terms,
            "starts": self.rows.starts,
            "document_frequency": self.document_frequency,
            "documents": np.array(self.documents),
        }

    @classmethod
    def restore(cls, state: State) -> "TermCounts":
        """Term counts from what `state` made of them."""
        vocabulary = PackedTexts.of_arrays(state, "vocabulary")
        rows = TermRows(state["counts"], state["terms"], state["starts"], len(vocabulary))
        return cls(vocabulary, rows, state["document_frequency"], int(state["documents"]))


def count_terms(texts: Iterable[str], analyzer: Analyzer) -> TermCounts:
    """Count the terms of all facts. Terms are numbered by first appearance."""
    vocabulary: dict[str, int] = {}
    rows = _count_rows(texts, vocabulary, analyzer)
    frequency = np.bincount(rows.terms, minlength=len(vocabulary))
    return TermCounts(PackedTexts.of(vocabulary), rows, frequency, len(rows))


def _count_rows(texts: Iterable[str], vocabulary: dict[str, int], analyzer: Analyzer) -> TermRows:
    """One row of counts per text; terms new to the vocabulary are added to it.

    Term ids go into one flat buffer of 4 bytes each: an array of its own for every text would cost 100 bytes or more.
    """
    from scipy.sparse import csr_array

    terms, starts = array("i"), array("q", [0])
    for text in texts:
        terms.extend([vocabulary.setdefault(term, len(vocabulary)) for term in analyzer.terms(text)])
        starts.append(len(terms))
    width = np.dtype(np.int32 if len(terms) <= np.iinfo(np.int32).max else np.int64)
    ones = np.ones(len(terms), dtype=np.float64)
    parts = ones, np.array(terms, dtype=width), np.array(starts, dtype=width)
    matrix = csr_array(parts, shape=(len(starts) - 1, len(vocabulary)))
    matrix.sum_duplicates()
    return TermRows(matrix.data, matrix.indices, matrix.indptr.astype(np.int64), len(vocabulary))
