"""The encoder's layers on a flat run of tokens: (tokens, hidden), no batch dimension, no padding."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from numpy.typing import NDArray
from torch import Tensor, nn

from arcf.scorer.network.attention import KeysValues, attend
from arcf.scorer.network.backbone import Backbone, Embeddings, Layer
from arcf.scorer.network.plan import Layout, Plan, make_plan


@dataclass(frozen=True, slots=True)
class Dropout:
    """The shares that are dropped now: the model's own in training, 0 otherwise. 0 costs nothing."""

    hidden: float = 0.0
    attention: float = 0.0

    @classmethod
    def of(cls, backbone: Backbone, *, training: bool) -> "Dropout":
        """The model's dropout in this mode."""
        return cls(backbone.hidden_dropout, backbone.attention_dropout) if training else cls()


def embed(parts: Embeddings, tokens: Tensor, positions: Tensor, segments: Tensor | int, dropout: Dropout) -> Tensor:
    """Token, position and segment embeddings, (tokens,) -> (tokens, hidden); `segments` may be one for all."""
    hidden = F.embedding(tokens, parts.word.weight) + F.embedding(positions, parts.position.weight)
    if parts.segment is not None:
        # A row for all is broadcast: no gather, and a sum instead of a scatter on the way back.
        weight = parts.segment.weight
        hidden = hidden + (weight[segments] if isinstance(segments, int) else F.embedding(segments, weight))
    hidden = drop(_norm(hidden, parts.norm), dropout.hidden)
    return hidden if parts.projection is None else _linear(hidden, parts.projection)


def keys_values(layer: Layer, hidden: Tensor) -> KeysValues:
    """(tokens, hidden) -> keys and values of the same shape."""
    return KeysValues(_linear(hidden, layer.key), _linear(hidden, layer.value))


def plan_for(backbone: Backbone, layout: Layout, *, first_only: bool = False) -> Plan:
    """The plan by which all layers of a model attend to flat sequences; see `make_plan`."""
    bias = None if backbone.relative_bias is None else backbone.relative_bias.weight
    return make_plan(layout, backbone.heads, backbone.head.weight.device, bias, first_only=first_only)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What attention looks at in one layer: the sequences' own keys and values, and those of their prefixes."""

    own: KeysValues
    plan: Plan
    prefix: KeysValues | None = None


def run_layer(layer: Layer, hidden: Tensor, seen: Seen, dropout: Dropout) -> Tensor:
    """One encoder layer for the tokens that ask: (queries, hidden) -> (queries, hidden)."""
    attended = attend(_linear(hidden, layer.query), seen.own, seen.plan, seen.prefix, dropout.attention)
    hidden = _norm(_add(drop(_linear(attended, layer.output), dropout.hidden), hidden), layer.attention_norm)
    forwarded = _linear(layer.activation(_linear(hidden, layer.up)), layer.down)
    return _norm(_add(drop(forwarded, dropout.hidden), hidden), layer.norm)


def read_first(backbone: Backbone, hidden: Tensor, layout: Layout, dropout: Dropout) -> Tensor:
    """The last layer and the score head, for the first token of each sequence only: nothing else is read.

    `hidden` is the output of the layer before. (tokens, hidden) -> (sequences,).
    """
    layer = backbone.layers[-1]
    plan = plan_for(backbone, layout, first_only=True)
    starts = torch.from_numpy(layout.offsets[:-1]).to(hidden.device)
    first = run_layer(layer, hidden.index_select(0, starts), Seen(keys_values(layer, hidden), plan), dropout)
    return score_of(backbone, first, dropout)


def score_of(backbone: Backbone, states: Tensor, dropout: Dropout) -> Tensor:
    """The score head: (sequences, hidden) -> (sequences,)."""
    scores: Tensor = backbone.head(drop(states, dropout.hidden)).squeeze(1)
    return scores


def means(hidden: Tensor, offsets: NDArray[np.int64]) -> Tensor:
    """The mean of each sequence's tokens: (tokens, hidden) -> (sequences, hidden)."""
    lengths = torch.from_numpy(np.diff(offsets)).to(hidden.device)
    owner = torch.arange(len(lengths), device=hidden.device).repeat_interleave(lengths)
    sums = hidden.new_zeros(len(lengths), hidden.shape[1]).index_add(0, owner, hidden)
    return sums / lengths[:, None].to(hidden.dtype)


def drop(hidden: Tensor, share: float) -> Tensor:
    """Dropout."""
    return F.dropout(hidden, share) if share else hidden


def _add(change: Tensor, hidden: Tensor) -> Tensor:
    """The residual, in place: a linear layer does not need its own output on the way back.

    In mixed precision the change has half the precision of the hidden state, which must not lose its own.
    """
    return change.add_(hidden) if change.dtype == hidden.dtype else change + hidden


def _linear(hidden: Tensor, linear: nn.Linear) -> Tensor:
    return F.linear(hidden, linear.weight, linear.bias)


def _norm(hidden: Tensor, norm: nn.LayerNorm) -> Tensor:
    return F.layer_norm(hidden, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
