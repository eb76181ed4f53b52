"""The shared-prefix encoding as one ONNX graph, which reads prefixes and candidates alike.

    tokens (C, L), lengths (C,), keys and values of P tokens seen before, per layer, and their state (1, hidden)
    -> scores (C,), keys and values, states (C, hidden)

A prefix is one row with P = 0, of which the keys, values and state are taken; candidates are rows with those of the
prefix, of which the scores are taken. So both share every weight, in the file and in memory. Rows are padded to the
longest; the caller puts rows of similar length together. A row's state is the mean over its tokens, at length 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from arcf.errors import InputError
from arcf.scorer.exported.graph import CONTRIBUTED, GraphBuilder
from arcf.scorer.exported.precision import Float16, Float32, Precision
from arcf.scorer.relative import relative_buckets
from arcf.scorer.weights import EncoderWeights, LayerWeights, Linear, Norm

INT32, INT64, FLOAT = onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT

ACTIVATIONS: dict[str, Callable[[GraphBuilder, str], str]] = {
    "gelu": lambda graph, value: graph.node("Gelu", value),
    "gelu_new": lambda graph, value: graph.node("Gelu", value, approximate="tanh"),
    "gelu_pytorch_tanh": lambda graph, value: graph.node("Gelu", value, approximate="tanh"),
    "relu": lambda graph, value: graph.node("Relu", value),
}
"""The feed-forward part's activation, by its name in config.json."""


@dataclass(frozen=True, slots=True)
class _Shapes:
    """Shapes and masks that all layers use, as names of values."""

    rows: str  # C, a vector of one number, as are the next two
    length: str  # L
    seen: str  # P
    real: str  # (C, 1, L): whether a place holds a token, not padding
    mask: str  # (C, 1, L): 0 for a token, -inf for padding
    split: str  # (P, L)
    bias: str | None  # (heads, 1, L, P + L): what relative positions add to the scores, in models that have that


@dataclass(frozen=True, slots=True)
class _Heads:
    """What a layer attends with, apart by head: the rows' own (heads, C, L, size), seen before (heads, P, size)."""

    queries: str
    keys: str
    values: str
    seen_keys: str
    seen_values: str


def build(weights: EncoderWeights, precision: Precision) -> onnx.ModelProto:
    """The graph of a model.

    Raises:
        InputError: the model's activation is one that arcf cannot export.
    """
    return _Builder(weights, precision).model()


