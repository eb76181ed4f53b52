"""The lexical prior: what shared words alone say of a candidate, before the model says anything.

A model that is trained with a prior scores f_theta + weight * similarity. It need not learn from a few thousand
questions what words tell already, only what they do not. The prior is computed from the texts of the corpus in hand: it
needs no training, and moves to other corpora with the model.
"""

from collections.abc import Sequence
from typing import Self, cast

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


class LexicalPrior:
    """Scores candidates by the words that they share with the question and the chosen facts.

    Similarities are BM25 cosines; a word weighs what the question or a chosen fact gives it, whichever is more. The
    stop sample has no words, and the score 0.
    """

    def __init__(self, facts: Sequence[str], weight: float) -> None:
        self.weight = weight
        distance = load_or_build(Lexical(Bm25Cosine()), TextFacts(facts), ())
        self._distance = cast("SparseDistance", distance)

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


class WithPrior:
    """A scorer whose model was trained with a prior: the sum of both."""

    def __init__(self, scorer: LoadedScorer, prior: LexicalPrior) -> None:
        self.scorer = scorer
        self.prior = prior

    @property
    def settings(self) -> ScorerSettings:
        """What the model was trained with."""
        return self.scorer.settings

    def for_facts(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model; the prior is computed anew from their words."""
        return type(self)(self.scorer.for_facts(facts), LexicalPrior(facts, self.prior.weight))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        return self.scorer.score(prefix, candidates) + self.prior.score(prefix, candidates)

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The prior alone."""
        return self.prior.score(prefix, facts)


def with_prior(scorer: LoadedScorer, facts: Sequence[str]) -> LoadedScorer:
    """A model's scorer of these facts with the prior that the model was trained with, if any."""
    weight = scorer.settings.prior
    return WithPrior(scorer, LexicalPrior(facts, weight)) if weight else scorer
