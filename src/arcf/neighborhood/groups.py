"""Facts that a distance cannot tell apart, as one.

Equal facts must be at exactly equal distances, or ties would be broken by round-off instead of by fact id: a matrix
product gives last digits that depend on where a row stands. So dense distances are computed once per group of equal
facts and handed to its members. A fact that the distance knows nothing about is in no group, and near nothing.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood.base import FactIds, smallest

Floats = NDArray[np.float64]
NONE = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every fact, `NONE` for a fact without one. Groups are numbered by their first fact."""

    of_fact: FactIds  # (facts,)

    @cached_property
    def first(self) -> FactIds:
        """The first fact of every group, ascending."""
        numbers, first = np.unique(self.of_fact, return_index=True)
        first_facts: FactIds = first[numbers != NONE]
        return first_facts

    def of(self, source: int) -> int | None:
        """The group of a fact, or None."""
        group = int(self.of_fact[source])
        return None if group == NONE else group

    def spread(self, values: Floats, missing: float) -> Floats:
        """The value of every fact from that of every group; `missing` for facts in none."""
        return np.append(values, missing)[self.of_fact]  # NONE indexes the appended value

    def nearest(self, distances: Floats, source: str | int, k: int) -> FactIds:
        """The k facts of the smallest distance (one per group; infinite: not near), without the source itself."""
        each = self.spread(distances, np.inf)
        if isinstance(source, int):
            each[source] = np.inf
        found = smallest(each, k)
        return found[np.isfinite(each[found])]

    def nearest_among(self, groups: FactIds, distances: Floats, source: str | int, k: int) -> FactIds:
        """As `nearest`, over the facts of some groups only; looks at no other fact."""
        starts, ends = self._starts[groups], self._starts[groups + 1]
        sizes = ends - starts
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        facts = self._members[np.repeat(starts, sizes) + within]
        each = np.repeat(distances, sizes)
        if isinstance(source, int):
            facts, each = facts[facts != source], each[facts != source]
        found: FactIds = facts[np.lexsort((facts, each))[: max(k, 0)]]
        return found

    @cached_property
    def _members(self) -> FactIds:
        """All facts that are in a group, by group."""
        order = np.argsort(self.of_fact, kind="stable")
        return order[int(np.count_nonzero(self.of_fact == NONE)) :]

    @cached_property
    def _starts(self) -> FactIds:
        """Where each group starts in `_members`, and the end of the last."""
        return np.searchsorted(self.of_fact[self._members], np.arange(len(self.first) + 1))


def group(keys: Iterable[Hashable]) -> Groups:
    """Groups of facts with equal keys; a fact whose key is None is in none."""
    numbers: dict[Hashable, int] = {}
    return Groups(
        np.array([NONE if key is None else numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    )
