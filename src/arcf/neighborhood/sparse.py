"""Lexical distances: sparse vectors of terms, searched through an inverted index.

The facts' vectors are kept twice, by fact and by term. A search adds up the postings of the source's own terms and
looks at no other fact, so its cost grows with how common those terms are, not with the corpus. Nothing is N x N.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import local
from typing import TYPE_CHECKING, Protocol

import numpy as np

from arcf.errors import SettingError
from arcf.kept.texts import PackedTexts, Places
from arcf.neighborhood.base import Distance, FactIds, State
from arcf.neighborhood.rows import Floats, TermRows, TermVector
from arcf.neighborhood.terms import TermCounts, count_terms
from arcf.neighborhood.text import Analyzer, analyzer, stop_words
from arcf.progress import tracked
from arcf.types import Fact, Question, texts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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

    def facts(self, counts: TermCounts, terms: Floats) -> TermRows:
        """The vector of every fact."""
        ...

    def query(self, frequency: Floats, terms: Floats) -> Floats:
        """The values of a text's terms, from how often each occurs in it and what it weighs in itself."""
        ...


class SparseDistance(Distance):
    """The distance `limit` - similarity over sparse term vectors, from the arrays that `index_terms` makes.

    They may be mapped from disk: a search looks at the rows and postings of its own terms only.
    """

    def __init__(self, state: State, weighting: Weighting, analyzer: Analyzer) -> None:
        self.weighting = weighting
        self.analyzer = analyzer
        self.symmetric = weighting.symmetric
        self.limit = weighting.limit
        self.vocabulary = PackedTexts.of_arrays(state, "vocabulary")
        self.term_weights: Floats = state["term_weights"]
        self.rows = TermRows(state["values"], state["terms"], state["starts"], len(self.vocabulary))
        self._state = state
        self._counts = state["counts"]
        self._starts, self._weights = state["posting_starts"], state["posting_values"]
        self._facts: FactIds = state["posting_facts"]
        self._term_ids = Places.of_arrays(self.vocabulary, state, "vocabulary")
        self._workspace = local()

    @property
    def size(self) -> int:
        """The number of facts."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The size of the index's arrays."""
        return sum(array.nbytes for array in self._state.values())

    @cached_property
    def vectors(self) -> "csr_array":
        """The vectors of all facts as scipy's matrix, for those who multiply all of them: (facts, terms)."""
        return self.rows.csr()

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
            found = [self._term_ids.get(term) for term in self.analyzer.terms(source)]
            known = np.array([term for term in found if term is not None], dtype=np.int64)
            terms, occurrences = np.unique(known, return_counts=True)
            return TermVector(terms, self.weighting.query(occurrences.astype(np.float64), self.term_weights[terms]))
        if not 0 <= source < self.size:
            raise SettingError(f"There is no fact {source}: the corpus has {self.size} facts, numbered from 0.")
        row = self.rows[source]
        if self.symmetric:
            return row
        counts = self._counts[self.rows.starts[source] : self.rows.starts[source + 1]].astype(np.float64)
        return TermVector(row.terms, self.weighting.query(counts, self.term_weights[row.terms]))

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
        row = self.rows[fact]
        query[row.terms] = np.maximum(query[row.terms], weight * row.values)

    def state(self) -> State:
        """All arrays."""
        return self._state

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
        return self.weigh(self.count(facts), questions)

    def count(self, facts: Sequence[Fact]) -> TermCounts:
        """Count the corpus's terms: nearly all of the work, and the same whatever they weigh."""
        texts = (f"{fact.text} {fact.core}" for fact in facts) if self.core_twice else iter(texts_of(facts))
        return count_terms(tracked(texts, "counting words", len(facts)), analyzer())

    def weigh(self, counts: TermCounts, questions: Sequence[Question]) -> SparseDistance:
        """Weigh terms that were counted."""
        asked = counts.with_questions((question.text for question in questions), analyzer()) if questions else counts
        return SparseDistance(index_terms(asked, self.weighting), self.weighting, analyzer())

    def restore(self, state: State) -> SparseDistance:
        """Take terms as they were weighed before."""
        return SparseDistance(state, self.weighting, analyzer())


def index_terms(counts: TermCounts, weighting: Weighting) -> State:
    """The facts' vectors, by fact and by term, as plain arrays."""
    weights = weighting.terms(counts)
    rows = weighting.facts(counts, weights)
    order = np.argsort(rows.terms, kind="stable")  # By term, and then by fact.
    starts = np.zeros(rows.width + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows.terms, minlength=rows.width), out=starts[1:])
    return {
        **counts.vocabulary.arrays("vocabulary"),
        **Places.of(counts.vocabulary).arrays("vocabulary"),
        "term_weights": weights,
        "counts": counts.rows.values.astype(np.int32),
        "values": rows.values,
        "terms": rows.terms,
        "starts": rows.starts,
        "posting_starts": starts,
        # numpy's own index type, to which it would convert any other at every search: a fifth faster.
        "posting_facts": rows.row_of[order],
        "posting_values": rows.values[order],
    }


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
