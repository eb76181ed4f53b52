import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from arcf.evaluation.calibration import Bin, Pair, brier_score, expected_calibration_error, reliability

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_probabilities_at_their_word_have_no_error() -> None:
    pairs = [(0.75, True), (0.75, True), (0.75, True), (0.75, False), (1.0, True), (0.0, False)]
    assert expected_calibration_error(pairs) == 0.0
    assert reliability(pairs) == (Bin(1, 0.0, 0.0), Bin(4, 0.75, 0.75), Bin(1, 1.0, 1.0))


def test_the_error_is_a_mean_over_facts() -> None:
    assert expected_calibration_error([(0.9, False), (0.1, True), (0.5, True), (0.5, False)]) == pytest.approx(0.45)


def test_no_pairs() -> None:
    assert (reliability([]), expected_calibration_error([]), brier_score([])) == ((), 0.0, 0.0)


@given(PAIRS)
def test_bins_and_brier_score_are_those_of_scikit_learn(pairs: list[Pair]) -> None:
    chances, right = zip(*pairs, strict=True)
    bins = reliability(pairs)
    assert sum(one.count for one in bins) == len(pairs)
    assert brier_score(pairs) == pytest.approx(brier_score_loss(right, chances, pos_label=True, labels=[False, True]))
    if all(abs(chance * 10 - round(chance * 10)) > 1e-9 for chance in chances):  # on an edge, they differ in the bin
        shares, means = calibration_curve(np.array(right), np.array(chances), n_bins=10)
        assert [one.right for one in bins] == pytest.approx(shares.tolist())
        assert [one.probability for one in bins] == pytest.approx(means.tolist())
