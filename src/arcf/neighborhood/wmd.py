"""Word Mover's Distance (Kusner et al., 2015): what it costs to move the words of one text onto those of another.

With a and b the shares of the words in two texts and c_ij = |v_i - v_j| the distance between two words' unit vectors,

    d(a, b) = min_T sum_ij T_ij c_ij    with    sum_j T_ij = a_i,  sum_i T_ij = b_j,  T >= 0,

from 0 to 2. Stop words do not count. A word's vector is what the sentence encoder makes of the word alone. Vectors in
context were no better (share of gold within the question's 290 nearest facts, 100 questions of WorldTree: 0.768 alone,
0.759 in context, 0.760 for the encoder's input embeddings) and there is one per token of the corpus instead of one per
distinct word: twenty times the memory.

Searching solves few of these problems. The relaxed distance lets every word go to its nearest, which drops one of the
two constraints and so is never more than d; the larger of the two relaxations bounds d from below, for all facts in one
pass. Problems are solved in the order of their bounds until the next bound exceeds the k-th distance found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

import numpy as np

from arcf.errors import SettingError
from arcf.neighborhood.base import Distance, FactIds, State
from arcf.neighborhood.groups import Floats, Groups, group
from arcf.neighborhood.terms import count_terms
from arcf.neighborhood.text import Analyzer, stop_words, written
from arcf.neighborhood.transport import transport_cost
from arcf.pretrained.location import MINILM, model_stamp
from arcf.sentences import Encoder, Vectors, load_encoder
from arcf.types import Fact, Question, texts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: No two unit vectors are further apart; the distance of a text without words.
FARTHEST = 2.0

#: Distances are rounded to this many decimals, so that round-off (1e-14) breaks no tie and no symmetry.
DECIMALS = 9
ROUND_OFF = 1e-8

#: Goes up when other words are found in the same text.
WORDS = 2

#: Numbers that a bound holds at a time, about 32 MB.
BLOCK = 1 << 22


class WordAnalyzer(Analyzer):
    """The analyzer's words without its last step: a vector is wanted for the word, not for its stem."""

    def terms(self, text: str) -> list[str]:
        """The words of a text that are neither stop words nor numbers, in order."""
        return [word for word in written(text) if super(WordAnalyzer, self).terms(word)]


@dataclass(frozen=True, eq=False)
class MovedText:
    """A text to be moved: the share of each of its words, and how far each is from every word of the corpus."""

    shares: Floats  # (words,)
    costs: Floats  # (words, vocabulary)


