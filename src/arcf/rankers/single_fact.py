"""Every fact scored alone, f([q | fact]): the paper's strongest baseline ("SF")."""

import numpy as np

from arcf.neighborhood import Neighborhood
from arcf.rankers.base import scored_first
from arcf.scorer import Prefix, Scorer
from arcf.types import QueryForm, Question, Ranking


class SingleFact:
    """Ranks facts by their scores after the question alone. Threads may share it if they may share the scorer.

    With `retrieved`, only that many of the facts nearest to the question are scored, and the rest follows by distance;
    without, all facts are, as in the paper: the cost is that of the corpus.
    """

    def __init__(
        self, scorer: Scorer, neighborhood: Neighborhood, retrieved: int | None = None, query: QueryForm = "answer"
    ) -> None:
        self.scorer = scorer
        self.neighborhood = neighborhood
        self.retrieved = retrieved
        self.query = query

    def rank(self, question: Question) -> Ranking:
        """All facts, best first."""
        asked, size = question.asked(self.query), len(self.neighborhood.facts)
        scores = np.full(size, np.nan)
        chosen = np.arange(size) if self.retrieved is None else self.neighborhood.nearest(asked.text, self.retrieved)
        if len(chosen):
            scores[chosen] = self.scorer.score(Prefix(asked.query()), chosen)
        return scored_first(question, scores, -self.neighborhood.distances(asked.text))
