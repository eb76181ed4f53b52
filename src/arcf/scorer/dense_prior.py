"""The dense prior: how near a candidate is to question and chain for the encoder as it was before training.

A few thousand questions of one corpus teach an encoder what their annotators look for, and cost it what it knew of
other texts. The cosine of the untrained encoder is added to every score, in training too: the model learns what that
does not say, and cannot undo it.

A fact's vector is computed when it is first asked for, and kept in half precision.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from arcf.scorer.base import STOP, Prefix
from arcf.sentences import Encoder, Vectors
from arcf.types import ANSWER_MARK

CHOSEN_WEIGHT = 0.2
"""What nearness to a chosen fact weighs beside nearness to the question. Chosen on training questions."""

STOP_NEARNESS = 0.4
"""How near the stop sample is taken to be, which has no text: about as near as half of all gold facts are."""

QUERIES = 256
"""How many queries keep their vectors at hand: a chain asks for the same one at every step."""


class DensePrior:
    """Scores candidates by the cosine of their vector with the question's, and with the nearest chosen fact's.

    Threads may share it: at worst, two encode the same fact.
    """

    def __init__(self, encoder: Encoder, facts: Sequence[str], weight: float) -> None:
        self.weight = weight
        self._encoder = encoder
        self._facts = facts
        self._known = np.zeros(len(facts), dtype=np.bool_)
        self._query = lru_cache(maxsize=QUERIES)(self._encode_query)

    def for_facts(self, facts: Sequence[str]) -> Self:
        """The same prior of other facts."""
        return type(self)(self._encoder, facts, self.weight)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        scores = np.full(len(candidates), self.weight * STOP_NEARNESS, dtype=np.float32)
        is_fact = candidates != STOP
        facts = self._take(candidates[is_fact])  # (candidates, dimension)
        similarity = facts @ self._query(prefix.query)
        if prefix.facts:
            chosen = self._take(np.array(prefix.facts))  # (chosen, dimension)
            similarity += CHOSEN_WEIGHT * (facts @ chosen.T).max(axis=1)
        scores[is_fact] = self.weight * similarity
        return scores

    @cached_property
    def _vectors(self) -> NDArray[np.float16]:
        """A place for every fact's vector; pages that nothing was written to cost no memory."""
        return np.zeros((len(self._facts), self._encoder.encode([""]).shape[1]), dtype=np.float16)

    def _take(self, facts: NDArray[np.int64]) -> Vectors:
        missing = np.unique(facts[~self._known[facts]])
        if len(missing):
            self._vectors[missing] = self._encoder.encode([self._facts[fact] for fact in missing.tolist()])
            self._known[missing] = True
        return self._vectors[facts].astype(np.float32)

    def _encode_query(self, query: str) -> Vectors:
        vector: Vectors = self._encoder.encode([query.replace(ANSWER_MARK, " ")])[0]
        return vector