class _Builder:
    def __init__(self, weights: EncoderWeights, precision: Precision) -> None:
        name = weights.activation
        if name not in ACTIVATIONS:
            raise InputError(f"The activation '{name}' cannot be exported; arcf knows {', '.join(ACTIVATIONS)}.")
        self.activation = ACTIVATIONS[name]
        self.weights = weights
        self.precision = precision
        self.graph = GraphBuilder()
        self.heads = weights.heads
        self.size = len(weights.layers[0].query.bias) // weights.heads

    def model(self) -> onnx.ModelProto:
        graph, layers = self.graph, self.weights.layers
        tokens = graph.input("tokens", INT32, ("C", "L"))
        lengths = graph.input("lengths", INT32, ("C",))
        seen = [
            tuple(graph.input(f"seen_{kind}_{n}", FLOAT, (self.heads, "P", self.size)) for kind in ("keys", "values"))
            for n in range(len(layers))
        ]
        seen_state = graph.input("seen_state", FLOAT, (1, self.heads * self.size))
        shapes = self._shapes(tokens, lengths, seen[0][0])
        embedded = self._embed(tokens, shapes)  # (C, L, hidden)
        hidden = graph.node("Reshape", embedded, graph.integers(-1, self.heads * self.size))  # (C * L, hidden)
        for number, layer in enumerate(layers):
            own = self._apart(layer, hidden, shapes, ["", f"keys_{number}", f"values_{number}"])
            for kept in own[1:]:
                graph.output(kept, (self.heads, "C", "L", self.size))
            hidden = self._layer(layer, hidden, _Heads(*own, *seen[number]), shapes)
        graph.output(self._score(hidden, shapes, seen_state), ("C",))
        graph.output("state", ("C", self.heads * self.size))
        return graph.model("arcf")

    def _shapes(self, tokens: str, lengths: str, seen_keys: str) -> _Shapes:
        graph = self.graph
        rows, length = graph.nodes("Split", graph.node("Shape", tokens), results=["", ""], num_outputs=2)
        seen = graph.node("Shape", seen_keys, start=1, end=2)
        places = self._range(length)  # (L,)
        ends = graph.node("Cast", graph.node("Unsqueeze", lengths, graph.integers(1, 2)), to=INT64)  # (C, 1, 1)
        real = graph.node("Less", places, ends)  # (C, 1, L)
        zero, never = (graph.weight(np.array(value, np.float32)) for value in (0.0, -np.inf))
        mask = graph.node("Where", real, zero, never)
        split = graph.node("Concat", seen, length, axis=0)
        return _Shapes(rows, length, seen, real, mask, split, self._bias(length, seen))

    def _bias(self, length: str, seen: str) -> str | None:
        """What every key's position adds to the scores of every query, by head: (heads, 1, L, P + L)."""
        bias, longest = self.weights.relative_bias, self.weights.form.max_tokens
        if bias is None:
            return None
        graph = self.graph
        buckets = relative_buckets(np.array([longest - 1]), np.arange(2 * longest - 1))[0]  # of -longest + 1, ..
        table = graph.weight(bias[buckets].T)  # (heads, offsets)
        queries = graph.node("Add", self._range(length), seen)
        keys = self._range(graph.node("Add", length, seen))
        offsets = graph.node("Sub", keys, graph.node("Unsqueeze", queries, graph.integers(1)))  # (L, P + L)
        rows = graph.node("Add", offsets, graph.integers(longest - 1))
        return graph.node("Unsqueeze", graph.node("Gather", table, rows, axis=1), graph.integers(1))

    def _range(self, length: str) -> str:
        """0, 1, .. of a length that is a vector of one number."""
        graph = self.graph
        end = graph.node("Squeeze", length)
        zero, one = (graph.weight(np.array(value, np.int64)) for value in (0, 1))
        return graph.node("Range", zero, end, one)

    def _embed(self, tokens: str, shapes: _Shapes) -> str:
        """Words, positions after the tokens seen, and the segment: 0 at P = 0, else 1. (C, L) -> (C, L, width)."""
        graph, parts, form = self.graph, self.weights.embeddings, self.weights.form
        places = graph.node("Add", self._range(shapes.length), shapes.seen)
        table = parts.position[form.first_position :]
        if parts.segment is not None and form.segments == 1:
            table = table + parts.segment[0]
        # A table of a few hundred rows, and exact: positions are added to everything.
        small = Float32() if isinstance(self.precision, Float32) else Float16()
        words = self.precision.lookup(graph, parts.word, tokens)
        hidden = graph.node("Add", words, small.lookup(graph, table, places))
        if parts.segment is not None and form.segments > 1:
            segment = graph.node("Min", shapes.seen, graph.integers(1))
            hidden = graph.node("Add", hidden, graph.node("Gather", graph.weight(parts.segment[:2]), segment))
        hidden = self._norm(hidden, parts.norm)
        if parts.projection is None:
            return hidden
        width = len(parts.projection.weight)
        return self._linear(graph.node("Reshape", hidden, graph.integers(-1, width)), parts.projection)

    def _layer(self, layer: LayerWeights, hidden: str, heads: _Heads, shapes: _Shapes) -> str:
        """One encoder layer: (C * L, hidden) -> (C * L, hidden)."""
        graph = self.graph
        attended = self._linear(self._attend(heads, shapes), layer.output)
        hidden = self._norm(graph.node("Add", attended, hidden), layer.attention_norm)
        forwarded = self._linear(self.activation(graph, self._linear(hidden, layer.up)), layer.down)
        return self._norm(graph.node("Add", forwarded, hidden), layer.norm)

    def _apart(self, layer: LayerWeights, hidden: str, shapes: _Shapes, names: Sequence[str]) -> list[str]:
        """Queries, keys and values, in one product: (C * L, hidden) -> three times (heads, C, L, size)."""
        graph, parts, width = self.graph, (layer.query, layer.key, layer.value), self.heads * self.size
        weight = np.concatenate([part.weight for part in parts], axis=1)  # (hidden, 3 * hidden)
        bias = np.concatenate([part.bias for part in parts])
        for array in (weight, bias):
            array[..., :width] *= self.size**-0.5
        flat = self.precision.linear(graph, hidden, weight, bias)
        shape = graph.node("Concat", shapes.rows, shapes.length, graph.integers(3 * self.heads, self.size), axis=0)
        apart = graph.node("Transpose", graph.node("Reshape", flat, shape), perm=[2, 0, 1, 3])
        return graph.nodes("Split", apart, results=names, axis=0, num_outputs=3)

    def _attend(self, heads: _Heads, shapes: _Shapes) -> str:
        """Softmax attention to the tokens seen before and to the row's own: (heads, C, L, size) -> (C * L, hidden)."""
        graph = self.graph
        flat = graph.integers(self.heads, -1, self.size)
        queries = graph.node("Reshape", heads.queries, flat)  # (heads, C * L, size)
        to_seen = self._products(queries, heads.seen_keys)  # (heads, C * L, P)
        own = graph.node("Add", self._products(heads.queries, heads.keys), shapes.mask)  # (heads, C, L, L)
        square = graph.node("Shape", own)
        count = graph.node("Shape", queries, start=0, end=2)
        long = graph.node("Concat", count, graph.node("Shape", own, start=3), axis=0)
        to_own = graph.node("Reshape", own, long)  # (heads, C * L, L)
        scores = graph.node("Concat", to_seen, to_own, axis=-1)  # (heads, C * L, P + L)
        weights = graph.node("Softmax", self._biased(scores, shapes), axis=-1)
        on_seen, on_own = graph.nodes("Split", weights, shapes.split, results=["", ""], axis=-1)
        seen = graph.node("MatMul", on_seen, heads.seen_values)  # (heads, C * L, size)
        own = graph.node("MatMul", graph.node("Reshape", on_own, square), heads.values)
        total = graph.node("Add", graph.node("Reshape", own, flat), seen)
        together = graph.node("Transpose", total, perm=[1, 0, 2])
        return graph.node("Reshape", together, graph.integers(-1, self.heads * self.size))

    def _biased(self, scores: str, shapes: _Shapes) -> str:
        """Scores and what relative positions add to them: (heads, C * L, P + L)."""
        if shapes.bias is None:
            return scores
        graph = self.graph
        square = graph.node("Shape", shapes.bias, start=2)  # (L, P + L)
        apart = graph.node("Reshape", scores, graph.node("Concat", graph.integers(self.heads, -1), square, axis=0))
        return graph.node("Reshape", graph.node("Add", apart, shapes.bias), graph.node("Shape", scores))

    def _products(self, queries: str, keys: str) -> str:
        """Of every query with every key: (.., L, size), (.., P, size) -> (.., L, P)."""
        return self.graph.node("FusedMatMul", queries, keys, transB=1, domain=CONTRIBUTED)

    def _score(self, hidden: str, shapes: _Shapes, seen_state: str) -> str:
        """The head on the rows' means, and their cosine with what was seen: (C * L, hidden) -> (C,).

        All in float32: it is small, and nothing after it evens out an error.
        """
        graph, width = self.graph, self.heads * self.size
        apart = graph.node(
            "Reshape", hidden, graph.node("Concat", shapes.rows, shapes.length, graph.integers(width), axis=0)
        )
        real = graph.node("Cast", graph.node("Transpose", shapes.real, perm=[0, 2, 1]), to=FLOAT)  # (C, L, 1)
        axis = graph.integers(1)
        sums = graph.node("ReduceSum", graph.node("Mul", apart, real), axis, keepdims=0)
        mean = graph.node("Div", sums, graph.node("ReduceSum", real, axis, keepdims=0))  # (C, hidden)
        state = graph.node("LpNormalization", mean, axis=1, p=2, result="state")
        head = self.weights.head
        scores = Float32().linear(graph, mean, head.weight, head.bias)  # (C, 1)
        cosines = graph.node("ReduceSum", graph.node("Mul", state, seen_state), axis, keepdims=1)
        weighed = graph.node("Mul", cosines, graph.weight(np.array(self.weights.similarity, np.float32)))
        return graph.node("Squeeze", graph.node("Add", scores, weighed), axis, result="scores")

    def _linear(self, rows: str, linear: Linear) -> str:
        return self.precision.linear(self.graph, rows, linear.weight, linear.bias)

    def _norm(self, hidden: str, norm: Norm) -> str:
        graph = self.graph
        weight, bias = graph.weight(norm.weight), graph.weight(norm.bias)
        return graph.node("LayerNormalization", hidden, weight, bias, epsilon=norm.epsilon, axis=-1)
