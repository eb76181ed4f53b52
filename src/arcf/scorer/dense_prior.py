"""The dense prior: how near a candidate is to question and chain for the encoder as it was before training.

A few thousand questions of one corpus teach an encoder what their annotators look for, and cost it what it knew of
other texts. The cosine of the untrained encoder is added to every score, in training too: the model learns what that
does not say, and cannot undo it.

The facts' vectors are those of the embedding distance by the same encoder: made once, and kept. Of very many facts, a
vector is made when it is first asked for instead.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from arcf.kept.facts import TextFacts
from arcf.neighborhood import Embedding
from arcf.neighborhood.embedding import EmbeddingDistance
from arcf.neighborhood.store import load_or_build
from arcf.scorer.base import STOP, Prefix
from arcf.sentences import Vectors, load_encoder
from arcf.types import ANSWER_MARK

CHOSEN_WEIGHT = 0.2
"""What nearness to a chosen fact weighs beside nearness to the question. Chosen on training questions."""

STOP_NEARNESS = 0.4
"""How near the stop sample is taken to be, which has no text: about as near as half of all gold facts are."""

MANY_FACTS = 20_000
"""From here on nobody waits until all facts have vectors: 20 thousand take a minute."""

QUERIES = 256
"""How many queries keep their vectors at hand: a chain asks for the same one at every step."""


class DensePrior:
    """Scores candidates by the cosine of their vector with the question's, and with the nearest chosen fact's.

    `encoder` is a sentence encoder's folder, or its name on the hub. Threads may share it.
    """

    def __init__(self, encoder: str, facts: Sequence[str], weight: float) -> None:
        self.weight = weight
        self.encoder = encoder
        self._vectors = KeptVectors(encoder, facts) if len(facts) < MANY_FACTS else LazyVectors(encoder, facts)
        self._query = lru_cache(maxsize=QUERIES)(self._encode_query)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same prior of other facts."""
        return type(self)(self.encoder, facts, self.weight)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        scores = np.full(len(candidates), self.weight * STOP_NEARNESS, dtype=np.float32)
        is_fact = candidates != STOP
        if is_fact.any():
            facts = self._vectors.take(candidates[is_fact])  # (candidates, dimension)
            similarity = facts @ self._query(prefix.query)
            if prefix.facts:
                chosen = self._vectors.take(np.array(prefix.facts))  # (chosen, dimension)
                similarity += CHOSEN_WEIGHT * (facts @ chosen.T).max(axis=1)
            scores[is_fact] = self.weight * similarity
        return scores

    def _encode_query(self, query: str) -> Vectors:
        vector: Vectors = load_encoder(self.encoder).encode([query.replace(ANSWER_MARK, " ")])[0]
        return vector


class KeptVectors:
    """The vectors of all facts, from the cache where making them took long."""

    def __init__(self, encoder: str, facts: Sequence[str]) -> None:
        distance = cast("EmbeddingDistance", load_or_build(Embedding(encoder), TextFacts(facts), ()))
        self._vectors, self._group = distance.vectors, distance.groups.of_fact

    def take(self, facts: NDArray[np.int64]) -> Vectors:
        """Those of some facts, zeros for one without a vector: (facts, dimension)."""
        groups = self._group[facts]
        found = np.zeros((len(facts), self._vectors.shape[1]), dtype=np.float32)
        found[groups >= 0] = self._vectors[groups[groups >= 0]]
        return found


class LazyVectors:
    """Vectors that are made when they are first asked for, and kept in half precision.

    Threads may share them: at worst, two encode the same fact.
    """

    def __init__(self, encoder: str, facts: Sequence[str]) -> None:
        self._encoder = encoder
        self._facts = facts
        self._known = np.zeros(len(facts), dtype=np.bool_)

    def take(self, facts: NDArray[np.int64]) -> Vectors:
        """Those of some facts: (facts, dimension)."""
        missing = np.unique(facts[~self._known[facts]])
        if len(missing):
            self._vectors[missing] = self._encode([self._facts[fact] for fact in missing.tolist()])
            self._known[missing] = True
        return self._vectors[facts].astype(np.float32)

    @cached_property
    def _vectors(self) -> NDArray[np.float16]:
        """A place for every fact's vector; pages that nothing was written to cost no memory."""
        return np.zeros((len(self._facts), self._encode([""]).shape[1]), dtype=np.float16)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return load_encoder(self._encoder).encode(texts)
