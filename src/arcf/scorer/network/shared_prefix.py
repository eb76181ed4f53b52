"""The shared-prefix encoding: a prefix is read once, and every candidate is read against what was kept of it.

The prefix does not see the candidate. A candidate `[CLS] fact [SEP]` stands at the positions after the prefix, in
segment 1 where the model has two, and sees the prefix and itself. It thus costs its own ~13 tokens instead of the ~100
of prefix and candidate together.

A candidate's state is the mean over its tokens, as in sentence encoders, and its score is what the head makes of it.
With a `similarity`, the cosine of the candidate's state and the prefix's is added, times that number: an encoder that
was pretrained to embed sentences knows from the first step on which texts belong together.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from numpy.typing import NDArray
from torch import Tensor

from arcf.scorer.network.attention import KeysValues
from arcf.scorer.network.encoding import Encoding
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


class SharedPrefix(Encoding[ReadPrefixes, Ragged]):
    """f_theta with the prefix encoded once."""

    name = "shared_prefix"
    has_similarity = True

    def forward(self, batch: Batch) -> Tensor:
        """Scores of all candidates, flat and in the batch's order: (candidates,).

        The same as `read` and `score`, but prefixes and candidates go through each layer together: one product per
        weight, and one gradient.
        """
        backbone, dropout = self.backbone, self._dropout
        if not len(batch.candidates):
            return backbone.head.weight.new_zeros(0)
        rows = Ragged.concatenate([batch.prefixes, batch.candidates])
        layout = Layout(rows.offsets, batch.prefixes.offsets, batch.counts, joined=True)
        plan = plan_for(backbone, layout)
        before = np.concatenate([np.zeros(len(batch.prefixes), np.int64), self._before(batch.prefixes, batch.counts)])
        segments = np.repeat([0, 1], [len(batch.prefixes.tokens), len(batch.candidates.tokens)])
        hidden = self._embed(rows, before, self._tensor(segments * (backbone.tokenizer.form.segments > 1)))
        for layer in backbone.layers:
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan), dropout)
        states = means(hidden, rows.offsets)
        return self._score(states[: layout.first], states[layout.first :], batch.counts)

    def prepare(self, candidates: Ragged) -> Ragged:
        """Their tokens: from the first layer on, a candidate sees the prefix."""
        return candidates

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

    def score(self, prefixes: ReadPrefixes, candidates: Ragged, counts: NDArray[np.int64]) -> Tensor:
        """Score candidates, the first `counts[0]` of which belong to the first prefix, and so on: (candidates,)."""
        backbone, dropout = self.backbone, self._dropout
        if not len(candidates):
            return backbone.head.weight.new_zeros(0)
        layout = Layout(candidates.offsets, prefixes.offsets, counts)
        plan = plan_for(backbone, layout)
        before = self._before(prefixes, counts)
        hidden = self._embed(candidates, before, int(backbone.tokenizer.form.segments > 1))  # (tokens, hidden)
        for layer, prefix in zip(backbone.layers, prefixes.layers, strict=True):
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan, prefix), dropout)
        return self._score(prefixes.states, means(hidden, candidates.offsets), counts)

    def tokens(self, prefix: int, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the candidate: the prefix is read already."""
        del prefix
        return candidates

    def cost(self, prefix: int, candidates: NDArray[np.int64]) -> int:
        """The tokens of the prefix, once, and of all candidates."""
        return prefix + int(candidates.sum())

    def _score(self, prefixes: Tensor, candidates: Tensor, counts: NDArray[np.int64]) -> Tensor:
        """What the states say: (prefixes, hidden), (candidates, hidden) -> (candidates,)."""
        scores = score_of(self.backbone, candidates, self._dropout)
        similarity = self.backbone.settings.similarity
        if not similarity:
            return scores
        owner = self._tensor(np.repeat(np.arange(len(counts)), counts))
        return scores + similarity * F.cosine_similarity(candidates, prefixes[owner])

    def _embed(self, rows: Ragged, before: NDArray[np.int64], segments: Tensor | int) -> Tensor:
        """Embeddings of rows that stand after `before` tokens each: (tokens, hidden)."""
        places = within(rows.lengths) + np.repeat(before, rows.lengths) + self.backbone.tokenizer.form.first_position
        positions = self._tensor(places)
        return embed(self.backbone.embeddings, self._tensor(rows.tokens), positions, segments, self._dropout)

    @staticmethod
    def _before(prefixes: Ragged | ReadPrefixes, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of the prefix before each candidate: (candidates,)."""
        return np.repeat(np.diff(prefixes.offsets), counts)

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.int32]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    @property
    def _device(self) -> torch.device:
        return self.backbone.head.weight.device

    @property
    def _dropout(self) -> Dropout:
        return Dropout.of(self.backbone, training=self.training)
