"""What is known of the facts' scores while a chain grows, and which of them are worth computing."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood import FactIds
from arcf.scorer.base import STOP, Estimating, Prefix, Scorer


class Scoreboard:
    """The score of every fact seen so far, on the scale of the current iteration.

    Exact (`rescored` is None): every visible fact is scored in every iteration. Fast: the `rescored` best of the facts
    that have a score are scored again, and of those that have none the `screened` most promising ones, more where
    fewer old ones take their places, as in the first iteration; None: all of them. What promises is the scorer's own
    estimate. A scorer that gives none has all new facts scored.

    A score has a meaning only beside scores of the same prefix: the losses compare candidates of one prefix, so a new
    prefix may lift or lower them all. A fact that is not scored again therefore moves: first by its own change of the
    estimate, which is that part of the score which needs no model, then with the others, by the median of the changes
    that are left of those that are scored again. It stands where the model would put it if the new prefix had told it
    nothing about the fact; the median, since the few facts for which the prefix changes much are just the ones that
    must not carry the rest along.

    A fact that was never scored has an estimate and no score: there is no scale that has both.
    """

    def __init__(self, scorer: Scorer, size: int, rescored: int | None, screened: int | None = None) -> None:
        self.scores = np.full(size, np.nan)  # by fact id; nan: never scored
        self.estimates = np.full(size, np.nan)  # by fact id; nan: never visible, or nothing is estimated
        self.scorings = 0
        self._scorer = scorer
        self._rescored = rescored
        self._screened = screened
        self._sums = np.zeros(size)
        self._iterations = np.zeros(size, dtype=np.int64)

    def fork(self) -> Self:
        """A board that goes on from here on its own. It counts its own scorings only, from zero."""
        other = type(self)(self._scorer, len(self.scores), self._rescored, self._screened)
        other.scores = self.scores.copy()
        other.estimates = self.estimates.copy()
        other._sums = self._sums.copy()
        other._iterations = self._iterations.copy()
        return other

    def update(self, prefix: Prefix, visible: FactIds) -> float | None:
        """Bring the board up to date with a longer prefix; return the stop sample's score, None for an empty chain."""
        if self._rescored is not None and isinstance(self._scorer, Estimating):
            self._move(visible, self._scorer.estimate(prefix, visible).astype(np.float64))
        due = self._due(visible)
        candidates = np.append(due, STOP) if prefix.facts else due
        fresh = self._scorer.score(prefix, candidates).astype(np.float64)
        self.scorings += len(candidates)
        self._take(due, fresh[: len(due)])
        return float(fresh[-1]) if prefix.facts else None

    def known(self) -> FactIds:
        """The facts that were scored at least once."""
        return np.flatnonzero(self._iterations)

    def unscored(self) -> FactIds:
        """The facts that were visible, but never worth a scoring."""
        return np.flatnonzero(np.isnan(self.scores) & ~np.isnan(self.estimates))

    def averages(self) -> NDArray[np.float64]:
        """Each fact's mean score over the iterations since it was first scored, by fact id; nan: never scored."""
        return self._sums / np.where(self._iterations, self._iterations, np.nan)

    def _move(self, visible: FactIds, estimates: NDArray[np.float64]) -> None:
        self.scores[visible] += estimates - self.estimates[visible]  # nan for what is visible for the first time
        self.estimates[visible] = estimates

    def _due(self, visible: FactIds) -> FactIds:
        if self._rescored is None:
            return visible
        is_new = np.isnan(self.scores[visible])
        old = best_first(visible[~is_new], self.scores)[: self._rescored]
        new = visible[is_new]
        if self._screened is not None and not np.isnan(self.estimates[new]).any():
            new = best_first(new, self.estimates)[: self._screened + self._rescored - len(old)]
        return np.concatenate([new, old])

    def _take(self, due: FactIds, fresh: NDArray[np.float64]) -> None:
        change = fresh - self.scores[due]
        change = change[~np.isnan(change)]
        if len(change):
            self.scores += np.median(change)
        self.scores[due] = fresh
        known = ~np.isnan(self.scores)
        self._sums[known] += self.scores[known]
        self._iterations[known] += 1


def best_first(facts: FactIds, scores: NDArray[np.float64]) -> FactIds:
    """Facts by descending score (`scores` is by fact id), equal ones by id."""
    return facts[np.lexsort((facts, -scores[facts]))]
