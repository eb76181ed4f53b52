"""Which facts are visible from a question and a chain: vis_k of the paper."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood.base import Distance, FactIds
from arcf.neighborhood.text import Analyzer
from arcf.types import Fact, SeenFrom

#: How many sources keep their nearest facts at hand: about 200 MB at k = 290.
REMEMBERED = 100_000


class Neighborhood:
    """The neighborhoods of one corpus under one distance.

    vis_k(q, f_1..N) is the union of the k nearest facts of the question and of each chosen fact. Neighbors are found
    when they are first asked for and remembered, so a chain pays only for its newest fact. Threads may share it.
    """

    def __init__(self, facts: Sequence[Fact], distance: Distance) -> None:
        self.facts = facts
        self.distance = distance
        self._analyzer = Analyzer()
        self._nearest = lru_cache(maxsize=REMEMBERED)(self._search)

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts to a text or to a fact, nearest first; a fact is not its own neighbor."""
        return self._nearest(source, k)

    def visible(self, query: str, chain: Sequence[int], k: int) -> FactIds:
        """The facts near the query or near a fact of the chain, without the chain's own, each once.

        In the order of first sight: the query's neighbors from the nearest on, then those that the first chosen fact
        adds, and so on.
        """
        seen = np.concatenate([self._nearest(source, k) for source in (query, *chain)])
        _, first = np.unique(seen, return_index=True)
        ordered = seen[np.sort(first)]
        return ordered[~np.isin(ordered, chain)] if len(chain) else ordered

    def seen_from(self, fact: int, query: str, chain: Sequence[int], k: int) -> tuple[SeenFrom, ...]:
        """From which of the query (first) and the chain's facts a fact is visible, and the words that they share."""
        sources: tuple[str | int, ...] = (query, *chain)
        return tuple(
            SeenFrom(
                source if isinstance(source, int) else None,
                self._analyzer.shared(self.facts[fact].text, self._text(source)),
            )
            for source in sources
            if fact in self._nearest(source, k)
        )

    def distances(self, text: str) -> NDArray[np.float64]:
        """The distance of every fact from a text, by fact id: what ranks the facts that were never visible."""
        return self.distance.distances(text)

    def _text(self, source: str | int) -> str:
        return self.facts[source].text if isinstance(source, int) else source

    def _search(self, source: str | int, k: int) -> FactIds:
        found = self.distance.nearest(source, k)
        found.flags.writeable = False
        return found
