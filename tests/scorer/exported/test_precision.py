from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcf.scorer.exported.graph import GraphBuilder
from arcf.scorer.exported.precision import ENTRY, FACTOR, PRECISIONS, quantise, reading_precision

MATRICES = arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(-4, 4, width=32))


every_precision = pytest.mark.parametrize("precision", PRECISIONS)


def run(given: np.ndarray, add: Callable[[GraphBuilder, str], str]) -> np.ndarray:
    """What ONNX Runtime makes of the nodes that `add` puts after an input."""
    graph = GraphBuilder()
    kind = onnx.helper.np_dtype_to_tensor_dtype(given.dtype)
    result = graph.output(add(graph, graph.input("given", kind, given.shape)), (None, None))
    session = onnxruntime.InferenceSession(graph.model("test").SerializeToString(), providers=["CPUExecutionProvider"])
    computed: np.ndarray = session.run([result], {"given": given})[0]
    return computed


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@every_precision
def test_linear_is_nearly_a_product_and_a_bias(precision: str) -> None:
    rows, weight, bias = random(9, 32), random(32, 5), random(5)
    found = run(rows, lambda graph, name: PRECISIONS[precision].linear(graph, name, weight, bias))
    np.testing.assert_allclose(found, rows @ weight + bias, atol=1e-5 if precision == "fp32" else 0.3)


@every_precision
def test_lookup_gives_nearly_the_rows_of_the_table(precision: str) -> None:
    table, ids = random(20, 6), np.array([3, 0, 19, 3], dtype=np.int32)
    found = run(ids, lambda graph, name: PRECISIONS[precision].lookup(graph, table, name))
    np.testing.assert_allclose(found, table[ids], atol=0 if precision == "fp32" else 0.02)


def test_each_token_has_a_scale_in_int8_rows_and_all_one_in_int8() -> None:
    rows, weight, bias = random(6, 64), random(64, 5), np.zeros(5, dtype=np.float32)
    rows *= np.array([1000, 1, 1e-3, 1e-5, 0, 1], dtype=np.float32)[:, None]
    expected = rows @ weight
    errors = {}
    for name in ("int8", "int8-rows"):
        found = run(rows, lambda graph, given, name=name: PRECISIONS[name].linear(graph, given, weight, bias))
        assert np.isfinite(found).all()
        errors[name] = np.abs(found - expected).max(1) / np.maximum(np.abs(rows).max(1), 1e-6)
    assert errors["int8-rows"].max() < 0.3
    assert errors["int8"][[1, 2, 3, 5]].min() > 1


def test_in_int8_rows_nothing_depends_on_other_tokens() -> None:
    rows, weight, bias = random(6, 64), random(64, 5), random(5)
    rows *= np.array([1000, 1, 1e-3, 1e-5, 0, 1], dtype=np.float32)[:, None]

    def linear(some: np.ndarray) -> np.ndarray:
        return run(some, lambda graph, given: PRECISIONS["int8-rows"].linear(graph, given, weight, bias))

    alone = np.concatenate([linear(rows[place : place + 1]) for place in range(len(rows))])
    np.testing.assert_array_equal(linear(rows), alone)


def test_values_on_one_side_of_zero_have_all_bits() -> None:
    weight, bias = random(64, 5), np.zeros(5, dtype=np.float32)
    rows = np.abs(random(9, 64))
    found = run(rows, lambda graph, given: PRECISIONS["int8-rows"].linear(graph, given, weight, bias))
    values, scales = quantise(weight, 0, FACTOR)
    # Half a step of 255 in every value, of a matrix that is itself of integers.
    bound = 0.51 * (rows.max(1) - rows.min(1))[:, None] / 255 * np.abs(values * scales).sum(0)
    assert (np.abs(found - rows @ (values * scales)) <= bound).all()


def test_facts_are_read_ahead_one_by_one() -> None:
    names = {name: type(reading_precision(precision)).__name__ for name, precision in PRECISIONS.items()}
    assert names.pop("int8") == names["int8-rows"]
    assert names == {name: type(PRECISIONS[name]).__name__ for name in names}


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
