"""Runs side by side: each against the first, with intervals, tests and a correction for making several."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arcf.errors import SettingError
from arcf.evaluation.breakdown import FactGroups, Group
from arcf.evaluation.chains import chain_f1
from arcf.evaluation.judgement import Judgement, judge
from arcf.evaluation.report import breakdowns_of
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


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """The runs on a part of the questions or of the gold: their MAP there, or the mean F1 of their chains.

    `values` are those of the runs in their order, `intervals` those of the differences of all but the first from it.
    """

    breakdown: str
    name: str
    questions: int
    values: tuple[float, ...]
    intervals: tuple[Interval, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs over the same questions, the baseline first. All but `map_official` is over all questions with gold."""

    dataset: str
    split: str
    questions_all: int
    questions_official: int
    runs: tuple[ComparedRun, ...]
    parts: tuple[ComparedPart, ...]
    confidence: float = CONFIDENCE
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = SEED

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def compare(
    runs: Sequence[Run], dataset: Dataset, split: str, fact_groups: Mapping[str, FactGroups] | None = None
) -> Comparison:
    """Compare every run with the first one, question by question; `fact_groups` adds parts of the gold by title.

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
    broken = [breakdowns_of(row, dataset, split, fact_groups or {}) for row in judged]
    parts = [*_chains(runs, judged), *(part for title in broken[0] for part in _parts(title, broken))]
    return Comparison(dataset.name, split, scores.shape[1], official, rows, tuple(parts))


def _parts(title: str, broken: Sequence[Mapping[str, Sequence[Group]]]) -> list[ComparedPart]:
    """The groups of one breakdown. Gold alone decides who is in a group: all runs have the same."""
    columns = zip(*(run[title] for run in broken), strict=True)
    return [_part(title, groups[0].name, [group.scores for group in groups]) for groups in columns]


def _chains(runs: Sequence[Run], judged: Sequence[Sequence[Judgement]]) -> list[ComparedPart]:
    """F1 of the chains, over the questions whose chain all runs have; nothing where there are none."""
    scores = [chain_f1(run, row) for run, row in zip(runs, judged, strict=True)]
    shared = [name for name in scores[0] if all(name in own for own in scores)]
    return [_part("chains", "F1", [[own[name] for name in shared] for own in scores])] if shared else []


def _part(breakdown: str, name: str, scores: Sequence[Sequence[float]]) -> ComparedPart:
    rows = np.array(scores)  # (runs, questions)
    means = bootstrap_means(rows)
    intervals = tuple(percentile_interval(mean - means[0]) for mean in means[1:])
    return ComparedPart(breakdown, name, rows.shape[1], tuple(rows.mean(axis=1).tolist()), intervals)


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
