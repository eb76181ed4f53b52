"""A run: for every question, the facts that a system ranked, best first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.types import Dataset, Ranking

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChosenUids:
    """The facts that a chain ended with, in order, whether the stop sample ended it, and how sure it is of each."""

    uids: tuple[str, ...]
    stopped: bool
    confidences: tuple[float, ...] = ()


@dataclass(frozen=True)
class Run:
    """A system's rankings: the uids for every question id, best first, each uid once.

    `scores` has those of the same facts, and `chains` what the rankings were made from, for the questions where they
    are known: not every system has them, and not every file holds them.
    """

    name: str
    rankings: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, Scores] = field(default_factory=dict, compare=False)
    chains: Mapping[str, ChosenUids] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("rankings", "scores", "chains"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and other processes make it again: a proxy of a dict cannot travel."""
        return type(self), (self.name, dict(self.rankings), dict(self.scores), dict(self.chains))

    @classmethod
    def of(cls, name: str, dataset: Dataset, rankings: Iterable[Ranking]) -> "Run":
        """A run of rankings as they are made, without a file."""
        # A fact is ranked for nearly every question: what is decoded for it, is decoded once.
        uid_of = cache(lambda fact: dataset.facts[fact].uid)
        uids, scores, chains = {}, {}, {}
        for ranking in rankings:
            key = ranking.question_id
            uids[key] = tuple(map(uid_of, ranking.facts.tolist()))
            scores[key] = ranking.scores
            if chosen := ranking.chosen:
                chains[key] = ChosenUids(tuple(map(uid_of, chosen.facts)), chosen.stopped, chosen.confidences)
        return cls(name, uids, scores, chains)
