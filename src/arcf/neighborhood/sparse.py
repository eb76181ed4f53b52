"""Lexical distances: sparse vectors of terms, searched through an inverted index.

The facts' vectors are kept twice, by fact and by term. A search adds up the postings of the source's own terms and
looks at no other fact, so its cost grows with how common those terms are, not with the corpus. Nothing is N x N.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import local
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, csr_array

from arcf.errors import SettingError
from arcf.neighborhood.base import Distance, FactIds, State
from arcf.neighborhood.terms import Floats, TermCounts, TermVector, count_terms, from_state, to_state
from arcf.neighborhood.text import Analyzer, stop_words
from arcf.types import Fact, Question


class Weighting(Protocol):
    """How term counts become vectors whose dot product is the similarity of a fact to a text. All values are positive.

    The distance is `limit` - similarity.
    """

    @property
    def symmetric(self) -> bool:
        """Whether a fact that is searched for weighs its terms as a fact that is found."""
        ...

    @property
    def limit(self) -> float:
        """The largest similarity that can be: 1 for cosines; 0 where there is no largest."""
        ...

    def terms(self, counts: TermCounts) -> Floats:
        """What each term weighs in itself, such as its idf."""
        ...

    def facts(self, counts: TermCounts, terms: Floats) -> csr_array:
        """The vector of every fact, (facts, terms)."""
        ...

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """The values of a text's terms, from how often each occurs in it and what it weighs in itself."""
        ...


