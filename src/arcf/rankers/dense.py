"""Sentence encoders as rankers, untrained: with the lexical ones, the bar that a trained scorer has to clear."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood import Distance
from arcf.rankers.base import by_score
from arcf.types import Fact, QueryForm, Question, Ranking


@dataclass(frozen=True)
class IteratedNearest:
    """Ranks facts by their distance from the question and the facts taken so far: the best one joins the query.

    Facts are ranked in the order in which they were taken, then the rest by the last query.
    """

    distance: Distance
    facts: Sequence[Fact]
    rounds: int = 9
    query: QueryForm = "answer"

    def rank(self, question: Question) -> Ranking:
        """All facts, best first; a fact that was taken stands above all later ones."""
        texts, taken = [question.asked(self.query).text], list[int]()
        scores = self._similarities(texts)
        for _ in range(min(self.rounds, len(self.facts))):
            left = scores.copy()
            left[taken] = -np.inf
            taken.append(int(left.argmax()))
            texts.append(self.facts[taken[-1]].text)
            scores = self._similarities(texts)
        scores[taken] = scores.max(initial=0.0) + np.arange(len(taken), 0, -1)
        return by_score(question, scores)

    def _similarities(self, texts: list[str]) -> NDArray[np.float64]:
        return self.distance.limit - self.distance.distances(" ".join(texts))


@dataclass(frozen=True)
class SumOfNearest:
    """Ranks facts by the sum of their similarities under several distances, which must have one scale: cosines."""

    distances: tuple[Distance, ...]
    query: QueryForm = "answer"

    def rank(self, question: Question) -> Ranking:
        """All facts, best first; a score is the sum of the similarities."""
        text = question.asked(self.query).text
        return by_score(question, np.sum([part.limit - part.distances(text) for part in self.distances], axis=0))
