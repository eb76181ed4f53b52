"""Calibrations against scikit-learn, and the ends of chains against what is seen at once."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from arcf.chain import Calibration, Evidence
from arcf.errors import InputError
from arcf.evaluation import fitting
from arcf.evaluation.fitting import ChainQuality
from arcf.evaluation.observation import Observation, ObservedStep

SIZE = len(Evidence.names())
BY_SHARE = Calibration(0.0, dict.fromkeys(Evidence.names(), 0.0) | {"share": 1.0})


def step(logit: float, right: bool, stop_wins: bool = False) -> ObservedStep:
    return ObservedStep(Evidence(logit, *[0.0] * (SIZE - 1)), right, stop_wins)


def chain(*steps: ObservedStep, corpus: str = "a", gold: int = 2) -> Observation:
    return Observation(corpus, "q", gold, steps)


def random_chains(seed: int, corpora: tuple[str, ...] = ("a", "b")) -> list[Observation]:
    random = np.random.default_rng(seed)
    made = []
    for number in range(120):
        values = random.normal(size=(4, SIZE)) * np.arange(1, SIZE + 1) + 3
        right = random.random(4) < 1 / (1 + np.exp(-(values[:, 0] - 2)))
        steps = [
            ObservedStep(Evidence(*map(float, row)), bool(hit), False) for row, hit in zip(values, right, strict=True)
        ]
        made.append(chain(*steps, corpus=corpora[number % 3 % len(corpora)]))
    return made


def test_the_weights_are_those_of_scikit_learn() -> None:
    observed = random_chains(0)
    found = fitting.fit(observed)
    inputs = np.array([one.evidence.values() for each in observed for one in each.steps])
    right = [one.right for each in observed for one in each.steps]
    corpora = [each.corpus for each in observed for _ in each.steps]
    importance = [1 / corpora.count(corpus) for corpus in corpora]
    theirs = LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000).fit(inputs, right, sample_weight=importance)
    assert list(found.weights.values()) == pytest.approx(theirs.coef_[0].tolist(), abs=0.02)
    assert found.bias == pytest.approx(theirs.intercept_[0], abs=0.1)


def test_evidence_that_never_changes_and_evidence_that_decides_all() -> None:
    observed = [chain(step(2.0, True), step(-2.0, False))] * 5
    found = fitting.fit(observed)
    assert found.probability(observed[0].steps[0].evidence) > 0.9
    assert found.probability(observed[0].steps[1].evidence) < 0.1


@pytest.mark.parametrize("right", [True, False])
def test_nothing_can_be_learnt_from_one_answer(right: bool) -> None:
    with pytest.raises(InputError, match="observe more questions"):
        fitting.fit([chain(step(1.0, right))])


def test_cross_fitting_never_judges_by_what_it_saw() -> None:
    observed = random_chains(1)
    one = fitting.cross_fit(observed)
    changed = [Observation("a", "q", 2, tuple(step(9.0, True) for _ in range(4))), *observed[1:]]
    assert fitting.cross_fit(changed)[0] == one[0]
    assert fitting.cross_fit(changed)[1] != one[1]


def test_chains_end_by_stop_or_doubt() -> None:
    observed = [chain(step(3.0, True), step(1.0, True), step(-3.0, False), step(3.0, False, stop_wins=True))]
    assert fitting.lengths_without(observed) == [3]
    assert fitting.lengths_with(observed, [BY_SHARE], 0.25) == [2]
    assert fitting.lengths_with(observed, [BY_SHARE], 0.0) == [3]
    assert fitting.lengths_with(observed, [BY_SHARE], 0.99) == [0]
    assert fitting.best_end(observed, [BY_SHARE]) == fitting.ENDS[0]


def test_the_quality_of_chains() -> None:
    observed = [chain(step(1.0, True), step(1.0, False)), chain(step(1.0, False), gold=3)]
    assert fitting.quality(observed, [2, 0]) == ChainQuality(0.25, 0.25, 0.25, 1.0)
    assert fitting.quality(observed, [1, 1]) == ChainQuality(0.5, 0.25, pytest.approx(1 / 3), 1.0)


def test_foreign_questions_are_no_part_of_quality() -> None:
    own, foreign = chain(step(1.0, True)), chain(step(1.0, False), gold=0)
    assert fitting.explicable([own, foreign], [1, 2]) == ([own], [1])
