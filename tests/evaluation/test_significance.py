"""Tests and intervals against scipy, and Holm's correction by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arcf.evaluation.significance import Interval, TTest, bootstrap_means, holm, paired_t_test, percentile_interval

GENERATOR = np.random.default_rng(3)
FIRST = GENERATOR.random(200)
SECOND = np.clip(FIRST + GENERATOR.normal(0.02, 0.1, 200), 0, 1)


@given(st.integers(2, 60), st.integers(0, 10_000))
def test_t_test_equals_scipy(size: int, seed: int) -> None:
    first, second = np.random.default_rng(seed).random((2, size))
    reference = stats.ttest_rel(second, first)
    test = paired_t_test(first, second)
    assert test.t == pytest.approx(reference.statistic)
    assert test.p == pytest.approx(reference.pvalue)


def test_t_test_where_the_statistic_does_not_exist() -> None:
    same = np.array([0.5, 0.25, 1.0])
    assert paired_t_test(same, same) == TTest(None, 1.0)
    assert paired_t_test(same, same + 0.5) == TTest(None, 0.0)
    assert paired_t_test(np.array([0.0]), np.array([1.0])) == TTest(None, 1.0)


def test_bootstrap_interval_agrees_with_scipy() -> None:
    means = bootstrap_means(np.stack([FIRST, SECOND]))
    for values, ours in ((FIRST, means[0]), (SECOND - FIRST, means[1] - means[0])):
        reference = stats.bootstrap(
            (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
        ).confidence_interval
        # Two bootstraps of 10,000 differ by about 2% of the interval's width at either end.
        width = reference.high - reference.low
        interval = percentile_interval(ours)
        assert interval.low == pytest.approx(reference.low, abs=0.05 * width)
        assert interval.high == pytest.approx(reference.high, abs=0.05 * width)


def test_bootstrap_is_paired_and_repeatable() -> None:
    means = bootstrap_means(np.stack([FIRST, FIRST + 0.1]), resamples=1234)
    assert means.shape == (2, 1234)
    assert means[1] - means[0] == pytest.approx(0.1)
    assert np.array_equal(means, bootstrap_means(np.stack([FIRST, FIRST + 0.1]), resamples=1234))


def test_interval_by_hand() -> None:
    assert percentile_interval(np.arange(101.0), 0.9) == Interval(pytest.approx(5), pytest.approx(95))


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.04, and never below an earlier one.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert holm([0.9, 0.6]) == (1.0, 1.0)
    assert holm([0.03]) == (0.03,)
    assert holm([]) == ()
