"""What a model has read of a corpus's facts before any question: hidden states, each computed once and kept.

They are kept in half precision: 384 numbers of 12 tokens take 9 KB. 8 bits with a scale for every token would take half
of that, and move scores by far more (`studies/kept.py` compares the two). A fact is read when it is first asked for, or
comes from the corpus's index, if there is one (`scorer.index`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.scorer.index import find_index
from arcf.scorer.ragged import Ragged, places_of

States = NDArray[np.float16]

REMEMBERED = 20_000
"""Facts whose states are kept in memory where there is no index: about 200 MB, however long a server runs."""


@dataclass(frozen=True, slots=True)
class FactReader:
    """How a model reads facts.

    `read` gives the states of facts by their ids, in one call and in that order: (facts,) -> (tokens, `width`); a call
    of about `tokens` tokens is best, and `calls` of them can be made at a time. `model` is what the files of the model
    are known by, and None for one that has no files, or is in training: what was read with other weights must not be
    found.
    """

    read: Callable[[NDArray[np.int64]], NDArray[Any]]
    width: int
    tokens: int
    calls: int = 1
    model: str | None = None


class KeptStates:
    """The states of a corpus's facts. Threads may share it: at worst, two read the same fact at the same time."""

    def __init__(self, candidates: Ragged, reader: FactReader) -> None:
        self.candidates = candidates
        self.reader = reader
        self._index = None if reader.model is None else find_index(reader.model, candidates, reader.width)
        self._known: dict[int, States] = {}
        self._lock = Lock()

    def take(self, facts: NDArray[np.int64]) -> tuple[States, NDArray[np.int64]]:
        """The states of these facts, (tokens, width), and their offsets, (facts + 1,); -1 is the stop sample."""
        places, offsets = places_of(facts, self.candidates.offsets)
        if self._index is not None:
            return self._index[places], offsets
        asked = facts.tolist()
        known = {fact: states for fact in asked if (states := self._known.get(fact)) is not None}
        missing = [fact for fact in dict.fromkeys(asked) if fact not in known]
        if missing:
            known |= self._keep(np.array(missing))
        return np.concatenate([known[fact] for fact in asked]), offsets

    def _keep(self, facts: NDArray[np.int64]) -> dict[int, States]:
        """Read facts, and remember them in place of those that were read the longest ago."""
        states = self.reader.read(facts).astype(np.float16)
        ends = np.cumsum(self.candidates.lengths_of(facts))
        # Copies: a part of what was read together would keep all of that in memory.
        read = {fact: part.copy() for fact, part in zip(facts.tolist(), np.split(states, ends[:-1]), strict=True)}
        with self._lock:
            self._known |= read
            while len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
        return read
