"""Scores in files. Readers of TREC runs sort by score and break ties each in their own way: so there must be none."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.types import Ranking

LARGEST = np.finfo(np.float32).max
LARGEST_BITS = int(LARGEST.view(np.int32))
TINY_BITS = int(np.float32(2.0**-40).view(np.int32))


def numbers(ranking: Ranking) -> NDArray[np.float64]:
    """The scores of a ranking.

    Raises:
        InputError: one of them is not a number; what reads a run would refuse it.
    """
    if np.isnan(ranking.scores).any():
        name = ranking.question_id
        raise InputError(f"The ranking of question '{name}' has a score that is not a number; look at its ranker.")
    return ranking.scores


def strictly_decreasing(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """The nearest scores that decrease strictly in single precision, which is all that trec_eval keeps of them.

    Each score is rounded to a float32 and, where it is then not below its predecessor, replaced by the next float32
    below that. With key(s) the position of s among the float32 numbers, key(0) = 0:

        key'_i = min(key_i, key'_(i-1) - 1) = min_(j <= i) (key_j + j) - i

    At the bottom of the range, where nothing is below, the predecessors move up instead. Numbers nearer to zero than
    2^-40 are passed over: they take three times as long to parse, and the smallest are zero to some tools. Nine
    significant digits tell any two float32 numbers apart, so the order survives printing with `%.9g`.
    """
    finite = np.clip(scores, -LARGEST, LARGEST).astype(np.float32)
    magnitude = np.abs(finite).view(np.int32).astype(np.int64)
    key = np.where(finite < 0, -1, 1) * np.maximum(magnitude - TINY_BITS, 0)
    place = np.arange(len(key))
    key = np.minimum.accumulate(key + place) - place
    key = np.maximum(key, TINY_BITS - LARGEST_BITS + place[::-1])
    size = np.where(key == 0, 0, np.abs(key) + TINY_BITS).astype(np.int32).view(np.float32)
    return np.where(key < 0, -size, size)


def printed(scores: NDArray[np.floating[Any]]) -> list[str]:
    """Nine significant digits of each score; one format for all is several times faster than one each."""
    return ("%.9g\n" * len(scores) % tuple(scores.tolist())).split("\n")[:-1]
