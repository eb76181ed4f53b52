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
