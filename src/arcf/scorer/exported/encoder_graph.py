"""The encodings that read a prefix first as ONNX graphs, which read prefixes and candidates alike.

The shared prefix is one graph:

    tokens (C, L), lengths (C,), keys and values of P tokens seen before, per layer, and their state (1, hidden)
    -> scores (C,), keys and values, states (C, hidden)

A prefix is one row with P = 0, of which the keys, values and state are taken; candidates are rows with those of the
prefix, of which the scores are taken. So both share every weight, in the file and in memory. Rows are padded to the
longest; the caller puts rows of similar length together. A row's state is the mean over its tokens, at length 1.

The late encoding is the same, cut in two after the layers that see no prefix, so that every weight is still there once:

    tokens (C, L), lengths (C,), segment (1,): 0 for prefixes, 1 for candidates -> hidden states (C, L, hidden)
    hidden states (C, L, hidden), lengths (C,), what was seen before, as above -> as above

A plain encoder, which sees every row alone, has the inputs and the output that other exporters give it:

    input_ids (C, L), attention_mask (C, L) -> last_hidden_state (C, L, hidden)

If its lower layers are those of a model in the late encoding, it goes on from what that model's lower graph gives:

    hidden states (C, L, hidden), lengths (C,) -> last_hidden_state (C, L, hidden)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from arcf.errors import InputError
from arcf.scorer.exported.graph import CONTRIBUTED, GraphBuilder
from arcf.scorer.exported.precision import Float16, Float32, Precision, reading_precision
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
    """The graph of a model in the shared-prefix encoding.

    Raises:
        InputError: the model's activation is one that arcf cannot export.
    """
    return _Builder(weights, precision).whole()


def build_late(
    weights: EncoderWeights, precision: Precision, read_ahead: int
) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The graphs of a model in the late encoding: up to the layer where a candidate first sees the prefix, and on.

    Raises:
        InputError: the model's activation is one that arcf cannot export.
    """
    lower = _Builder(weights, reading_precision(precision)).lower(read_ahead)
    return lower, _Builder(weights, precision).upper(read_ahead)


def build_encoder(weights: EncoderWeights, precision: Precision) -> onnx.ModelProto:
    """The graph of a plain encoder.

    Raises:
        InputError: the model's activation is one that arcf cannot export.
    """
    return _Builder(weights, precision).encoder()


