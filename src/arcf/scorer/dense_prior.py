"""The dense prior: how near a candidate is to question and chain for the encoder as it was before training.

A few thousand questions of one corpus teach an encoder what their annotators look for, and cost it what it knew of
other texts. The cosine of the untrained encoder is added to every score, in training too: the model learns what that
does not say, and cannot undo it.

The facts' vectors are those of the embedding distance by the same encoder: made once, and kept. Of very many facts, a
vector is made when it is first asked for instead, unless all are there (`arcf index --distance embedding`). Which facts
are worth a score, the prior tells only where all vectors are there: so whether they are decides rankings, and whoever
goes on with a run that was begun, or has parts of it done elsewhere, must say which it is.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from arcf.kept.facts import TextFacts
from arcf.neighborhood import Embedding
from arcf.neighborhood.embedding import EmbeddingDistance
from arcf.neighborhood.store import find_embedding, load_or_build
from arcf.scorer.base import STOP, Prefix
from arcf.sentences import Encoder, Vectors, load_encoder
from arcf.types import ANSWER_MARK

CHOSEN_WEIGHT = 0.2
"""What nearness to a chosen fact weighs beside nearness to the question. Chosen on training questions."""

STOP_NEARNESS = 0.4
"""How near the stop sample is taken to be, which has no text: about as near as half of all gold facts are."""

MANY_FACTS = 20_000
"""From here on nobody waits until all facts have vectors: 20 thousand take a minute."""

REMEMBERED = 100_000
"""Vectors that are kept in memory of more facts than that: 77 MB of 384 numbers each, however long a server runs."""

NOWHERE = -1

QUERIES = 256
"""How many queries keep their vectors at hand: a chain asks for the same one at every step."""


class DensePrior:
    """Scores candidates by the cosine of their vector with the question's, and with the nearest chosen fact's.

    `encoder` is a sentence encoder's folder, or its name on the hub; it has so many `threads`, all unless given.
    `vectors`: whether there are those of all facts; None: if they are few, or kept. Threads may share a prior.
    """

    def __init__(
        self,
        encoder: str,
        facts: Sequence[str],
        weight: float,
        threads: int | None = None,
        vectors: bool | None = None,
    ) -> None:
        self.weight = weight
        self.encoder = encoder
        self._threads = threads
        self._all = vectors
        # The one that it is now, whatever becomes of its folder: other vectors would not fit those at hand.
        self._loaded = load_encoder(encoder, threads)
        self._vectors = self._vectors_of(facts)
        self._query = lru_cache(maxsize=QUERIES)(self._encode_query)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same prior of other facts."""
        return type(self)(self.encoder, facts, self.weight, self._threads, self._all)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        scores = np.full(len(candidates), self.weight * STOP_NEARNESS, dtype=np.float32)
        is_fact = candidates != STOP
        if is_fact.any():
            facts = self._vectors.take(candidates[is_fact])  # (candidates, dimension)
            similarity = np.vecdot(facts, self._query(prefix.query))
            if prefix.facts:
                chosen = self._vectors.take(np.array(prefix.facts))  # (chosen, dimension)
                # Not as a product of matrices: the library's threads would wait for the next one, and take the
                # processors from those that score.
                similarity += CHOSEN_WEIGHT * np.vecdot(facts[:, None], chosen).max(axis=1)
            scores[is_fact] = self.weight * similarity
        return scores

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores, or 0 for all facts where each would have to be encoded: most of them are never scored."""
        if isinstance(self._vectors, LazyVectors):
            return np.zeros(len(facts), dtype=np.float32)
        return self.score(prefix, facts)

    def _vectors_of(self, facts: Sequence[str]) -> "KeptVectors | LazyVectors":
        """The vectors of all facts, where they are wanted, few or made already; else what makes them one by one."""
        if self._all if self._all is not None else len(facts) < MANY_FACTS:
            recipe = Embedding(self.encoder, threads=self._threads)
            return KeptVectors(cast("EmbeddingDistance", load_or_build(recipe, TextFacts(facts), ())))
        found = find_embedding(self.encoder, facts) if self._all is None else None
        return LazyVectors(self._loaded, facts) if found is None else KeptVectors(found)

    def _encode_query(self, query: str) -> Vectors:
        vector: Vectors = self._loaded.encode([query.replace(ANSWER_MARK, " ")])[0]
        return vector


class KeptVectors:
    """The vectors of all facts, those of the embedding distance: mapped into memory where making them took long."""

    def __init__(self, distance: EmbeddingDistance) -> None:
        self._vectors, self._group = distance.vectors, distance.groups.of_fact

    def take(self, facts: NDArray[np.int64]) -> Vectors:
        """Those of some facts, zeros for one without a vector: (facts, dimension)."""
        groups = self._group[facts]
        found = np.zeros((len(facts), self._vectors.shape[1]), dtype=np.float32)
        found[groups >= 0] = self._vectors[groups[groups >= 0]]
        return found


class LazyVectors:
    """Vectors that are made when they are first asked for; in half precision, and no more than `REMEMBERED` at a time.

    Threads may share them: at worst, two encode the same fact.
    """

    def __init__(self, encoder: Encoder, facts: Sequence[str]) -> None:
        self._encoder = encoder
        self._facts = facts
        self._place = np.full(len(facts), NOWHERE, dtype=np.int32)  # of each fact's vector, among those that are kept
        self._owner = np.full(min(REMEMBERED, len(facts)), NOWHERE, dtype=np.int64)  # the fact of each place
        self._next = 0
        self._lock = Lock()

    def take(self, facts: NDArray[np.int64]) -> Vectors:
        """Those of some facts: (facts, dimension)."""
        wanted, place_of = np.unique(facts, return_inverse=True)
        with self._lock:
            places = self._place[wanted]
            found = self._vectors[places]  # (wanted, dimension); nonsense where nothing is known
        missing = places == NOWHERE
        if missing.any():
            found[missing] = self._encoder.encode([self._facts[fact] for fact in wanted[missing].tolist()])
            with self._lock:
                self._remember(wanted[missing], found[missing])
        return found[place_of].astype(np.float32)

    def _remember(self, facts: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        """Put vectors in the place of those that were made the longest ago."""
        is_new = self._place[facts] == NOWHERE  # Another thread may have been faster.
        facts, vectors = facts[is_new][: len(self._owner)], vectors[is_new][: len(self._owner)]
        places = (self._next + np.arange(len(facts))) % len(self._owner)
        before = self._owner[places]
        self._place[before[before != NOWHERE]] = NOWHERE
        self._place[facts], self._owner[places], self._vectors[places] = places, facts, vectors
        self._next = (self._next + len(facts)) % len(self._owner)

    @cached_property
    def _vectors(self) -> NDArray[np.float16]:
        """A place for every vector that is kept; pages that nothing was written to cost no memory."""
        return np.zeros((len(self._owner), self._encoder.encode([""]).shape[1]), dtype=np.float16)
