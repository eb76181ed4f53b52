"""A chain of facts from words alone: no model, no training."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import SparseDistance, smallest
from arcf.rankers.base import by_score
from arcf.types import QueryForm, Question, Ranking


@dataclass(frozen=True)
class Expansion:
    """How an iterated ranking widens its query. Chosen on training questions of WorldTree 2020.

    Each of `rounds` rounds takes the best facts not yet taken, `growth` times as many as the round before, starting
    with one. Their terms join the query at `weight` * `decay`^round of their own weight.
    A word of the answer weighs `answer_weight` times as much as one of the question.
    """

    rounds: int = 5
    growth: float = 2.0
    weight: float = 0.6
    decay: float = 0.8
    answer_weight: float = 1.2

    def __post_init__(self) -> None:
        if self.rounds < 0 or self.growth < 1 or self.weight <= 0 or not 0 < self.decay <= 1:
            raise SettingError(f"Expansion takes rounds >= 0, growth >= 1, weight > 0, decay in (0, 1]: not {self}.")


@dataclass(frozen=True)
class Iterated:
    """Ranks facts by words: what was found is added to the query, and the rest is ranked again.

    The query's value of a term is the largest that the question or a taken fact gives it, not the sum: a word that
    many facts repeat does not drown the question (Chia et al. 2019 use the same idea). Facts are ranked in the order in
    which they were taken, then the rest by the last query.
    """

    distance: SparseDistance
    expansion: Expansion = Expansion()
    query: QueryForm = "answer"

    def rank(self, question: Question) -> Ranking:
        """All facts, best first; facts taken in a round stand above all later ones."""
        vectors = self.distance.vectors
        query = self._query(question.asked(self.query))
        taken: list[int] = []
        count, weight = 1.0, self.expansion.weight
        for _ in range(self.expansion.rounds):
            weight *= self.expansion.decay
            similarity = vectors @ query
            similarity[taken] = 0.0
            best = smallest(-similarity, round(count))
            for fact in best[similarity[best] > 0.0].tolist():
                taken.append(fact)
                self.distance.widen(query, fact, weight)
            count *= self.expansion.growth
        scores = vectors @ query
        scores[taken] = scores.max(initial=0.0) + np.arange(len(taken), 0, -1)
        return by_score(question, scores)

    def _query(self, question: Question) -> NDArray[np.float64]:
        """The question's own query vector, at length 1."""
        query = self.distance.dense(question.text)
        answer = self.distance.vector(question.answer)
        query[answer.terms] *= self.expansion.answer_weight
        return query / max(float(np.linalg.norm(query)), np.finfo(float).tiny)