def build_upper_encoder(weights: EncoderWeights, precision: Precision, first: int) -> onnx.ModelProto:
    """The graph of the layers from `first` on of a plain encoder.

    Raises:
        InputError: the model's activation is one that arcf cannot export.
    """
    return _Builder(weights, precision).upper_encoder(first)


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
        self.width = self.heads * self.size

    def whole(self) -> onnx.ModelProto:
        """From tokens to scores."""
        graph = self.graph
        tokens, seen = graph.input("tokens", INT32, ("C", "L")), self._seen(0)
        shapes = self._shapes(tokens, self._lengths(), graph.node("Shape", seen[0][0], start=1, end=2))
        segment = graph.node("Min", shapes.seen, graph.integers(1))
        return self._to_scores(self._embed(tokens, shapes, segment), shapes, seen)

    def lower(self, layers: int) -> onnx.ModelProto:
        """From tokens to hidden states after so many layers, in which rows see only themselves."""
        graph = self.graph
        tokens, segment = graph.input("tokens", INT32, ("C", "L")), graph.input("segment", INT64, (1,))
        shapes = self._shapes(tokens, self._lengths(), graph.integers(0))
        self._alone(self._embed(tokens, shapes, segment), shapes, self.weights.layers[:layers], "states")
        return graph.model("arcf-lower")

    def encoder(self) -> onnx.ModelProto:
        """From tokens to the last hidden states."""
        graph = self.graph
        tokens, mask = (graph.input(name, INT64, ("C", "L")) for name in ("input_ids", "attention_mask"))
        lengths = graph.node("ReduceSum", mask, graph.integers(1), keepdims=0)
        shapes = self._shapes(tokens, lengths, graph.integers(0))
        self._alone(self._embed(tokens, shapes, graph.integers(0)), shapes, self.weights.layers, "last_hidden_state")
        return graph.model("arcf-encoder")

    def upper_encoder(self, first: int) -> onnx.ModelProto:
        """From the hidden states before a layer to the last ones."""
        graph = self.graph
        states = graph.input("states", FLOAT, ("C", "L", self.width))
        shapes = self._shapes(states, self._lengths(), graph.integers(0))
        self._alone(states, shapes, self.weights.layers[first:], "last_hidden_state")
        return graph.model("arcf-upper-encoder")

    def upper(self, first: int) -> onnx.ModelProto:
        """From the hidden states before a layer to scores."""
        graph = self.graph
        states, seen = graph.input("states", FLOAT, ("C", "L", self.width)), self._seen(first)
        shapes = self._shapes(states, self._lengths(), graph.node("Shape", seen[0][0], start=1, end=2))
        return self._to_scores(states, shapes, seen)

    def _lengths(self) -> str:
        return self.graph.input("lengths", INT32, ("C",))

    def _alone(self, states: str, shapes: _Shapes, layers: Sequence[LayerWeights], result: str) -> None:
        """Layers in which rows see only themselves: (C, L, hidden) -> the output of that name, of the same shape."""
        graph, hidden = self.graph, self._flat(states)
        nothing = [graph.weight(np.zeros((self.heads, 0, self.size), np.float32))] * 2
        for layer in layers:
            own = self._apart(layer, hidden, shapes, ["", "", ""])
            hidden = self._layer(layer, hidden, _Heads(*own, *nothing), shapes)
        graph.output(self._rows(hidden, shapes, result=result), ("C", "L", self.width))

    def _seen(self, first: int) -> list[list[str]]:
        """Keys and values of what was seen before, in the layers from `first` on."""
        return [
            [self.graph.input(f"seen_{kind}_{n}", FLOAT, (self.heads, "P", self.size)) for kind in ("keys", "values")]
            for n in range(first, len(self.weights.layers))
        ]

    def _to_scores(self, states: str, shapes: _Shapes, seen: Sequence[Sequence[str]]) -> onnx.ModelProto:
        """The last layers, as many as something was seen in, and what is read out: (C, L, hidden) -> the outputs."""
        graph, layers = self.graph, self.weights.layers
        seen_state = graph.input("seen_state", FLOAT, (1, self.width))
        hidden = self._flat(states)
        for number, seen_before in enumerate(seen, start=len(layers) - len(seen)):
            layer = layers[number]
            own = self._apart(layer, hidden, shapes, ["", f"keys_{number}", f"values_{number}"])
            for kept in own[1:]:
                graph.output(kept, (self.heads, "C", "L", self.size))
            hidden = self._layer(layer, hidden, _Heads(*own, *seen_before), shapes)
        graph.output(self._score(hidden, shapes, seen_state), ("C",))
        graph.output("state", ("C", self.width))
        return graph.model("arcf")

    def _flat(self, states: str) -> str:
        """(C, L, hidden) -> (C * L, hidden)."""
        return self.graph.node("Reshape", states, self.graph.integers(-1, self.width))

    def _rows(self, hidden: str, shapes: _Shapes, result: str = "") -> str:
        """(C * L, hidden) -> (C, L, hidden)."""
        shape = self.graph.node("Concat", shapes.rows, shapes.length, self.graph.integers(self.width), axis=0)
        return self.graph.node("Reshape", hidden, shape, result=result)

    def _shapes(self, rows: str, lengths: str, seen: str) -> _Shapes:
        """Of rows (C, L, ..) of these lengths after so many tokens seen."""
        graph = self.graph
        count, length = graph.nodes("Split", graph.node("Shape", rows, start=0, end=2), results=["", ""], num_outputs=2)
        places = self._range(length)  # (L,)
        ends = graph.node("Cast", graph.node("Unsqueeze", lengths, graph.integers(1, 2)), to=INT64)  # (C, 1, 1)
        real = graph.node("Less", places, ends)  # (C, 1, L)
        zero, never = (graph.weight(np.array(value, np.float32)) for value in (0.0, -np.inf))
        mask = graph.node("Where", real, zero, never)
        split = graph.node("Concat", seen, length, axis=0)
        return _Shapes(count, length, seen, real, mask, split, self._bias(length, seen))

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

    def _embed(self, tokens: str, shapes: _Shapes, segment: str) -> str:
        """Words, positions after the tokens seen, and the segment: (C, L) -> (C, L, hidden), or flat."""
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
        graph, parts, width = self.graph, (layer.query, layer.key, layer.value), self.width
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
        return graph.node("Reshape", together, graph.integers(-1, self.width))

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
        graph, apart = self.graph, self._rows(hidden, shapes)
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
