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
But where training leaves the layers that are read ahead as they are, it remembers what it read of a fact, as inference
does, and in the same half precision: an epoch shows each many times. What is remembered may differ in its last digit by
what else was read in the same call: a resumed run, which remembers nothing, goes on to the same numbers but for that.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcf.errors import SettingError
from arcf.scorer.kept import REMEMBERED, States
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.layers import Dropout
from arcf.scorer.network.plan import Layout
from arcf.scorer.network.prefix_first import PrefixFirst
from arcf.scorer.ragged import Ragged, places_of
from arcf.scorer.tokens import Batch


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
        self._remembered: dict[bytes, States] = {}

    def prepare(self, candidates: Ragged) -> ReadCandidates:
        """What the first layers make of them."""
        return ReadCandidates(self._read_alone(candidates, self._segment), candidates.offsets)

    def restore(self, states: NDArray[np.float16], offsets: NDArray[np.int64]) -> ReadCandidates:
        """What `prepare` made, from what was kept of it."""
        return ReadCandidates(torch.from_numpy(states).to(self._device).float(), offsets)

    def _lower(self, batch: Batch, rows: Ragged) -> Tensor:
        if not (self.training and self._is_fixed):
            return super()._lower(batch, rows)
        with torch.no_grad():
            prefixes = self._read_alone(batch.prefixes, 0)
            return torch.cat([prefixes, self._remember(batch.candidates).states])

    @cached_property
    def _is_fixed(self) -> bool:
        """Whether training changes nothing of what is read ahead, so that a fact need be read only once."""
        return self.backbone.is_frozen(self.read_ahead) and Dropout.of(self.backbone, training=True) == Dropout()

    def _read_alone(self, texts: Ragged, segment: int) -> Tensor:
        """What the first layers make of texts that see nothing else: (tokens, hidden)."""
        hidden = self._embed(texts, np.zeros(len(texts), np.int64), segment)
        layers = self.backbone.layers[: self.read_ahead] if len(texts) else ()
        return self._run(layers, hidden, Layout(texts.offsets))

    def _remember(self, candidates: Ragged) -> ReadCandidates:
        """The same as `prepare`, but those that are remembered are not read again."""
        keys = [candidates[row].tobytes() for row in range(len(candidates))]
        rows = {key: row for row, key in enumerate(keys) if key not in self._remembered}
        known = {key: self._remembered[key] for key in keys if key not in rows}
        if rows:
            missing = candidates.take(np.array(list(rows.values())))
            states = self._read_alone(missing, self._segment).half().cpu().numpy()
            # Copies: a part of what was read together would keep all of that in memory.
            new = {key: own.copy() for key, own in zip(rows, np.split(states, missing.offsets[1:-1]), strict=True)}
            known |= new
            self._remembered |= new
            while len(self._remembered) > REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return self.restore(np.concatenate([known[key] for key in keys]), candidates.offsets)

    def _before(self, prefixes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        del prefixes
        return np.zeros(counts.sum(), np.int64)

    def _enter(self, candidates: ReadCandidates, before: NDArray[np.int64]) -> Tensor:
        del before
        return candidates.states
