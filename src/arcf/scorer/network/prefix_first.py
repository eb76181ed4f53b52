"""What the encodings share that read a prefix before any candidate: it does not see them, so it is read once.

From some layer on, a candidate sees the prefix, by its keys and values in that layer, and itself. The encodings differ
in the layer where that begins, and in where a candidate stands.

A candidate's state is the mean over its tokens, as in sentence encoders, and its score is what the head makes of it.
With a `similarity`, the cosine of the candidate's state and the prefix's is added, times that number: an encoder that
was pretrained to embed sentences knows from the first step on which texts belong together.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from numpy.typing import NDArray
from torch import Tensor

from arcf.scorer.network.attention import KeysValues
from arcf.scorer.network.backbone import Layer
from arcf.scorer.network.encoding import Encoding, Known
from arcf.scorer.network.layers import Dropout, Seen, embed, keys_values, means, plan_for, run_layer, score_of
from arcf.scorer.network.plan import Layout
from arcf.scorer.ragged import Ragged, within
from arcf.scorer.tokens import Batch


@dataclass(frozen=True, slots=True, eq=False)
class ReadPrefixes:
    """What candidates need of their prefixes: keys and values of each layer, and which rows are whose."""

    layers: tuple[KeysValues, ...]
    offsets: NDArray[np.int64]  # (prefixes + 1,)
    states: Tensor  # (prefixes, hidden)


class PrefixFirst(Encoding[ReadPrefixes, Known]):
    """f_theta with the prefix encoded once. `read_ahead` is s, the first layer in which a candidate sees it."""

    has_similarity = True
    read_ahead: int = 0

    def forward(self, batch: Batch) -> Tensor:
        """Scores of all candidates, flat and in the batch's order: (candidates,).

        The same as `read`, `prepare` and `score`, but prefixes and candidates go through each layer together: one
        product per weight, and one gradient.
        """
        layers = self.backbone.layers
        if not len(batch.candidates):
            return self.backbone.head.weight.new_zeros(0)
        rows = Ragged.concatenate([batch.prefixes, batch.candidates])
        joined = Layout(rows.offsets, batch.prefixes.offsets, batch.counts, joined=True)
        hidden = self._run(layers[self.read_ahead :], self._lower(batch, rows), joined)
        states = means(hidden, rows.offsets)
        return self._score(states[: joined.first], states[joined.first :], batch.counts)

    def _lower(self, batch: Batch, rows: Ragged) -> Tensor:
        """Prefixes and candidates, which are `rows` together, before these see those: (tokens, hidden)."""
        after = self._before(batch.prefixes.lengths, batch.counts)
        before = np.concatenate([np.zeros(len(batch.prefixes), np.int64), after])
        segments = np.repeat([0, self._segment], [len(batch.prefixes.tokens), len(batch.candidates.tokens)])
        hidden = self._embed(rows, before, self._tensor(segments))
        return self._run(self.backbone.layers[: self.read_ahead], hidden, Layout(rows.offsets))

    def read(self, prefixes: Ragged) -> ReadPrefixes:
        """Encode prefixes."""
        backbone, dropout = self.backbone, self._dropout
        plan = plan_for(backbone, Layout(prefixes.offsets))
        hidden = self._embed(prefixes, np.zeros(len(prefixes), np.int64), 0)  # (tokens, hidden)
        kept = []
        for layer in backbone.layers:
            own = keys_values(layer, hidden)
            kept.append(own)
            hidden = run_layer(layer, hidden, Seen(own, plan), dropout)
        return ReadPrefixes(tuple(kept), prefixes.offsets, means(hidden, prefixes.offsets))

    def score(self, prefixes: ReadPrefixes, candidates: Known, counts: NDArray[np.int64]) -> Tensor:
        """Score candidates, the first `counts[0]` of which belong to the first prefix, and so on: (candidates,)."""
        backbone, dropout, ahead = self.backbone, self._dropout, self.read_ahead
        if not len(candidates.lengths):
            return backbone.head.weight.new_zeros(0)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(candidates.lengths)])
        plan = plan_for(backbone, Layout(offsets, prefixes.offsets, counts))
        hidden = self._enter(candidates, self._before(np.diff(prefixes.offsets), counts))  # (tokens, hidden)
        for layer, prefix in zip(backbone.layers[ahead:], prefixes.layers[ahead:], strict=True):
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan, prefix), dropout)
        return self._score(prefixes.states, means(hidden, offsets), counts)

    def tokens(self, prefix: int, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the candidate: the prefix is read already."""
        del prefix
        return candidates

    def cost(self, prefix: int, candidates: NDArray[np.int64]) -> int:
        """The tokens of the prefix, once, and of all candidates."""
        return prefix + int(candidates.sum())

    @abstractmethod
    def _before(self, prefixes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions before each candidate, given the lengths of the prefixes: (prefixes,) -> (candidates,)."""

    @abstractmethod
    def _enter(self, candidates: Known, before: NDArray[np.int64]) -> Tensor:
        """What candidates are when they first see the prefix: (tokens, hidden)."""

    def _run(self, layers: Sequence[Layer], hidden: Tensor, layout: Layout) -> Tensor:
        """Some layers, one after the other: (tokens, hidden) -> (tokens, hidden)."""
        if not layers:
            return hidden
        plan = plan_for(self.backbone, layout)
        for layer in layers:
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan), self._dropout)
        return hidden

    def _score(self, prefixes: Tensor, candidates: Tensor, counts: NDArray[np.int64]) -> Tensor:
        """What the states say: (prefixes, hidden), (candidates, hidden) -> (candidates,)."""
        scores = score_of(self.backbone, candidates, self._dropout)
        similarity = self.backbone.settings.similarity
        if not similarity:
            return scores
        owner = self._tensor(np.repeat(np.arange(len(counts)), counts))
        return scores + similarity * F.cosine_similarity(candidates, prefixes[owner])

    def _embed(self, rows: Ragged, before: NDArray[np.int64], segments: Tensor | int) -> Tensor:
        """Embeddings of rows that stand after `before` positions each: (tokens, hidden)."""
        places = within(rows.lengths) + np.repeat(before, rows.lengths) + self.backbone.tokenizer.form.first_position
        positions = self._tensor(places)
        return embed(self.backbone.embeddings, self._tensor(rows.tokens), positions, segments, self._dropout)

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.int32]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    @property
    def _segment(self) -> int:
        """That of candidates."""
        return int(self.backbone.tokenizer.form.segments > 1)

    @property
    def _device(self) -> torch.device:
        return self.backbone.head.weight.device

    @property
    def _dropout(self) -> Dropout:
        return Dropout.of(self.backbone, training=self.training)
