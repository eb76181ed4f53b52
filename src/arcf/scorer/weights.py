"""The weights of an encoder and its score head as plain arrays: what is exported, whichever library trained it."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.pretrained.form import InputForm

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """x @ weight + bias: (in, out), (out,)."""

    weight: Array
    bias: Array


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """A layer norm."""

    weight: Array
    bias: Array
    epsilon: float


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingWeights:
    """The first layer: tables (entries, width). Some models have no segments, and few project to the hidden size."""

    word: Array
    position: Array
    segment: Array | None
    norm: Norm
    projection: Linear | None


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """One post-norm encoder layer: attention, then the feed-forward part, each with residual and norm after it."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    attention_norm: Norm
    up: Linear
    down: Linear
    norm: Norm


@dataclass(frozen=True, slots=True, eq=False)
class EncoderWeights:
    """A whole model.

    `relative_bias`: what a relative position adds to attention scores, (buckets, heads), the same in all layers; few
    models have it. `activation` is that of the feed-forward parts, by its name in config.json.
    """

    embeddings: EmbeddingWeights
    layers: tuple[LayerWeights, ...]
    relative_bias: Array | None
    head: Linear
    heads: int
    activation: str
    similarity: float
    form: InputForm


def equal_weights(first: Any, second: Any) -> bool:
    """Whether two of these records, or tuples of them, have the same numbers, bit by bit."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(equal_weights, first, second))
    if is_dataclass(first):
        return all(equal_weights(getattr(first, field.name), getattr(second, field.name)) for field in fields(first))
    return bool(first == second)
