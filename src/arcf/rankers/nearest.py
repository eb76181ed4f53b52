"""Facts by their distance from the question, in one pass: what every other ranker is compared with."""

from dataclasses import dataclass

from arcf.neighborhood import Distance
from arcf.rankers.base import by_score
from arcf.types import QueryForm, Question, Ranking


@dataclass(frozen=True)
class Nearest:
    """Ranks facts by their distance from the question and, if the form of the query has it, its answer."""

    distance: Distance
    query: QueryForm = "answer"

    def rank(self, question: Question) -> Ranking:
        """All facts, nearest first; a score is the similarity."""
        return by_score(question, self.distance.limit - self.distance.distances(question.asked(self.query).text))
