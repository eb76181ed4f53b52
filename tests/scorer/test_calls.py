import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcf.scorer.calls import calls

LENGTHS = st.lists(st.integers(2, 60), max_size=80).map(lambda values: np.array(values, dtype=np.int64))


@given(LENGTHS, st.integers(1, 300), st.integers(1, 4))
def test_every_candidate_once_and_no_call_too_large(lengths: np.ndarray, tokens: int, together: int) -> None:
    made = list(calls(lengths, tokens, together))
    assert sorted(np.concatenate([*made, np.empty(0, np.int64)]).tolist()) == list(range(len(lengths)))
    for call in made:
        assert 0 < lengths[call].sum() < tokens + lengths.max()


def test_as_many_at_a_time_as_there_are_threads() -> None:
    lengths = np.array([5, 4, 5, 5, 4, 5, 5, 5, 4, 5])
    assert [len(call) for call in calls(lengths, 24)] == [5, 5]
    assert [len(call) for call in calls(lengths, 24, 4)] == [3, 2, 2, 3]


def test_similar_lengths_share_a_call() -> None:
    assert [call.tolist() for call in calls(np.array([9, 2, 9, 3]), 10)] == [[1, 3], [0], [2]]
