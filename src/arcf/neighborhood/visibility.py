"""Which facts are visible from a question and a chain: vis_k of the paper."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from operator import index
from threading import local

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood.base import Distance, FactIds
from arcf.neighborhood.text import analyzer
from arcf.types import Fact, SeenFrom, number_texts

#: How many sources keep their nearest facts at hand: about 200 MB at k = 290.
REMEMBERED = 100_000


class Neighborhood:
    """The neighborhoods of one corpus under one distance.

    vis_k(q, f_1..N) is the union of the k nearest facts of the question and of each chosen fact. Neighbors are found
    when they are first asked for and remembered, so a chain pays only for its newest fact. Threads may share it.
    Wherever a fact id is taken, it may be Python's or numpy's integer; one that no fact has, or a negative k, raises
    SettingError.
    """

    def __init__(self, facts: Sequence[Fact], distance: Distance) -> None:
        self.facts = facts
        self.distance = distance
        self._analyzer = analyzer()
        self._nearest = lru_cache(maxsize=REMEMBERED)(self._search)
        self._workspace = local()

    @cached_property
    def texts(self) -> NDArray[np.int64]:
        """A number for each fact that only facts of the same text share."""
        return number_texts(self.facts)

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts to a text or to a fact, nearest first; a fact is not its own neighbor."""
        return self._nearest(source if isinstance(source, str) else index(source), k)

    def visible(self, query: str, chain: Sequence[int], k: int) -> FactIds:
        """The facts near the query or near a fact of the chain, without the chain's own, each once.

        In the order of first sight: the query's neighbors from the nearest on, then those that the first chosen fact
        adds, and so on.
        """
        near = [self.nearest(query, k), *(self.nearest(fact, k) for fact in chain)]
        if len(near) == 1:
            return near[0]
        seen: FactIds = np.concatenate(near)
        places = np.arange(len(seen))
        first = self._places()
        # Of several values for one index the last is kept: backwards, that is the place of first sight.
        first[seen[::-1]] = places[::-1]
        first[list(chain)] = -1
        fresh: FactIds = seen[first[seen] == places]
        return fresh

    def seen_from(self, fact: int, query: str, chain: Sequence[int], k: int) -> tuple[SeenFrom, ...]:
        """From which of the query (first) and the chain's facts a fact is visible, and the words that they share."""
        sources: tuple[str | int, ...] = (query, *chain)
        self._checked(fact)
        return tuple(self._sight(fact, source) for source in sources if fact in self.nearest(source, k))

    def overlap(self, fact: int, query: str, chain: Sequence[int]) -> tuple[float, float]:
        """How much of a fact's terms the query or the chain has, and both of the query's: by weight, from 0 to 1."""
        asked, own = set(self._analyzer.terms(query)), set(self._analyzer.terms(self._text(fact)))
        before = set[str]().union(*(self._analyzer.terms(self._text(chosen)) for chosen in chain))
        return self._share(own & (asked | before), own), self._share(asked & (own | before), asked)

    def distances(self, text: str) -> NDArray[np.float64]:
        """The distance of every fact from a text, by fact id: what ranks the facts that were never visible."""
        return self.distance.distances(text)

    def _sight(self, fact: int, source: str | int) -> SeenFrom:
        """The words of a fact that a source shares, the weightiest first, those that mean little apart."""
        shared = self._analyzer.shared(self._text(fact), self._text(source))
        terms = sorted(shared, key=self.distance.term_weight, reverse=True)
        light = [term for term in terms if self._analyzer.is_light(term)]
        return SeenFrom(
            None if isinstance(source, str) else index(source),
            tuple(shared[term] for term in terms if term not in light),
            tuple(shared[term] for term in light),
        )

    def _share(self, part: set[str], whole: set[str]) -> float:
        weight = sum(map(self.distance.term_weight, sorted(whole)))
        return sum(map(self.distance.term_weight, sorted(part))) / weight if weight else 0.0

    def _text(self, source: str | int) -> str:
        return source if isinstance(source, str) else self.facts[self._checked(source)].text

    def _checked(self, fact: int) -> int:
        if not 0 <= fact < len(self.facts):
            raise SettingError(f"There is no fact {fact}: the corpus has {len(self.facts)} facts, numbered from 0.")
        return fact

    def _search(self, source: str | int, k: int) -> FactIds:
        if k < 0:
            raise SettingError(f"k is how many facts are near: it cannot be {k}; take 0 or more.")
        found = self.distance.nearest(source if isinstance(source, str) else self._checked(source), k)
        found.flags.writeable = False
        return found

    def _places(self) -> FactIds:
        """This thread's scratch row with a place for every fact; what it holds is old, and overwritten before read."""
        if not hasattr(self._workspace, "places"):
            self._workspace.places = np.empty(len(self.facts), dtype=np.int64)
        places: FactIds = self._workspace.places
        return places
