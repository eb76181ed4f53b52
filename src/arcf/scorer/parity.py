"""How far two scorers of one corpus agree, such as a model and its export."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from arcf.scorer.base import STOP, Prefix, Scorer
from arcf.types import Dataset, Question

CANDIDATES = 50
"""Facts that are scored for each prefix, and the stop sample."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two scorers differ over a number of prefixes.

    `largest` and `mean` difference of a score, beside the `spread` (standard deviation) of the first scorer's scores
    within a prefix; `rank_correlation` (Spearman's, mean over prefixes); `same_best`, the share of prefixes at which
    both put the same candidate first.
    """

    prefixes: int
    largest: float
    mean: float
    spread: float
    rank_correlation: float
    same_best: float


def compare(reference: Scorer, other: Scorer, dataset: Dataset, questions: Sequence[Question]) -> Agreement:
    """Score the same candidates with both: for each question alone, and after the first two of its gold facts."""
    pairs = [
        (reference.score(prefix, candidates), other.score(prefix, candidates))
        for prefix, candidates in _samples(dataset, questions)
    ]
    differences = [np.abs(first - second) for first, second in pairs]
    return Agreement(
        prefixes=len(pairs),
        largest=max(float(difference.max()) for difference in differences),
        mean=fmean(float(difference.mean()) for difference in differences),
        spread=fmean(float(first.std()) for first, _ in pairs),
        rank_correlation=fmean(float(spearmanr(first, second).statistic) for first, second in pairs),
        same_best=fmean(float(first.argmax() == second.argmax()) for first, second in pairs),
    )


def _samples(dataset: Dataset, questions: Sequence[Question]) -> Iterator[tuple[Prefix, NDArray[np.int64]]]:
    """Prefixes, each with candidates drawn at random, always the same ones."""
    random = np.random.default_rng(0)
    size = len(dataset.facts)
    for question in questions:
        for chosen in {(), tuple(dataset.gold_ids(question)[:2])}:
            drawn = random.choice(size, min(size, CANDIDATES), replace=False)
            yield Prefix(question.query(), chosen), np.append(drawn, STOP)
