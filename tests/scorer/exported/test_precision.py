import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcf.scorer.exported.precision import ENTRY, FACTOR, quantise

MATRICES = arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(-4, 4, width=32))


@pytest.mark.parametrize("largest", [FACTOR, ENTRY])
@pytest.mark.parametrize("axis", [0, 1])
@given(weights=MATRICES)
def test_integers_times_scales_are_nearly_the_weights(weights: np.ndarray, axis: int, largest: int) -> None:
    values, scales = quantise(weights, axis, largest)
    assert values.dtype == np.int8
    assert np.abs(values.astype(int)).max() <= largest
    assert scales.shape == (weights.shape[1 - axis],)
    widened = np.expand_dims(scales, axis)
    # Half a step, and what float32 loses.
    assert (np.abs(values * widened - weights) <= 0.5001 * widened + 1e-6).all()
    assert not values[weights == 0].any()


def test_each_column_or_row_has_its_own_scale() -> None:
    weights = np.array([[1.0, 0.01], [-0.5, 0.02]], dtype=np.float32)
    assert quantise(weights, 0, FACTOR)[0].tolist() == [[64, 32], [-32, 64]]
    assert quantise(weights, 1, ENTRY)[0].tolist() == [[127, 1], [-127, 5]]


def test_a_row_of_zeros_stays_one() -> None:
    values, scales = quantise(np.zeros((2, 3), dtype=np.float32), 1, ENTRY)
    assert not values.any()
    assert np.isfinite(scales).all()


def test_two_products_fit_the_16_bits_of_older_processors() -> None:
    assert 2 * 255 * FACTOR <= np.iinfo(np.int16).max < 2 * 255 * ENTRY
