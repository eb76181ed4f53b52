"""What a ranker does."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arcf.types import Question, Ranking


class Ranker(Protocol):
    """Orders the facts of a corpus by how likely they explain a question's answer."""

    def rank(self, question: Question) -> Ranking:
        """All facts, best first."""
        ...


def by_score(question: Question, scores: NDArray[np.float64]) -> Ranking:
    """The ranking that scores by fact id give: descending, equal scores by fact id."""
    order = np.argsort(-scores, kind="stable")
    return Ranking(question.id, order, scores[order])


def scored_first(question: Question, scores: NDArray[np.float64], nearness: NDArray[np.float64]) -> Ranking:
    """Facts with a score, best first, then those without (nan), nearest first; both are by fact id.

    The latter stand below all scores, at distances that mean nothing: nearness is on another scale.
    """
    unscored = np.isnan(scores)
    bottom = scores[~unscored].min(initial=np.inf) if not unscored.all() else 0.0
    below = bottom - 1 + nearness - nearness[unscored].max(initial=-np.inf)
    return by_score(question, np.where(unscored, below, scores))
