"""Term counts of a corpus: the vocabulary, and one sparse row of counts per text."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from arcf.neighborhood.base import State
from arcf.neighborhood.text import Analyzer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TermCounts:
    """How often each term occurs in each fact, and in how many texts it occurs at all.

    `document_frequency` counts facts and, where given, the texts of training questions: words that are common in
    questions ("best", "following") say little about an explanation.
    """

    vocabulary: tuple[str, ...]
    counts: csr_array  # (facts, terms)
    document_frequency: NDArray[np.int64]  # (terms,)
    documents: int


@dataclass(frozen=True, eq=False)
class TermVector:
    """The known terms of one text, ascending, and a value for each."""

    terms: NDArray[np.int64]
    values: Floats


def count_terms(facts: Iterable[str], questions: Iterable[str], analyzer: Analyzer) -> TermCounts:
    """Count the terms of all facts. Terms are numbered by first appearance, facts first, then questions."""
    vocabulary: dict[str, int] = {}
    counts = _count_rows(facts, vocabulary, analyzer)
    known = len(vocabulary)
    asked = _count_rows(questions, vocabulary, analyzer)
    frequency = np.bincount(counts.indices, minlength=known) + np.bincount(asked.indices, minlength=known)[:known]
    return TermCounts(
        vocabulary=tuple(vocabulary)[:known],
        counts=counts,
        document_frequency=frequency.astype(np.int64),
        documents=counts.shape[0] + asked.shape[0],
    )


def _count_rows(texts: Iterable[str], vocabulary: dict[str, int], analyzer: Analyzer) -> csr_array:
    """One row of counts per text; terms new to the vocabulary are added to it.

    Term ids go into one flat buffer of 4 bytes each: an array of its own for every text would cost 100 bytes or more.
    """
    terms, starts = array("i"), array("q", [0])
    for text in texts:
        terms.extend([vocabulary.setdefault(term, len(vocabulary)) for term in analyzer.terms(text)])
        starts.append(len(terms))
    width = np.dtype(np.int32 if len(terms) <= np.iinfo(np.int32).max else np.int64)
    ones: Floats = np.ones(len(terms), dtype=np.float64)
    parts = ones, np.array(terms, dtype=width), np.array(starts, dtype=width)
    matrix = csr_array(parts, shape=(len(starts) - 1, len(vocabulary)))
    matrix.sum_duplicates()
    return matrix


def to_state(counts: TermCounts) -> State:
    """Term counts as plain arrays; the vocabulary is one line per term, in UTF-8."""
    return {
        "vocabulary": np.frombuffer("\n".join(counts.vocabulary).encode(), dtype=np.uint8),
        "data": counts.counts.data,
        "indices": counts.counts.indices,
        "indptr": counts.counts.indptr,
        "document_frequency": counts.document_frequency,
        "documents": np.array(counts.documents),
    }


def from_state(state: State) -> TermCounts:
    """Term counts from what `to_state` made of them."""
    text = state["vocabulary"].tobytes().decode()
    vocabulary = tuple(text.split("\n")) if text else ()
    shape = (len(state["indptr"]) - 1, len(vocabulary))
    return TermCounts(
        vocabulary=vocabulary,
        counts=csr_array((state["data"], state["indices"], state["indptr"]), shape=shape),
        document_frequency=state["document_frequency"],
        documents=int(state["documents"]),
    )
