"""The union of several distances: near is what is near by any of them.

The units of two distances cannot be compared, their orders can. With r_i(f) the rank of a fact f under part i, from 0
on, its distance is min_i (n r_i(f) + i) over the n parts: the nearest fact of the first part, then that of the second,
and so on in turns, each fact at its best place. So k facts come back as from any distance, about k / n from each part
and more where they agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood.base import Distance, FactIds, Recipe, State
from arcf.types import Fact, Question


class UnionDistance(Distance):
    """Several distances over one corpus, taken in turns."""

    symmetric = False  # a may be the nearest fact of b while others are nearer to a

    def __init__(self, parts: Sequence[Distance]) -> None:
        self.parts = tuple(parts)

    @property
    def size(self) -> int:
        """The number of facts."""
        return self.parts[0].size

    def distances(self, text: str) -> NDArray[np.float64]:
        """The place of every fact, from 0 on; parts * facts for the facts that no part relates to the text.

        Needs the whole order of every part, which costs Word Mover's Distance an exact solution for every fact.
        """
        places = np.full(self.size, float(len(self.parts) * self.size))
        facts, turns = self._turns(text, self.size)
        places[facts] = turns
        return places

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k facts of the best places; fewer where the parts together relate fewer to the source."""
        return self._turns(source, k)[0][: max(k, 0)]

    def term_weight(self, term: str) -> float:
        """What the first part gives it."""
        return self.parts[0].term_weight(term)

    def state(self) -> State:
        """The states of all parts, their keys led by the number of the part."""
        return {
            f"{number}.{key}": value for number, part in enumerate(self.parts) for key, value in part.state().items()
        }

    def _turns(self, source: str | int, k: int) -> tuple[FactIds, FactIds]:
        """The facts among the k nearest of any part, best place first, and their places min_i (n r_i + i).

        No fact outside of them can have one of the k best places.
        """
        found = [part.nearest(source, k) for part in self.parts]
        facts = np.concatenate(found)
        turns = np.concatenate([np.arange(len(ids)) * len(found) + number for number, ids in enumerate(found)])
        order = np.argsort(turns)  # no two are equal
        _, first = np.unique(facts[order], return_index=True)
        best = order[np.sort(first)]
        return facts[best], turns[best]


@dataclass(frozen=True)
class Union:
    """The recipe of a union; the order of the parts decides who goes first at equal rank."""

    parts: tuple[Recipe, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise SettingError("A union of distances needs at least one part.")

    def identity(self) -> str:
        """Those of the parts, in order."""
        return f"union of {[part.identity() for part in self.parts]}"

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> UnionDistance:
        """Build every part."""
        return UnionDistance([part.build(facts, questions) for part in self.parts])

    def restore(self, state: State) -> UnionDistance:
        """Restore every part from its share of the state."""
        return UnionDistance([part.restore(_share(state, number)) for number, part in enumerate(self.parts)])


def _share(state: State, number: int) -> State:
    lead = f"{number}."
    return {key.removeprefix(lead): value for key, value in state.items() if key.startswith(lead)}
