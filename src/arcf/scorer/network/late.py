"""The late encoding: a candidate's first s layers see only the candidate, so they are computed once per corpus.

The prefix is read as in the shared-prefix encoding. A candidate `[CLS] fact [SEP]` goes through the first s layers
alone, before any question is asked; from layer s on, it sees the prefix and itself. A chain that is scored many times
computes only the other layers. With s = 0 it is the shared prefix but for the positions.

What is read of a fact must not depend on the prefix, so its positions cannot: it stands at the first positions, as the
prefix does. That is what the pretrained encoder knows of a sentence of its own, so that its lower layers make of a fact
what they were trained to; the far end of the table, which would keep both apart, is the part that was trained least. A
candidate is told from the prefix by its segment, 1 where the model has two, by its marks, and by training. Relative
positions (MPNet's) are not part of what is read: in the layers that see the prefix, they are as if it ended right
before the candidate, as in the shared-prefix encoding.

A candidate that occurs more than once in a batch is read as often: of a few prefixes' random negatives, nearly none do.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcf.errors import SettingError
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.plan import Layout
from arcf.scorer.network.prefix_first import PrefixFirst
from arcf.scorer.ragged import Ragged, places_of


@dataclass(frozen=True, slots=True, eq=False)
class ReadCandidates:
    """Hidden states of candidates after the layers that are read ahead."""

    states: Tensor  # (tokens, hidden)
    offsets: NDArray[np.int64]  # (candidates + 1,)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each candidate."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.int64]) -> "ReadCandidates":
        """These candidates; one may repeat, and -1 is the last."""
        places, offsets = places_of(rows, self.offsets)
        return ReadCandidates(self.states[torch.from_numpy(places).to(self.states.device)], offsets)


class Late(PrefixFirst[ReadCandidates]):
    """f_theta with the prefix encoded once, and the lower layers of candidates once per corpus."""

    name = "late"
    keeps_states = True

    def __init__(self, backbone: Backbone) -> None:
        """Run a model as its settings say (`read_ahead`).

        Raises:
            SettingError: no layer would be left to see the prefix.
        """
        super().__init__(backbone)
        self.read_ahead = backbone.settings.read_ahead
        if self.read_ahead >= len(backbone.layers):
            raise SettingError(
                f"read_ahead must be less than the model's {len(backbone.layers)} layers, not {self.read_ahead}: "
                "at least one must see the prefix."
            )

    def prepare(self, candidates: Ragged) -> ReadCandidates:
        """What the first layers make of them."""
        hidden = self._embed(candidates, np.zeros(len(candidates), np.int64), self._segment)  # (tokens, hidden)
        layers = self.backbone.layers[: self.read_ahead] if len(candidates) else ()
        return ReadCandidates(self._run(layers, hidden, Layout(candidates.offsets)), candidates.offsets)

    def restore(self, states: NDArray[np.float16], offsets: NDArray[np.int64]) -> ReadCandidates:
        """What `prepare` made, from what was kept of it."""
        return ReadCandidates(torch.from_numpy(states).to(self._device).float(), offsets)

    def _before(self, prefixes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        del prefixes
        return np.zeros(counts.sum(), np.int64)

    def _enter(self, candidates: ReadCandidates, before: NDArray[np.int64]) -> Tensor:
        del before
        return candidates.states
