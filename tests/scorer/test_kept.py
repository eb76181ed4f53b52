"""What was read of facts: once each, in half precision, whoever asks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.scorer.kept import FactReader, KeptStates
from arcf.scorer.ragged import Ragged

WIDTH = 3


class Reading:
    """States that say whose they are, and a list of what was read."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.candidates = Ragged.of(rows)
        self.read: list[int] = []

    def __call__(self, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        self.read += facts.tolist()
        return np.repeat(self.candidates.take(facts).tokens[:, None], WIDTH, axis=1) / np.float32(3)

    def kept(self) -> KeptStates:
        return KeptStates(self.candidates, FactReader(self, WIDTH, 100))


@given(st.lists(st.lists(st.integers(-1, 3), min_size=1, max_size=6), max_size=5))
def test_all_that_is_asked_is_given_and_nothing_read_twice(questions: list[list[int]]) -> None:
    reading = Reading([[1, 2], [3], [4, 5, 6], [7, 8]])
    kept = reading.kept()
    for asked in questions:
        states, offsets = kept.take(np.array(asked))
        expected = reading.candidates.take(np.array(asked))
        assert states.dtype == np.float16
        np.testing.assert_array_equal(offsets, expected.offsets)
        np.testing.assert_allclose(states, np.repeat(expected.tokens[:, None], WIDTH, axis=1) / 3, rtol=1e-3)
    assert len(reading.read) == len(set(reading.read)) == len({fact for asked in questions for fact in asked})


def test_threads_share_it() -> None:
    reading = Reading([[number, number + 1] for number in range(50)])
    kept, asked = reading.kept(), [np.random.default_rng(seed).permutation(50) for seed in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for facts, (states, _) in zip(asked, pool.map(kept.take, asked), strict=True):
            np.testing.assert_array_equal(states, reading(facts).astype(np.float16))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcf.scorer.kept.REMEMBERED", 3)
    reading = Reading([[number, number + 1] for number in range(8)])
    kept = reading.kept()
    for asked in ([0, 1], [2, 3, 4, 5, 6], [0, 6], [6, 5]):
        states, _ = kept.take(np.array(asked))
        np.testing.assert_array_equal(states[::2, 0], (np.array(asked) / np.float32(3)).astype(np.float16))
    assert len(kept._known) == 3
    assert reading.read == [0, 1, 2, 3, 4, 5, 6, 0]


def test_a_model_without_files_looks_for_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that is in training: what was read with its weights of yesterday must not be found."""
    monkeypatch.setattr("arcf.scorer.kept.find_index", lambda *_: pytest.fail("looked for an index"))
    Reading([[1], [2]]).kept().take(np.array([0, -1]))
