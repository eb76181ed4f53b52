"""Fitting a calibration on observed chains, and what its probabilities and the chains that they end are worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.chain import Calibration, Evidence
from arcf.errors import InputError
from arcf.evaluation.calibration import Pair
from arcf.evaluation.observation import Observation, ObservedStep

Floats = NDArray[np.float64]

FOLDS = 5
ROUNDS = 100
PENALTY = 1e-3
"""Of the squared weights of evidence at unit spread, against a mean log-loss: too little to notice, enough for a
solution where two features say the same."""

ENDS = tuple(round(0.05 * step, 2) for step in range(1, 13))
"""What `min_confidence` is chosen from."""


@dataclass(frozen=True, slots=True)
class ChainQuality:
    """Precision, recall and F1 of the facts of chains, means over questions, and the chains' mean length.

    A chain without a right fact, an empty one too, has 0 of all.
    """

    precision: float
    recall: float
    f1: float
    length: float


def fit(observations: Sequence[Observation], fitted_on: Mapping[str, Any] | None = None) -> Calibration:
    """The weights with the least log-loss; every corpus counts the same, however many questions it has.

    Raises:
        InputError: the facts are all right or all wrong, so nothing can be learnt.
    """
    steps = [step for one in observations for step in one.steps]
    right = np.array([step.right for step in steps], dtype=np.float64)
    if not 0 < right.sum() < len(right):
        raise InputError(f"{int(right.sum())} of {len(right)} observed facts are right; observe more questions.")
    evidence = np.array([step.evidence.values() for step in steps])  # (steps, features)
    mean, spread = evidence.mean(axis=0), evidence.std(axis=0)
    spread[spread == 0.0] = 1.0
    bias, *weights = _logistic((evidence - mean) / spread, right, _importance(observations)).tolist()
    weights = np.array(weights) / spread
    named = zip(Evidence.names(), weights.tolist(), strict=True)
    return Calibration(bias - float(weights @ mean), dict(named), fitted_on or {})


def cross_fit(observations: Sequence[Observation], folds: int = FOLDS) -> list[Calibration]:
    """For each observation a calibration that did not see it: what new questions can expect."""
    fold = [number % folds for number in range(len(observations))]
    fitted = [fit([one for one, its in zip(observations, fold, strict=True) if its != held]) for held in range(folds)]
    return [fitted[its] for its in fold]


def pairs(observations: Sequence[Observation], calibrations: Sequence[Calibration]) -> list[Pair]:
    """The probability of every observed fact, and whether it is right."""
    return [
        (calibration.probability(step.evidence), step.right)
        for one, calibration in zip(observations, calibrations, strict=True)
        for step in one.steps
    ]


def softmax_pairs(observations: Sequence[Observation]) -> list[Pair]:
    """The same with a fact's share of the softmax, what one would take for a probability without calibration."""
    return [(float(np.exp(step.evidence.share)), step.right) for one in observations for step in one.steps]


def quality(observations: Sequence[Observation], lengths: Sequence[int]) -> ChainQuality:
    """What chains of these lengths are worth."""
    found = [_judge(one, length) for one, length in zip(observations, lengths, strict=True)]
    return ChainQuality(*np.mean(found, axis=0).tolist())


def lengths_without(observations: Sequence[Observation]) -> list[int]:
    """How long chains are that only the stop sample ends, after three facts: as in the paper."""
    return [_length(one, lambda step: step.stop_wins, min_facts=3) for one in observations]


def lengths_with(
    observations: Sequence[Observation], calibrations: Sequence[Calibration], min_confidence: float
) -> list[int]:
    """How long chains are that also end before a fact of less confidence."""
    return [
        _length(one, _ends(calibration, min_confidence))
        for one, calibration in zip(observations, calibrations, strict=True)
    ]


def best_end(observations: Sequence[Observation], calibrations: Sequence[Calibration]) -> float:
    """The `min_confidence` of the highest F1, as a mean over corpora, of questions that have an explanation."""
    observations, calibrations = explicable(observations, calibrations)

    def value(least: float) -> float:
        lengths = lengths_with(observations, calibrations, least)
        return float(np.mean([quality(*part).f1 for part in by_corpus(observations, lengths).values()]))

    return max(ENDS, key=value)


def explicable(observations: Sequence[Observation], values: Sequence[Any]) -> tuple[list[Observation], list[Any]]:
    """The observations of questions that have gold, with their share of `values`."""
    kept = [(one, value) for one, value in zip(observations, values, strict=True) if one.gold]
    return [one for one, _ in kept], [value for _, value in kept]


def by_corpus(
    observations: Sequence[Observation], values: Sequence[Any]
) -> dict[str, tuple[list[Observation], list[Any]]]:
    """The observations of each corpus, with their share of `values`."""
    parts: dict[str, tuple[list[Observation], list[Any]]] = {}
    for one, value in zip(observations, values, strict=True):
        own, its = parts.setdefault(one.corpus, ([], []))
        own.append(one)
        its.append(value)
    return parts


def _logistic(evidence: Floats, right: Floats, importance: Floats) -> Floats:
    """Bias and weights of the least mean log-loss, by Newton's method."""
    inputs = np.column_stack([np.ones(len(evidence)), evidence])  # (steps, 1 + features)
    penalty = np.diag([0.0, *np.full(evidence.shape[1], PENALTY)])
    weights = np.zeros(inputs.shape[1])
    for _ in range(ROUNDS):
        chance = 0.5 * (1.0 + np.tanh(0.5 * (inputs @ weights)))
        slope = inputs.T @ (importance * (chance - right)) + penalty @ weights
        curvature = (inputs * (importance * chance * (1.0 - chance))[:, None]).T @ inputs + penalty
        change = np.linalg.lstsq(curvature, slope)[0]
        weights = weights - change
        if np.abs(change).max() < 1e-9:
            break
    return weights


def _importance(observations: Sequence[Observation]) -> Floats:
    """What each step counts; all together 1."""
    corpora = np.array([one.corpus for one in observations for _ in one.steps])
    _, number, count = np.unique(corpora, return_inverse=True, return_counts=True)
    weights = 1.0 / count[number]
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _judge(observation: Observation, length: int) -> tuple[float, float, float, int]:
    right = sum(step.right for step in observation.steps[:length])
    precision, recall = right / max(length, 1), right / max(observation.gold, 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0, length


def _ends(calibration: Calibration, least: float) -> Callable[[ObservedStep], bool]:
    return lambda step: step.stop_wins or calibration.probability(step.evidence) < least


def _length(observation: Observation, ends: Callable[[ObservedStep], bool], min_facts: int = 0) -> int:
    for place, step in enumerate(observation.steps):
        if place >= min_facts and ends(step):
            return place
    return len(observation.steps)
