import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.scorer.network.plan import bucket

LENGTHS = st.lists(st.integers(1, 60), max_size=40).map(lambda values: np.array(values, dtype=np.int64))


@given(LENGTHS, st.sampled_from([0.0, 0.2, 0.5]))
def test_groups_hold_every_sequence_once_and_pad_little(lengths: np.ndarray, slack: float) -> None:
    groups = bucket(lengths, slack)
    assert sorted(np.concatenate([*groups, np.empty(0, np.int64)]).tolist()) == list(range(len(lengths)))
    for group in groups:
        assert lengths[group].min() >= int(lengths[group].max() * (1 - slack))


@pytest.mark.parametrize(("slack", "count"), [(0.0, 3), (0.2, 2), (0.9, 1)])
def test_slack_trades_groups_for_padding(slack: float, count: int) -> None:
    assert len(bucket(np.array([10, 9, 5, 10]), slack)) == count
