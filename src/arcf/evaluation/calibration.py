"""Whether probabilities can be taken at their word: of what is given 70%, 70 of 100 should be right.

Everything here is a function of (probability, right) pairs, wherever they come from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10

Pair = tuple[float, bool]


@dataclass(frozen=True, slots=True)
class Bin:
    """Facts of about the same probability: how many, their mean `probability`, and the share that is `right`."""

    count: int
    probability: float
    right: float


def reliability(pairs: Sequence[Pair], bins: int = BINS) -> tuple[Bin, ...]:
    """The reliability diagram: pairs in `bins` of equal width over [0, 1], from the least probable on, none empty."""
    if not pairs:
        return ()
    probabilities, right = np.array(pairs, dtype=np.float64).T
    number = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    return tuple(
        Bin(int(inside.sum()), float(probabilities[inside].mean()), float(right[inside].mean()))
        for inside in (number == place for place in range(bins))
        if inside.any()
    )


def expected_calibration_error(pairs: Sequence[Pair], bins: int = BINS) -> float:
    """How far probabilities are from the share that is right: ECE = sum over bins of |B| / n * |right - probability|.

    0 is perfect, and 0 for no pairs.
    """
    found = reliability(pairs, bins)
    return sum(one.count * abs(one.right - one.probability) for one in found) / max(len(pairs), 1)


def brier_score(pairs: Sequence[Pair]) -> float:
    """The mean squared difference of probability and truth, which tells useful probabilities from a constant one."""
    if not pairs:
        return 0.0
    probabilities, right = np.array(pairs, dtype=np.float64).T
    return float(np.mean((probabilities - right) ** 2))
