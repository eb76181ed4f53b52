"""Which sample comes next: each corpus is gone through round by round, and an epoch mixes the corpora at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arcf.training.samplers import Sample, Sampler


class Rounds:
    """A sampler's samples by their number from the start of training, each round in an order of its own.

    What is drawn depends on the sampler alone, whatever the other corpora and however often this one has its turn.
    `weight` is the part of a round that an epoch takes; it may be more than 1.
    """

    def __init__(self, sampler: Sampler, weight: float = 1.0) -> None:
        self.per_epoch = max(1, round(weight * sampler.per_epoch))
        self._sampler = sampler
        self._order = lru_cache(maxsize=1)(sampler.order)

    def draw(self, number: int) -> Sample | None:
        """The sample of that number, or None where it has no candidate."""
        turn, place = divmod(number, self._sampler.per_epoch)
        return self._sampler.draw(turn, int(self._order(turn)[place]))


@dataclass(frozen=True, slots=True)
class Turn:
    """The corpus whose turn it is, and the number of its sample from the start of training."""

    corpus: int
    number: int


class Mix:
    """Whose turn it is at each position of a run: an epoch takes `counts[i]` samples of corpus i, in a random order.

    The order depends on seed and epoch alone, so that a resumed run goes on as the uninterrupted one.
    """

    def __init__(self, counts: Sequence[int], seed: int) -> None:
        self.counts = tuple(counts)
        self._seed = seed
        self._owners = lru_cache(maxsize=1)(self._shuffle)

    @property
    def per_epoch(self) -> int:
        """Samples of one epoch."""
        return sum(self.counts)

    def samples(self, epochs: float) -> int:
        """Samples of a run of so many epochs."""
        return max(1, round(epochs * self.per_epoch))

    def taken(self, end: int) -> tuple[int, ...]:
        """How many samples of each corpus a run has taken at a position."""
        epoch, places = divmod(end, self.per_epoch)
        owners, _ = self._owners(epoch)
        rest = np.bincount(owners[:places], minlength=len(self.counts)).tolist()
        return tuple(epoch * count + more for count, more in zip(self.counts, rest, strict=True))

    def turn(self, position: int) -> Turn:
        """The turn at a position, counted from the start of training."""
        epoch, place = divmod(position, self.per_epoch)
        owners, numbers = self._owners(epoch)
        corpus = int(owners[place])
        return Turn(corpus, epoch * self.counts[corpus] + int(numbers[place]))

    def _shuffle(self, epoch: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of every place of an epoch, the corpus, and which of its samples of this epoch it is."""
        owners = np.repeat(np.arange(len(self.counts)), self.counts)
        # Five numbers: the generators of samples and their orders have at most four, and missing ones are read as 0.
        owners = np.random.default_rng([self._seed, epoch, 0, 0, 1]).permutation(owners)
        numbers = np.empty_like(owners)
        for corpus, count in enumerate(self.counts):
            numbers[owners == corpus] = np.arange(count)
        return owners, numbers
