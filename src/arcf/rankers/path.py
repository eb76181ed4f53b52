"""Chains of up to two facts, scored as wholes: the path re-ranker of Das et al. (2019), "PR" in the paper.

A chain begins with one of the T facts nearest to the question, and goes on with a fact that shares a word with it. The
chain (f1, f2) is the candidate f2 after the prefix (q, f1), and the chain (f1) the candidate f1 after q alone: in text
they are what the paper scores, and all chains that begin alike share the reading of their beginning.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood import FactIds, Neighborhood
from arcf.rankers.base import scored_first
from arcf.rankers.settings import PathSettings
from arcf.scorer import Prefix, Scorer
from arcf.types import QueryForm, Question, Ranking


@dataclass(frozen=True, slots=True, eq=False)
class PathResult:
    """What the chains of a question tell: the best score of each fact by its id (nan: in no chain), and their cost."""

    scores: NDArray[np.float64]
    chains: int
    seconds: float


class PathRerank:
    """Ranks facts by the best chain that they are in, then the rest by distance.

    `neighborhood` finds the first facts of chains, `overlap` those that share a word. Threads may share it if they may
    share the scorer.
    """

    def __init__(
        self,
        scorer: Scorer,
        neighborhood: Neighborhood,
        overlap: Neighborhood,
        settings: PathSettings | None = None,
        query: QueryForm = "answer",
    ) -> None:
        self.scorer = scorer
        self.neighborhood = neighborhood
        self.overlap = overlap
        self.settings = settings or PathSettings()
        self.query = query

    def rank(self, question: Question) -> Ranking:
        """All facts, best first."""
        distances = self.neighborhood.distances(question.asked(self.query).text)
        return scored_first(question, self.find(question).scores, -distances)

    def find(self, question: Question) -> PathResult:
        """Score all chains of a question."""
        started = perf_counter()
        asked = question.asked(self.query)
        best = np.full(len(self.neighborhood.facts), np.nan)
        first = self.neighborhood.nearest(asked.text, self.settings.retrieved)
        chains = self._take(best, Prefix(asked.query()), first)
        if self.settings.max_facts > 1:
            for fact in first.tolist():
                chains += self._take(best, Prefix(asked.query(), (fact,)), self._linked(fact))
        return PathResult(best, chains, perf_counter() - started)

    def _linked(self, fact: int) -> FactIds:
        """The facts that share a word with one, those that share the most first."""
        return self.overlap.nearest(fact, self.settings.linked or len(self.overlap.facts))

    def _take(self, best: NDArray[np.float64], prefix: Prefix, last: FactIds) -> int:
        """Score the chains of a prefix and their last facts: each raises the scores of all facts in it."""
        if len(last):
            scores = self.scorer.score(prefix, last).astype(np.float64)
            best[last] = np.fmax(best[last], scores)
            best[list(prefix.facts)] = np.fmax(best[list(prefix.facts)], scores.max())
        return len(last)
