"""What validation says of a model, corpus by corpus, and what its weights are chosen by."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Figures:
    """MAP on one corpus: of the held-out questions, and of the part of their gold that no learnt question uses.

    `new` and `new_unseen` are the same of the questions that were left out because facts are held out. None: there is
    no such gold.
    """

    map: float
    unseen: float | None = None
    new: float | None = None
    new_unseen: float | None = None

    def named(self, corpus: str) -> dict[str, float]:
        """Those that there are, led by the corpus's name: NAME, NAME_unseen and so on."""
        known = {part: value for part, value in asdict(self).items() if value is not None}
        return {corpus if part == "map" else f"{corpus}_{part}": value for part, value in known.items()}


def _map(figures: Figures) -> float:
    """MAP of the held-out questions."""
    return figures.map


def _map_and_unseen(figures: Figures) -> float:
    """The mean of both; a corpus without unseen gold counts with what it has."""
    return figures.map if figures.unseen is None else (figures.map + figures.unseen) / 2


CHOICES: Mapping[str, Callable[[Figures], float]] = MappingProxyType({"map": _map, "map_and_unseen": _map_and_unseen})
"""What weights may be chosen by: the mean of this over corpora."""