class SparseDistance(Distance):
    """The distance `limit` - similarity over sparse term vectors."""

    def __init__(self, counts: TermCounts, weighting: Weighting, analyzer: Analyzer) -> None:
        self.counts = counts
        self.weighting = weighting
        self.analyzer = analyzer
        self.symmetric = weighting.symmetric
        self.limit = weighting.limit
        self.term_weights = weighting.terms(counts)
        self.vectors = weighting.facts(counts, self.term_weights)
        postings: csc_array = self.vectors.tocsc()
        self._starts, self._weights = postings.indptr, postings.data
        # numpy's own index type, to which it would convert any other at every search: a fifth faster.
        self._facts: FactIds = postings.indices.astype(np.int64)
        self._term_ids: Mapping[str, int] = {term: index for index, term in enumerate(counts.vocabulary)}
        self._workspace = local()

    @property
    def size(self) -> int:
        """The number of facts."""
        return int(self.vectors.shape[0])

    @property
    def nbytes(self) -> int:
        """The size of the index's arrays; counts and vectors share where their values stand."""
        counts = self.counts.counts
        held = [counts.data, counts.indices, counts.indptr, self.vectors.data, self.term_weights]
        held += [self._facts, self._starts, self._weights, self.counts.document_frequency]
        return sum(array.nbytes for array in held)

    def distances(self, text: str) -> Floats:
        """The distance of every fact; `limit` for those that share no term."""
        similarity = np.zeros(self.size)
        self._accumulate(self.vector(text), similarity)
        return self.limit - similarity

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts among those that share a term with the source."""
        vector = self.vector(source)
        similarity = self._take_accumulator()
        touched = self._accumulate(vector, similarity)
        values = similarity[touched]
        similarity[touched] = 0.0
        self._workspace.similarity = similarity
        if not isinstance(source, str):
            others = touched != source
            values, touched = values[others], touched[others]
        return _largest(values, touched, k)

    def vector(self, source: str | int) -> TermVector:
        """The weighted terms of a text or of a fact."""
        if isinstance(source, str):
            known = [self._term_ids[term] for term in self.analyzer.terms(source) if term in self._term_ids]
            terms, occurrences = np.unique(np.array(known, dtype=np.int64), return_counts=True)
            return TermVector(terms, self.weighting.query(occurrences.astype(np.float64), self.term_weights[terms]))
        if not 0 <= source < self.size:
            raise SettingError(f"There is no fact {source}: the corpus has {self.size} facts, numbered from 0.")
        row = slice(*self.vectors.indptr[source : source + 2])
        terms = self.vectors.indices[row].astype(np.int64)
        if self.symmetric:
            return TermVector(terms, self.vectors.data[row])
        return TermVector(terms, self.weighting.query(self.counts.counts.data[row], self.term_weights[terms]))

    def term_weight(self, term: str) -> float:
        """What the weighting gives a term in itself; one that no fact has weighs as much as the rarest."""
        known = self._term_ids.get(term)
        return float(self.term_weights.max(initial=0.0) if known is None else self.term_weights[known])

    def dense(self, text: str) -> Floats:
        """The vector of a text with a place for every term: (terms,)."""
        vector = self.vector(text)
        query = np.zeros(len(self.term_weights))
        query[vector.terms] = vector.values
        return query

    def widen(self, query: Floats, fact: int, weight: float) -> None:
        """Let a fact's terms join a dense vector, in place: a term's value is the larger one, not the sum."""
        row = slice(*self.vectors.indptr[fact : fact + 2])
        terms = self.vectors.indices[row]
        query[terms] = np.maximum(query[terms], weight * self.vectors.data[row])

    def state(self) -> State:
        """The term counts; the weights follow from them in no time."""
        return to_state(self.counts)

    def _accumulate(self, vector: TermVector, similarity: Floats) -> FactIds:
        """Add the dot products into `similarity` (zero where untouched); the touched facts, each once.

        Terms are added in ascending order, and a fact that is searched for has the very values that it is found by:
        facts with equal texts get bit-equal sums, and a symmetric weighting bit-equal distances in both directions.
        """
        touched = [np.empty(0, dtype=np.int64)]
        for term, value in zip(vector.terms.tolist(), vector.values.tolist(), strict=True):
            rows = slice(self._starts[term], self._starts[term + 1])
            posting = self._facts[rows]
            before = similarity[posting]
            touched.append(posting[before == 0.0])
            similarity[posting] = before + value * self._weights[rows]
        return np.concatenate(touched)

    def _take_accumulator(self) -> Floats:
        """This thread's row of zeros: reused, because a fresh one for every search would touch the whole corpus.

        It is taken away while in use, so that a search that is interrupted halfway leaves nothing dirty behind.
        """
        taken: Floats | None = self._workspace.__dict__.pop("similarity", None)
        return np.zeros(self.size) if taken is None else taken


@dataclass(frozen=True)
class Lexical:
    """The recipe of a lexical distance. Training questions only add to how common a term is.

    `core_twice` counts the words of a fact that are not filler twice.
    """

    weighting: Weighting
    core_twice: bool = False

    def identity(self) -> str:
        """The settings, and the stop words."""
        return f"{self!r} {sorted(stop_words())}"

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> SparseDistance:
        """Count the corpus's terms and weigh them."""
        analyzer = Analyzer()
        texts = (f"{fact.text} {fact.core}" if self.core_twice else fact.text for fact in facts)
        counts = count_terms(texts, (question.text for question in questions), analyzer)
        return SparseDistance(counts, self.weighting, analyzer)

    def restore(self, state: State) -> SparseDistance:
        """Weigh terms that were counted before."""
        return SparseDistance(from_state(state), self.weighting, Analyzer())


def with_data(matrix: csr_array, data: Floats) -> csr_array:
    """The same sparsity with other values."""
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def unit_rows(matrix: csr_array) -> csr_array:
    """The same rows at Euclidean length 1; empty rows stay empty."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    length = np.sqrt(np.bincount(rows, weights=matrix.data**2, minlength=matrix.shape[0]))
    return with_data(matrix, matrix.data / length[rows])


def unit(values: Floats) -> Floats:
    """A vector at Euclidean length 1; an empty one stays empty."""
    return values / np.sqrt(np.sum(values**2)) if len(values) else values


def _largest(values: Floats, facts: FactIds, k: int) -> FactIds:
    """The k facts of the largest values, descending; equal values by fact. Facts may come in any order.

    Linear in the number of facts: only what is above the k-th value is sorted, and on its level only what is kept.
    """
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    if k < len(values):
        bound = np.partition(values, -k)[-k]
        above, level = np.flatnonzero(values > bound), np.flatnonzero(values == bound)
        missing = k - len(above)
        if missing < len(level):
            level = level[np.argpartition(facts[level], missing - 1)[:missing]]
        inside = np.concatenate([above, level])
        values, facts = values[inside], facts[inside]
    return facts[np.lexsort((facts, -values))]
