from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.scorer.base import Prefix
from arcf.training.mix import Mix, Rounds, Turn
from arcf.training.samplers import Sample

COUNTS = st.lists(st.integers(1, 12), min_size=1, max_size=4)


class Numbers:
    """A sampler whose samples say which they are."""

    per_epoch = 7

    def order(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng(epoch).permutation(self.per_epoch)

    def draw(self, epoch: int, number: int) -> Sample:
        return Sample((Prefix(f"{epoch} {number}"),), (0,), np.empty(0, np.int64), np.empty(0, np.bool_), "")


def test_a_corpus_is_gone_through_before_it_repeats() -> None:
    sampler = Numbers()
    drawn = [sample.prefixes[0].query for number in range(14) if (sample := Rounds(sampler).draw(number))]
    assert drawn == [f"{epoch} {number}" for epoch in (0, 1) for number in sampler.order(epoch)]


@given(counts=COUNTS, seed=st.integers(0, 9), epochs=st.integers(1, 3))
def test_every_sample_has_its_turn_once(counts: list[int], seed: int, epochs: int) -> None:
    mix = Mix(counts, seed)
    assert mix.per_epoch == sum(counts)
    turns = [mix.turn(position) for position in range(epochs * mix.per_epoch)]
    for corpus, count in enumerate(counts):
        numbers = [turn.number for turn in turns if turn.corpus == corpus]
        assert numbers == list(range(epochs * count))
    for epoch in range(epochs):
        part = turns[epoch * mix.per_epoch : (epoch + 1) * mix.per_epoch]
        assert Counter(turn.corpus for turn in part) == dict(enumerate(counts))


@given(counts=COUNTS, end=st.integers(0, 60))
def test_what_is_taken_at_a_position(counts: list[int], end: int) -> None:
    mix = Mix(counts, 5)
    turns = Counter(mix.turn(position).corpus for position in range(end))
    assert mix.taken(end) == tuple(turns[corpus] for corpus in range(len(counts)))


@given(counts=COUNTS, positions=st.lists(st.integers(0, 60), max_size=8))
def test_a_turn_depends_on_its_position_alone(counts: list[int], positions: list[int]) -> None:
    again = Mix(counts, 3)
    assert [again.turn(position) for position in positions] == [Mix(counts, 3).turn(place) for place in positions]


def test_one_corpus_is_taken_in_its_own_order() -> None:
    mix = Mix([5], 8)
    assert [mix.turn(position) for position in range(12)] == [Turn(0, number) for number in range(12)]


@pytest.mark.parametrize("place", [(1, 1), (2, 0)], ids=["another epoch", "another seed"])
def test_corpora_are_mixed_anew(place: tuple[int, int]) -> None:
    def owners(seed: int, epoch: int) -> list[int]:
        mix = Mix([40, 20, 4], seed)
        return [mix.turn(epoch * 64 + position).corpus for position in range(64)]

    assert set(owners(1, 0)[:16]) >= {0, 1}
    assert owners(1, 0) != owners(*place)
