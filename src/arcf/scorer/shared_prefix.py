"""The shared-prefix encoding: a prefix is read once, and every candidate is read against what was kept of it.

The prefix does not see the candidate. A candidate `[CLS] fact [SEP]` stands at the positions after the prefix, in
segment 1 where the model has two, and sees the prefix and itself; its score is read from its own [CLS]. A candidate
thus costs its own ~13 tokens instead of the ~100 of prefix and candidate together.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from arcf.scorer.attention import KeysValues
from arcf.scorer.backbone import Backbone
from arcf.scorer.encoding import Batch
from arcf.scorer.layers import Dropout, Seen, drop, embed, keys_values, run_layer
from arcf.scorer.plan import Layout, make_plan
from arcf.scorer.ragged import Ragged, within


@dataclass(frozen=True, slots=True, eq=False)
class ReadPrefixes:
    """What candidates need of their prefixes: keys and values of each layer, and which rows are whose."""

    layers: tuple[KeysValues, ...]
    offsets: NDArray[np.int64]  # (prefixes + 1,)


class SharedPrefix(nn.Module):
    """f_theta with the prefix encoded once."""

    name = "shared_prefix"

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.model = backbone.model
        self.backbone = backbone

    def forward(self, batch: Batch) -> Tensor:
        """Scores of all candidates, flat and in the batch's order: (candidates,)."""
        return self.score(self.read(batch.prefixes), batch.candidates, batch.counts)

    def read(self, prefixes: Ragged) -> ReadPrefixes:
        """Encode prefixes; their last layer is needed up to its keys and values only."""
        backbone, dropout = self.backbone, self._dropout
        plan = make_plan(Layout(prefixes.offsets), backbone.heads, self._device)
        hidden = self._embed(prefixes, within(prefixes.lengths), segment=0)  # (tokens, hidden)
        kept = []
        for layer in backbone.layers[:-1]:
            own = keys_values(layer, hidden)
            kept.append(own)
            hidden = run_layer(layer, hidden, Seen(own, plan), dropout)
        kept.append(keys_values(backbone.layers[-1], hidden))
        return ReadPrefixes(tuple(kept), prefixes.offsets)

    def score(self, prefixes: ReadPrefixes, candidates: Ragged, counts: NDArray[np.int64]) -> Tensor:
        """Score candidates, the first `counts[0]` of which belong to the first prefix, and so on: (candidates,)."""
        backbone, dropout = self.backbone, self._dropout
        if not len(candidates):
            return backbone.head.weight.new_zeros(0)
        layout = Layout(candidates.offsets, prefixes.offsets, counts)
        plan = make_plan(layout, backbone.heads, self._device)
        lengths = candidates.lengths
        before = np.repeat(np.repeat(np.diff(prefixes.offsets), counts), lengths)  # (tokens,) prefix tokens before
        hidden = self._embed(candidates, before + within(lengths), segment=1)  # (tokens, hidden)
        for layer, prefix in zip(backbone.layers[:-1], prefixes.layers[:-1], strict=True):
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan, prefix), dropout)
        # The score is read from the first token, so the last layer computes nothing else.
        last = backbone.layers[-1]
        plan = make_plan(layout, backbone.heads, self._device, first_only=True)
        own = keys_values(last, hidden)
        first = hidden.index_select(0, self._tensor(candidates.offsets[:-1]))  # (candidates, hidden)
        first = run_layer(last, first, Seen(own, plan, prefixes.layers[-1]), dropout)
        result: Tensor = backbone.head(drop(first, dropout.hidden)).squeeze(1)
        return result

    def _embed(self, rows: Ragged, places: NDArray[np.int64], segment: int) -> Tensor:
        form = self.backbone.encoder.form
        return embed(
            self.backbone.embeddings,
            self._tensor(rows.tokens),
            self._tensor(places + form.first_position),
            min(segment, max(form.segments - 1, 0)),
            self._dropout,
        )

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.int32]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    @property
    def _device(self) -> torch.device:
        return self.backbone.head.weight.device

    @property
    def _dropout(self) -> Dropout:
        return Dropout.of(self.backbone, training=self.training)
