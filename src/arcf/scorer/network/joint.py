"""The joint encoding, the paper's: `[CLS] prefix [SEP] candidate [SEP]`, one full sequence per candidate.

The stop sample is the prefix alone. The score is read from the first token.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcf.pretrained.form import InputForm
from arcf.scorer.network.encoding import Encoding
from arcf.scorer.network.layers import Dropout, Seen, embed, keys_values, plan_for, read_first, run_layer
from arcf.scorer.network.plan import Layout
from arcf.scorer.ragged import Ragged, within

STOP_LENGTH = 2
"""Tokens of the stop sample's candidate, `[CLS] [SEP]`; it adds nothing to the prefix."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Full sequences, and how many tokens of each belong to the first text."""

    rows: Ragged
    first_text: NDArray[np.int64]  # (sequences,)


def pair(prefixes: Ragged, candidates: Ragged, counts: NDArray[np.int64], form: InputForm) -> Pairs:
    """Join every candidate to its prefix, as transformers does with pairs of texts."""
    owner = np.repeat(np.arange(len(counts)), counts)
    between = [form.end] if form.double_end else []
    rows = []
    for number, prefix in enumerate(owner.tolist()):
        candidate = candidates[number]
        tail = [] if len(candidate) == STOP_LENGTH else [*between, *candidate[1:]]
        rows.append(np.concatenate([prefixes[prefix], np.asarray(tail, dtype=np.int32)]))
    return Pairs(Ragged.of(rows), prefixes.lengths[owner])


def pair_lengths(prefix: int, candidates: NDArray[np.int64], form: InputForm) -> NDArray[np.int64]:
    """Tokens of each pair of a prefix and a candidate of such lengths."""
    return prefix + np.where(candidates == STOP_LENGTH, 0, candidates - 1 + form.double_end)


class Joint(Encoding[Ragged, Ragged]):
    """f_theta with full attention between prefix and candidate."""

    name = "joint"

    def prepare(self, candidates: Ragged) -> Ragged:
        """Their tokens: every prefix changes the rest."""
        return candidates

    def read(self, prefixes: Ragged) -> Ragged:
        """Nothing can be computed from a prefix alone: every candidate changes it."""
        return prefixes

    def score(self, prefixes: Ragged, candidates: Ragged, counts: NDArray[np.int64]) -> Tensor:
        """Score candidates, the first `counts[0]` of which belong to the first prefix, and so on: (candidates,)."""
        backbone = self.backbone
        if not len(candidates):
            return backbone.head.weight.new_zeros(0)
        dropout = Dropout.of(backbone, training=self.training)
        pairs = pair(prefixes, candidates, counts, backbone.tokenizer.form)
        hidden = self._embed(pairs, dropout)  # (tokens, hidden)
        layout = Layout(pairs.rows.offsets)
        plan = plan_for(backbone, layout)
        for layer in backbone.layers[:-1]:
            hidden = run_layer(layer, hidden, Seen(keys_values(layer, hidden), plan), dropout)
        return read_first(backbone, hidden, layout, dropout)

    def tokens(self, prefix: int, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many tokens `score` computes for each candidate, given its length and that of its prefix."""
        return pair_lengths(prefix, candidates, self.backbone.tokenizer.form)

    def cost(self, prefix: int, candidates: NDArray[np.int64]) -> int:
        """The tokens of all pairs."""
        return int(self.tokens(prefix, candidates).sum())

    def _embed(self, pairs: Pairs, dropout: Dropout) -> Tensor:
        backbone, form = self.backbone, self.backbone.tokenizer.form
        places = within(pairs.rows.lengths)
        second = places >= np.repeat(pairs.first_text, pairs.rows.lengths)
        segments = second.astype(np.int64) * (form.segments > 1)
        arrays = (pairs.rows.tokens, places + form.first_position, segments)
        tokens, positions, kinds = (torch.from_numpy(array).to(backbone.head.weight.device) for array in arrays)
        return embed(backbone.embeddings, tokens, positions, kinds, dropout)