class WmdDistance(Distance):
    """Word Mover's Distance over one bag of words per group of facts with the same words."""

    symmetric = True

    def __init__(
        self, recipe: "Wmd", vocabulary: Sequence[str], vectors: Vectors, bags: "csr_array", groups: Groups
    ) -> None:
        self.recipe = recipe
        self.vocabulary = tuple(vocabulary)
        self.vectors = vectors  # (vocabulary, dimension)
        self.bags = bags  # (groups, vocabulary): the share of every word
        self.groups = groups
        self._squares = np.einsum("wd,wd->w", vectors, vectors, dtype=np.float64)  # (vocabulary,): |v_j|^2
        self._word_ids = {word: number for number, word in enumerate(self.vocabulary)}
        self._analyzer = WordAnalyzer()

    @property
    def size(self) -> int:
        """The number of facts."""
        return len(self.groups.of_fact)

    def distances(self, text: str) -> Floats:
        """The distance of every fact, 2 for facts without words.

        Exact for the nearest (as many as the recipe says); a lower bound for the rest, which is above the exact ones.
        """
        source = self._source(text)
        if source is None:
            return np.full(self.size, FARTHEST)
        bounds = self._bounds(source)
        solved = self._solve(source, bounds, self.recipe.exact)
        return self.groups.spread(np.where(np.isfinite(solved), solved, bounds), FARTHEST)

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts among those with words, by exact distances; none for a source without words."""
        moved = self._source(source)
        if moved is None or k <= 0:
            return np.empty(0, dtype=np.int64)
        # One more, because a fact's own group may hold no other fact.
        return self.groups.nearest(self._solve(moved, self._bounds(moved), k + 1), source, k)

    def state(self) -> State:
        """Words, their vectors and the bags."""
        return {
            "vocabulary": np.frombuffer("\n".join(self.vocabulary).encode(), dtype=np.uint8),
            "vectors": self.vectors,
            "data": self.bags.data,
            "indices": self.bags.indices,
            "indptr": self.bags.indptr,
            "groups": self.groups.of_fact,
        }

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self.recipe.model, self.recipe.threads)

    def _source(self, source: str | int) -> MovedText | None:
        """The words of a text or of a fact; None if it has none, or nothing is there to be moved to."""
        if not len(self.groups.first):
            return None
        if isinstance(source, int):
            number = self.groups.of(source)
            if number is None:
                return None
            start, end = self.bags.indptr[number : number + 2]
            words = self.bags.indices[start:end].astype(np.int64)
            return MovedText(self.bags.data[start:end], self._costs(self.vectors[words], words))
        return self._text_source(source)

    def _text_source(self, text: str) -> MovedText | None:
        """As for a fact; words that the corpus does not have are encoded, and dropped if the model knows none of it."""
        words, counts = np.unique(np.array(self._analyzer.terms(text), dtype=np.str_), return_counts=True)
        ids = np.array([self._word_ids.get(word, -1) for word in words.tolist()], dtype=np.int64)
        vectors = self.vectors[ids]
        if (new := ids < 0).any():
            vectors[new] = self._encoder.encode(words[new].tolist())
        known = vectors.any(axis=1)
        if not known.any():
            return None
        counts, ids, vectors = counts[known], ids[known], vectors[known]
        # In the order of the vocabulary, as in a bag: the same words give the same sums.
        order = np.argsort(np.where(ids < 0, len(self.vocabulary), ids), kind="stable")
        return MovedText(counts[order] / counts.sum(), self._costs(vectors[order], ids[order]))

    def _costs(self, vectors: Vectors, ids: FactIds) -> Floats:
        """|v_i - v_j| = sqrt(|v_i|^2 + |v_j|^2 - 2 v_i . v_j), (words, vocabulary); exactly 0 for a word and itself.

        In float64 and with the true lengths, which are 1 only to the round-off of float32: near 0 the root would
        make 3e-4 of that.
        """
        left = vectors.astype(np.float64)
        costs = np.empty((len(vectors), len(self.vocabulary)))
        step = max(1, BLOCK // max(1, vectors.shape[1]))
        for start in range(0, len(self.vocabulary), step):
            right = self.vectors[start : start + step].astype(np.float64)
            costs[:, start : start + step] = self._squares[start : start + step] - 2.0 * left @ right.T
        costs += np.sum(left**2, axis=1)[:, None]
        costs = np.sqrt(np.maximum(costs, 0.0, out=costs), out=costs)
        known = np.flatnonzero(ids >= 0)
        costs[known, ids[known]] = 0.0
        return costs

    def _bounds(self, source: MovedText) -> Floats:
        """The larger of the two relaxed distances to every bag, (groups,)."""
        nearest = source.costs.min(axis=0)  # (vocabulary,): from each word of the corpus to the source's nearest
        bounds: Floats = self.bags @ nearest
        words_per_bag = max(1, self.bags.nnz // len(bounds))
        step = max(1, BLOCK // (words_per_bag * len(source.shares)))
        for start in range(0, len(bounds), step):
            *begins, end = self.bags.indptr[start : start + step + 1].tolist()
            costs = source.costs[:, self.bags.indices[begins[0] : end]]  # (words, words of these bags)
            there = source.shares @ np.minimum.reduceat(costs, np.array(begins) - begins[0], axis=1)
            np.maximum(bounds[start : start + step], there, out=bounds[start : start + step])
        return bounds

    def _solve(self, source: MovedText, bounds: Floats, k: int) -> Floats:
        """The exact distance of at least the k nearest bags, and of all bags that tie with the last; else infinite."""
        solved = np.full(len(bounds), np.inf)
        kept: list[float] = []  # a heap of the k smallest, negated: the largest of them comes first
        for number in np.argsort(bounds, kind="stable").tolist():
            if len(kept) == k and bounds[number] > ROUND_OFF - kept[0]:
                break
            solved[number] = self._cost(source, number, bounds[number])
            if len(kept) < k:
                heappush(kept, -solved[number])
            else:
                heappushpop(kept, -solved[number])
        return solved

    def _cost(self, source: MovedText, number: int, bound: float) -> float:
        start, end = self.bags.indptr[number : number + 2]
        if len(source.shares) == 1 or end - start == 1:
            return round(bound, DECIMALS)  # with one word on a side there is one way to move, and the bound is its cost
        costs = source.costs[:, self.bags.indices[start:end]]
        return round(transport_cost(source.shares, self.bags.data[start:end], costs), DECIMALS)


@dataclass(frozen=True)
class Wmd:
    """The recipe of Word Mover's Distance.

    `model` is a folder or a name on the Hugging Face hub. `exact` is for how many of the nearest facts `distances`
    solves the transport problem (50 microseconds each); `nearest` is always exact. `threads` are those of the encoder,
    which change no vector.
    """

    model: str = MINILM
    exact: int = 1_000
    threads: int | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.exact < 1:
            raise SettingError(f"Word Mover's Distance is exact for at least 1 fact, not {self.exact}.")

    def identity(self) -> str:
        """The settings, the words that are told apart, and the model's files as they are now."""
        return f"{self!r} {model_stamp(self.model)} {WORDS} {sorted(stop_words())}"

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> WmdDistance:
        """Encode every distinct word of the facts once. Questions teach it nothing."""
        from scipy.sparse import csr_array

        del questions
        counted = count_terms(texts_of(facts), WordAnalyzer())
        if not counted.vocabulary:
            return WmdDistance(
                self, (), np.empty((0, 0), dtype=np.float32), csr_array((0, 0)), group(None for _ in facts)
            )
        vectors = load_encoder(self.model, self.threads).encode(counted.vocabulary)
        known = np.flatnonzero(vectors.any(axis=1))
        counts = csr_array(counted.rows.csr()[:, known])
        groups = group(_row_keys(counts))
        bags = csr_array(counts[groups.first])
        bags.data = bags.data / np.repeat(np.asarray(bags.sum(axis=1)), np.diff(bags.indptr))
        return WmdDistance(self, [counted.vocabulary[word] for word in known.tolist()], vectors[known], bags, groups)

    def restore(self, state: State) -> WmdDistance:
        """Take words, vectors and bags as they are; only new words will need the model."""
        from scipy.sparse import csr_array

        text = state["vocabulary"].tobytes().decode()
        vocabulary = text.split("\n") if text else []
        shape = (len(state["indptr"]) - 1, len(vocabulary))
        bags = csr_array((state["data"], state["indices"], state["indptr"]), shape=shape)
        return WmdDistance(self, vocabulary, state["vectors"], bags, Groups(state["groups"]))


def _row_keys(counts: "csr_array") -> list[bytes | None]:
    """The same key for the same words at the same shares; None for a row without words."""
    counts.sort_indices()
    ends = zip(counts.indptr[:-1].tolist(), counts.indptr[1:].tolist(), strict=True)
    return [
        counts.indices[start:end].tobytes() + (counts.data[start:end] / counts.data[start:end].sum()).tobytes()
        if end > start
        else None
        for start, end in ends
    ]
