"""Priors: what is known of a candidate before the model says anything.

A model that is trained with a prior scores f_theta + weight * similarity. It need not learn from a few thousand
questions what is known already, only what is not, and it cannot unlearn it. A prior is computed from the texts of the
corpus in hand: it needs no training, and moves to other corpora with the model. There are two: the words that texts
share, here, and the vectors of the encoder as it was before training, in `dense_prior`.
"""

from collections.abc import Sequence
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from arcf.kept.facts import TextFacts
from arcf.neighborhood import Bm25Cosine, Lexical, SparseDistance
from arcf.neighborhood.store import load_or_build
from arcf.scorer.base import STOP, LoadedScorer, Prefix
from arcf.scorer.settings import ScorerSettings
from arcf.types import ANSWER_MARK

CHOSEN_WEIGHT = 0.45
"""What a word of a chosen fact weighs beside one of the question. Chosen on training questions of WorldTree 2020."""


class Prior(Protocol):
    """Scores candidates without the model."""

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same prior of other facts."""
        ...

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        ...

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of many facts, or 0 for all of them where that would take long."""
        ...


class LexicalPrior:
    """Scores candidates by the words that they share with the question and the chosen facts.

    Similarities are BM25 cosines; a word weighs what the question or a chosen fact gives it, whichever is more. The
    stop sample has no words, and the score 0.
    """

    def __init__(self, facts: Sequence[str], weight: float) -> None:
        self.weight = weight
        distance = load_or_build(Lexical(Bm25Cosine()), TextFacts(facts), ())
        self._distance = cast("SparseDistance", distance)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same prior of other facts, computed from their words."""
        return type(self)(facts, self.weight)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        distance = self._distance
        query = distance.dense(prefix.query.replace(ANSWER_MARK, " "))
        for fact in prefix.facts:
            distance.widen(query, fact, CHOSEN_WEIGHT)
        scores = np.zeros(len(candidates), dtype=np.float32)
        is_fact = candidates != STOP
        scores[is_fact] = self.weight * distance.rows.dot(candidates[is_fact], query)
        return scores

    estimate = score


class SumOfPriors:
    """Several priors as one."""

    def __init__(self, parts: Sequence[Prior]) -> None:
        self.parts = tuple(parts)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same priors of other facts."""
        return type(self)([part.for_facts(facts) for part in self.parts])

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The sum of what the parts say."""
        return _sum([part.score(prefix, candidates) for part in self.parts])

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The sum of the parts' estimates."""
        return _sum([part.estimate(prefix, facts) for part in self.parts])


def _sum(scores: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    total: NDArray[np.float32] = np.sum(scores, axis=0, dtype=np.float32)
    return total


class WithPrior:
    """A scorer whose model was trained with a prior: the sum of both."""

    def __init__(self, scorer: LoadedScorer, prior: Prior) -> None:
        self.scorer = scorer
        self.prior = prior

    @property
    def settings(self) -> ScorerSettings:
        """What the model was trained with."""
        return self.scorer.settings

    def for_facts(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model; the prior is computed anew from their texts."""
        return type(self)(self.scorer.for_facts(facts), self.prior.for_facts(facts))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        return self.scorer.score(prefix, candidates) + self.prior.score(prefix, candidates)

    def known(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The prior alone."""
        return self.prior.score(prefix, facts)

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """As much of the prior as costs next to nothing."""
        return self.prior.estimate(prefix, facts)
