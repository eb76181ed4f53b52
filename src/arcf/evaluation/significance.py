"""Whether a difference between two runs over the same questions is more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 0
CONFIDENCE = 0.95
LEVEL = 0.05
# Resamples drawn at once: bounds the memory, whatever the number of questions.
BLOCK = 500


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TTest:
    """Student's paired t-test: the statistic (None where it does not exist) and the two-sided p-value."""

    t: float | None
    p: float


def paired_t_test(first: Scores, second: Scores) -> TTest:
    """Test whether the mean difference of paired scores is 0.

        t = mean(d) / (sd(d) / sqrt(n)),   d = second - first,   p = 2 * P(T_(n-1) <= -|t|)

    Where all differences are equal, sd(d) is 0 and t does not exist: p is 1 if they are all 0, else 0. A single
    pair proves nothing: p is 1.
    """
    from scipy.special import stdtr

    difference = second - first
    if len(difference) < 2 or not difference.any():
        return TTest(None, 1.0)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    if error == 0:
        return TTest(None, 0.0)
    t = float(difference.mean() / error)
    return TTest(t, float(2 * stdtr(len(difference) - 1, -abs(t))))


def bootstrap_means(scores: NDArray[np.float64], resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.float64]:
    """Means of every row over the same random draws of columns: (runs, questions) -> (runs, resamples).

    Each draw takes as many columns as there are, with replacement. That the rows share their draws makes differences
    between them paired.
    """
    generator = np.random.default_rng(seed)
    runs, size = scores.shape
    means = np.empty((runs, resamples))
    for start in range(0, resamples, BLOCK):
        count = min(BLOCK, resamples - start)
        drawn = generator.integers(0, size, (count, size))  # (count, questions)
        means[:, start : start + count] = [row[drawn].mean(axis=1) for row in scores]
    return means


def percentile_interval(means: Scores, confidence: float = CONFIDENCE) -> Interval:
    """The interval that holds the middle `confidence` of bootstrapped values."""
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values corrected for making m comparisons, after Holm (1979); in the given order.

    With p_(1) <= ... <= p_(m):   corrected p_(i) = max_(j <= i) min(1, (m - j + 1) * p_(j))
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return tuple(corrected)
