"""The shared-prefix encoding: a prefix is read once, and every candidate is read against what was kept of it.

A candidate `[CLS] fact [SEP]` stands at the positions after the prefix, in segment 1 where the model has two, and sees
the prefix and itself in every layer. It thus costs its own ~13 tokens instead of the ~100 of prefix and candidate
together.
"""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from arcf.scorer.network.prefix_first import PrefixFirst
from arcf.scorer.ragged import Ragged


class SharedPrefix(PrefixFirst[Ragged]):
    """f_theta with the prefix encoded once."""

    name = "shared_prefix"

    def prepare(self, candidates: Ragged) -> Ragged:
        """Their tokens: from the first layer on, a candidate sees the prefix."""
        return candidates

    def _before(self, prefixes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.repeat(prefixes, counts)

    def _enter(self, candidates: Ragged, before: NDArray[np.int64]) -> Tensor:
        return self._embed(candidates, before, self._segment)
