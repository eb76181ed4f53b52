import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import smallest

VALUES = st.lists(st.sampled_from([-1.5, 0.0, 0.25, 1.0, np.inf]) | st.floats(allow_nan=False), max_size=40)


@given(VALUES, st.integers(-1, 45))
def test_smallest_equals_a_full_sort_by_value_then_position(values: list[float], k: int) -> None:
    array = np.array(values, dtype=np.float64)
    expected = np.lexsort((np.arange(len(array)), array))[: max(k, 0)]
    found = smallest(array, k)
    assert found.dtype == np.int64
    assert np.array_equal(found, expected)
