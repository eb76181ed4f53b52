import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.bench.explain import PROCEDURES, RecordingScorer, ReplayingScorer, measure_explaining
from arcf.errors import UnknownNameError
from arcf.scorer import Prefix


class Counting:
    """Scores a candidate by its id, and counts how many it was given."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.scored = 0

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.scored += len(candidates)
        return (self.factor * (candidates + len(prefix.facts))).astype(np.float32)


def test_a_replay_computes_its_own_scores_and_gives_the_recorded_ones() -> None:
    recorded, own = RecordingScorer(Counting(1.0)), Counting(-5.0)
    replay, candidates = ReplayingScorer(own, recorded), np.arange(4)
    for prefix in (Prefix("ice"), Prefix("ice", (2,))):
        expected = recorded.score(prefix, candidates)
        np.testing.assert_array_equal(expected, recorded.scorer.score(prefix, candidates))
        np.testing.assert_array_equal(replay.score(prefix, candidates), expected)
    assert own.scored == 8


def test_what_is_followed_takes_its_turn_first() -> None:
    assert next(iter(PROCEDURES)) == "shared_exact"


def test_an_unknown_procedure_is_named_before_anything_is_loaded() -> None:
    with pytest.raises(UnknownNameError, match="There is no procedure named 'onnx_int4'"):
        measure_explaining("/no/such/model", ["onnx_int4"], 1)
