"""Several rankers as one: the best system of 2019 was a single-fact ranker and a path re-ranker together."""

from collections.abc import Sequence

from arcf.rankers.base import Ranker
from arcf.rankers.fusion import fuse
from arcf.rankers.settings import EnsembleSettings
from arcf.types import Question, Ranking


class Ensemble:
    """Ranks facts by the weighted sum of what its members say of them."""

    def __init__(self, members: Sequence[Ranker], settings: EnsembleSettings) -> None:
        self.members = tuple(members)
        self.settings = settings

    def rank(self, question: Question) -> Ranking:
        """All facts that a member ranks, best first."""
        rankings = [member.rank(question) for member in self.members]
        return fuse(rankings, self.settings.weights, self.settings.method)
