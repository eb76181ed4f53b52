"""Runs side by side: each against the first, with intervals, tests and a correction for making several."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arcf.errors import SettingError
from arcf.evaluation.judgement import Judgement, judge
from arcf.evaluation.significance import (
    CONFIDENCE,
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    Scores,
    bootstrap_means,
    holm,
    paired_t_test,
    percentile_interval,
)
from arcf.runs.run import Run
from arcf.types import Dataset

# Differences in AP below this are rounding.
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """A run's MAP minus the baseline's, with the bootstrap's interval, the t-test, and the questions won and lost.

    `p_corrected` is p after Holm's correction for all comparisons made; `significant` goes by it.
    """

    map: float
    interval: Interval
    t: float | None
    p: float
    p_corrected: float
    significant: bool
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One row of a comparison; the baseline's has no difference."""

    name: str
    map_all: float
    map_official: float | None
    interval: Interval
    difference: Difference | None


@dataclass(frozen=True)
class Comparison:
    """Runs over the same questions, the baseline first. All but `map_official` is over all questions with gold."""

    dataset: str
    split: str
    questions_all: int
    questions_official: int
    runs: tuple[ComparedRun, ...]
    confidence: float = CONFIDENCE
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = SEED

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def compare(runs: Sequence[Run], dataset: Dataset, split: str) -> Comparison:
    """Compare every run with the first one, question by question.

    Raises:
        SettingError: there are fewer than two runs.
        UnknownNameError: the dataset has no such split.
        InputError: the split has no gold, or a run no question of the split.
    """
    if len(runs) < 2:
        raise SettingError("A comparison needs at least two runs; name the baseline first.")
    judged = [judge(run, dataset, split) for run in runs]
    scores = np.array([[judgement.average_precision for judgement in row] for row in judged])  # (runs, questions)
    means = bootstrap_means(scores)  # (runs, resamples)
    differences = [None, *_differences(scores, means)]
    rows = tuple(
        ComparedRun(run.name, float(score.mean()), _official(row), percentile_interval(mean), difference)
        for run, score, row, mean, difference in zip(runs, scores, judged, means, differences, strict=True)
    )
    official = sum(judgement.official for judgement in judged[0])
    return Comparison(dataset.name, split, scores.shape[1], official, rows)


def _differences(scores: Scores, means: Scores) -> list[Difference]:
    tests = [paired_t_test(scores[0], row) for row in scores[1:]]
    corrected = holm([test.p for test in tests])
    return [
        Difference(
            map=float(row.mean() - scores[0].mean()),
            interval=percentile_interval(mean - means[0]),
            t=test.t,
            p=test.p,
            p_corrected=p_corrected,
            significant=p_corrected < LEVEL,
            wins=int(np.sum(row > scores[0] + TIE)),
            ties=int(np.sum(np.abs(row - scores[0]) <= TIE)),
            losses=int(np.sum(row < scores[0] - TIE)),
        )
        for row, mean, test, p_corrected in zip(scores[1:], means[1:], tests, corrected, strict=True)
    ]


def _official(judgements: Sequence[Judgement]) -> float | None:
    """The official scorer's MAP, where it counts any question."""
    values = [judgement.average_precision for judgement in judgements if judgement.official]
    return sum(values) / len(values) if values else None
