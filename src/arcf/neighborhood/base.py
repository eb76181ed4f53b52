"""What a distance between facts and texts must be able to do, and how it is made from a corpus."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arcf.types import Fact, Question

FactIds = NDArray[np.int64]
State = Mapping[str, NDArray[Any]]


class Distance(ABC):
    """How far every fact of one corpus is from a text, and from another fact.

    Smaller is nearer; the unit is the distance's own. Ties are broken by fact id, so every answer is reproducible.
    Facts that the distance cannot relate to the source at all (for a lexical one: no shared term) are not near at any
    k: `nearest` may return fewer than k facts, and returns none for a text without a known word.
    """

    #: Whether the distance of a from b is that of b from a.
    symmetric: bool = True
    #: What a distance is subtracted from to be shown as a similarity: 1 for cosines, 0 for open scales.
    limit: float = 1.0

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of facts."""

    @abstractmethod
    def distances(self, text: str) -> NDArray[np.float64]:
        """The distance of every fact from a text, by fact id."""

    @abstractmethod
    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts to a text, or to a fact (which is not its own neighbor), nearest first."""

    def term_weight(self, term: str) -> float:
        """What a term weighs, such as its idf: the more, the rarer it is; 1 for all where terms are not weighed."""
        del term
        return 1.0

    @abstractmethod
    def state(self) -> State:
        """What `Recipe.restore` needs to make the same distance again without the work: plain arrays."""


class Recipe(Protocol):
    """The settings of a distance."""

    def identity(self) -> str:
        """All that decides the distance besides the corpus: two recipes with the same identity make the same one."""
        ...

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> Distance:
        """Make the distance from a corpus; `questions` are training questions, which some distances learn from."""
        ...

    def restore(self, state: State) -> Distance:
        """Make it from what `Distance.state` returned."""
        ...


def smallest(values: NDArray[np.float64], k: int) -> FactIds:
    """Positions of the k smallest values, ascending; equal values by position. Linear in the number of values."""
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    if k >= len(values):
        return np.argsort(values, kind="stable")
    bound = np.partition(values, k - 1)[k - 1]
    below = np.flatnonzero(values < bound)
    level = np.flatnonzero(values == bound)[: k - len(below)]
    inside = np.sort(np.concatenate([below, level]))
    return inside[np.argsort(values[inside], kind="stable")]
