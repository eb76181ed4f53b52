"""Precedents: what explained questions like this one.

Explanations of one subject share facts: what explained why ice melts helps to explain why wax does. A model can learn
that by heart from its training questions, and then misses it in every other corpus. Here it is looked up instead: the
explained questions of the corpus in hand speak for the facts of their explanations, the more the nearer they are. So
what a user has explained counts at once, without training, and a corpus without any loses nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from arcf.kept.facts import TextFacts
from arcf.neighborhood import Bm25Cosine, Embedding, Lexical
from arcf.neighborhood.store import load_or_build
from arcf.scorer.base import Prefix
from arcf.types import ANSWER_MARK, Dataset, QueryForm, Question

NEAREST = 5
"""How many explained questions are looked at. This and the next one were chosen on training questions of WorldTree."""

POWER = 3.0
"""How much sooner a near question is believed than one that is less near."""

MIN_SHARED = 0.2
"""The least share of uses of shared facts that makes precedents worth their reading; see `shared_uses`."""

QUERIES = 256
"""How many queries keep their precedents at hand: a chain asks for the same ones at every step."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A question as it is asked, and the ids of the facts that explain it."""

    query: str
    facts: tuple[int, ...]


def explained_in(dataset: Dataset, questions: Sequence[Question], form: QueryForm) -> tuple[Explained, ...]:
    """Those of the questions that facts of the dataset explain."""
    pairs = ((question, dataset.gold_ids(question)) for question in questions)
    return tuple(Explained(question.asked(form).query(), facts) for question, facts in pairs if facts)


class Precedents:
    """Scores candidates by the explanations of the nearest explained questions; a question is none of its own.

    Nearness is the cosine of words or, with an `encoder` (a folder, or a name on the hub; with so many `threads`), the
    mean of that and the cosine of its vectors. How much it counts is `weight` times the share of `shared_uses`: what
    is used once will hardly be used again. The stop sample has the score 0. Threads may share precedents.
    """

    def __init__(
        self, explained: Sequence[Explained], weight: float, encoder: str | None = None, threads: int | None = None
    ) -> None:
        self.weight = weight
        self._encoder, self._threads = encoder, threads
        self._queries = [_words(known.query) for known in explained]
        self._explanations = [known.facts for known in explained]
        texts = TextFacts(self._queries)
        self._distances = [load_or_build(Lexical(Bm25Cosine()), texts, ())]
        if encoder is not None:
            self._distances.append(load_or_build(Embedding(encoder, threads=threads), texts, ()))
        self._trust = weight * shared_uses(explained)
        self._support = lru_cache(maxsize=QUERIES)(self._find_support)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """Nothing was explained with other facts."""
        del facts
        return type(self)((), self.weight, self._encoder, self._threads)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        support = self._support(prefix.query)
        found = [support.get(candidate, 0.0) for candidate in candidates.tolist()]
        return (self._trust * np.log1p(found)).astype(np.float32)

    estimate = score

    def _find_support(self, query: str) -> Mapping[int, float]:
        """What the nearest explained questions say for the facts of their explanations."""
        text = _words(query)
        nearness = np.mean([1 - distance.distances(text) for distance in self._distances], axis=0)
        nearness[[place for place, other in enumerate(self._queries) if other == text]] = 0
        support: dict[int, float] = defaultdict(float)
        for place in np.argsort(-nearness, kind="stable")[:NEAREST].tolist():
            for fact in self._explanations[place]:
                support[fact] += max(nearness[place], 0.0) ** POWER
        return dict(support)


def shared_uses(explained: Sequence[Explained]) -> float:
    """Of all uses of a fact in an explanation, the share of those whose fact another explanation uses too."""
    uses = Counter(fact for known in explained for fact in set(known.facts))
    return sum(count for count in uses.values() if count > 1) / max(uses.total(), 1)


def _words(query: str) -> str:
    return query.replace(ANSWER_MARK, " ")
