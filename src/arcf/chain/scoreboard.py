"""What is known of the facts' scores while a chain grows, and which of them are worth computing again."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from arcf.scorer.base import STOP, Prefix, Scorer


class Scoreboard:
    """The score of every fact seen so far, on the scale of the current iteration.

    Exact (`rescored` is None): every visible fact is scored in every iteration. Fast: a fact is scored when it first
    becomes visible, and later only while it is among the `rescored` best of the old ones.

    A score has a meaning only beside scores of the same prefix: the losses compare candidates of one prefix, so a new
    prefix may lift or lower them all. A fact that is not scored again therefore moves with the others, by the median
    of the changes of those that are. Facts so moved keep their order among themselves, and stand where the model
    would put them if the new prefix had told it nothing about them; the median, since the few facts for which the
    prefix changes much are just the ones that must not carry the rest along.
    """

    def __init__(self, scorer: Scorer, size: int, rescored: int | None) -> None:
        self.scores = np.full(size, np.nan)  # by fact id; nan: never scored
        self.scorings = 0
        self._scorer = scorer
        self._rescored = rescored
        self._sums = np.zeros(size)
        self._iterations = np.zeros(size, dtype=np.int64)

    def fork(self) -> Self:
        """A board that goes on from here on its own. It counts its own scorings only, from zero."""
        other = type(self)(self._scorer, len(self.scores), self._rescored)
        other.scores = self.scores.copy()
        other._sums = self._sums.copy()
        other._iterations = self._iterations.copy()
        return other

    def update(self, prefix: Prefix, visible: NDArray[np.int64]) -> float | None:
        """Bring the board up to date with a longer prefix; return the stop sample's score, None for an empty chain."""
        due = self._due(visible)
        candidates = np.append(due, STOP) if prefix.facts else due
        fresh = self._scorer.score(prefix, candidates).astype(np.float64)
        self.scorings += len(candidates)
        self._take(due, fresh[: len(due)])
        return float(fresh[-1]) if prefix.facts else None

    def known(self) -> NDArray[np.int64]:
        """The facts that were scored at least once."""
        return np.flatnonzero(self._iterations)

    def averages(self) -> NDArray[np.float64]:
        """Each fact's mean score over the iterations since it was first seen, by fact id; nan: never scored."""
        return self._sums / np.where(self._iterations, self._iterations, np.nan)

    def _due(self, visible: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._rescored is None:
            return visible
        is_new = np.isnan(self.scores[visible])
        old = visible[~is_new]
        best = np.lexsort((old, -self.scores[old]))[: self._rescored]
        return np.concatenate([visible[is_new], old[best]])

    def _take(self, due: NDArray[np.int64], fresh: NDArray[np.float64]) -> None:
        change = fresh - self.scores[due]
        change = change[~np.isnan(change)]
        if len(change):
            self.scores += np.median(change)
        self.scores[due] = fresh
        known = ~np.isnan(self.scores)
        self._sums[known] += self.scores[known]
        self._iterations[known] += 1
