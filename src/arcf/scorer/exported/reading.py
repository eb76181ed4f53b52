"""Reading an exported graph back: the weights that it was written from, as near as its precision kept them.

`encoder_graph` writes products, norms and tables in a fixed order, which is all that is relied on here; which parts
there are, a model of the same architecture tells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from arcf.errors import InputError
from arcf.scorer.relative import relative_buckets
from arcf.scorer.weights import Array, EmbeddingWeights, EncoderWeights, LayerWeights, Linear, Norm


class Parts:
    """The products, norms and tables of graphs, one after the other, each taken once."""

    def __init__(self, graphs: Sequence[Path]) -> None:
        read = [_Graph(path) for path in graphs]
        self._linears = (linear for graph in read for linear in graph.linears())
        self._norms = (norm for graph in read for norm in graph.norms())
        self._tables = (table for graph in read for table in graph.tables())

    def linear(self) -> Linear:
        """The next product."""
        return next(self._linears)

    def norm(self) -> Norm:
        """The next layer norm."""
        return next(self._norms)

    def table(self) -> Array:
        """The next table that is looked up: (entries, width)."""
        return next(self._tables)


def read_weights(graphs: Sequence[Path], like: EncoderWeights) -> EncoderWeights:
    """The weights of a model that was exported as these graphs; `like` is any model of its architecture and size.

    Raises:
        InputError: a graph is not one of such a model.
    """
    parts = Parts(graphs)
    try:
        bias = None if like.relative_bias is None else _buckets(parts.table(), like)
        embeddings = _embeddings(parts, like)
        layers = [_layer(parts, like.heads) for _ in like.layers]
        found = replace(like, embeddings=embeddings, layers=tuple(layers), relative_bias=bias, head=parts.linear())
    except (StopIteration, KeyError, ValueError) as error:
        raise InputError("is no graph of such a model; export it again.", graphs[-1]) from error
    if _shapes(found) != _shapes(like):
        raise InputError("has weights of other sizes than its config.json says; export it again.", graphs[-1])
    return found


def _embeddings(parts: Parts, like: EncoderWeights) -> EmbeddingWeights:
    """Where a model has one segment, the graph has it in the positions: it is nothing by itself then."""
    template, form = like.embeddings, like.form
    word, position = parts.table(), np.zeros_like(template.position)
    position[form.first_position :] = parts.table()
    segment = None if template.segment is None else np.zeros_like(template.segment)
    if segment is not None and form.segments > 1:
        segment[:2] = parts.table()
    norm = parts.norm()
    return EmbeddingWeights(word, position, segment, norm, parts.linear() if template.projection else None)


def _layer(parts: Parts, heads: int) -> LayerWeights:
    query, key, value = _apart(parts.linear(), heads)
    return LayerWeights(
        query=query,
        key=key,
        value=value,
        output=parts.linear(),
        attention_norm=parts.norm(),
        up=parts.linear(),
        down=parts.linear(),
        norm=parts.norm(),
    )


def _apart(joined: Linear, heads: int) -> list[Linear]:
    """Queries, keys and values of one product, in which queries have the scale of attention in them."""
    width = len(joined.bias) // 3
    scales = ((width // heads) ** 0.5, 1.0, 1.0)
    starts = (0, width, 2 * width)
    return [
        Linear(joined.weight[:, start : start + width] * scale, joined.bias[start : start + width] * scale)
        for start, scale in zip(starts, np.array(scales, np.float32), strict=True)
    ]


def _buckets(table: Array, like: EncoderWeights) -> Array:
    """What each bucket of relative positions adds: (heads, offsets) -> (buckets, heads)."""
    assert like.relative_bias is not None
    longest = like.form.max_tokens
    buckets = relative_buckets(np.array([longest - 1]), np.arange(2 * longest - 1))[0]
    found = np.zeros_like(like.relative_bias)
    found[buckets] = table.T
    return found


def _shapes(weights: EncoderWeights) -> list[Any]:
    tables = (weights.embeddings.word, weights.embeddings.position)
    linears = [part for layer in weights.layers for part in (layer.query, layer.output, layer.up, layer.down)]
    return [table.shape for table in tables] + [part.weight.shape for part in (*linears, weights.head)]


class _Graph:
    """One file. Constants are its stored arrays, and what is made of these alone."""

    def __init__(self, path: Path) -> None:
        try:
            graph = onnx.load(path).graph
        except Exception as error:  # the library's own exceptions have no public base
            raise InputError(f"is no ONNX file ({error}).", path) from error
        self._nodes = list(graph.node)
        self._constants: dict[str, NDArray[Any]] = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        for node in self._nodes:
            known = [self._constants[name] for name in node.input if name in self._constants]
            if len(known) == len(node.input) and node.op_type in ("Cast", "Mul"):
                made = known[0].astype(np.float32)
                self._constants[node.output[0]] = made if node.op_type == "Cast" else made * known[1]

    def linears(self) -> Iterator[Linear]:
        """The products with weights. In `int8-rows`, the bias is in a product of its own, after the one of integers."""
        integers: Array | None = None
        for node in self._nodes:
            inputs = [self._constants.get(name) for name in node.input]
            if node.op_type == "DynamicQuantizeMatMul":
                yield Linear(_scaled(inputs[1], inputs[2]), _floats(inputs[4]))
            elif node.op_type == "MatMulIntegerToFloat":
                integers = _scaled(inputs[1], inputs[3])
            elif node.op_type == "Gemm":
                yield Linear(_floats(inputs[1]) if integers is None else integers, _floats(inputs[2]))
                integers = None

    def norms(self) -> Iterator[Norm]:
        """The layer norms."""
        for node in self._nodes:
            if node.op_type == "LayerNormalization":
                (epsilon,) = (one.f for one in node.attribute if one.name == "epsilon")
                weight, bias = (_floats(self._constants[name]) for name in node.input[1:3])
                yield Norm(weight, bias, epsilon)

    def tables(self) -> Iterator[Array]:
        """The tables that are looked up. One of integers has its scales in the table after it."""
        integers: NDArray[Any] | None = None
        for node in self._nodes:
            table = self._constants.get(node.input[0]) if node.op_type == "Gather" else None
            if table is None:
                continue
            if table.dtype == np.int8:
                integers = table
            else:
                yield _floats(table) if integers is None else _scaled(integers, table)
                integers = None


def _scaled(values: NDArray[Any] | None, scales: NDArray[Any] | None) -> Array:
    return _floats(values) * _floats(scales)


def _floats(values: NDArray[Any] | None) -> Array:
    if values is None:
        raise ValueError("not a constant")
    return values.astype(np.float32)
