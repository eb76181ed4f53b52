"""How an exported model keeps its weights: what is in the file, and which nodes compute with it.

A precision is a class with two methods and a line in `PRECISIONS`.
"""

from typing import Final, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray

from arcf.scorer.exported.graph import CONTRIBUTED, GraphBuilder

Weights = NDArray[np.float32]

FACTOR: Final = 64
"""The largest integer of a matrix that is multiplied: 7 of the 8 bits. Processors without VNNI add two products of an
unsigned byte (up to 255) and a signed one in 16 bits: 2 * 255 * 64 = 32,640 fits, 2 * 255 * 127 silently saturates."""

ENTRY: Final = 127
"""The largest integer of a table that is only looked up."""

SMALLEST: Final = 1e-6
"""What the largest value of a token is taken for if it is less: nothing is divided by 0."""


class Precision(Protocol):
    """Adds the two kinds of nodes that hold nearly all weights."""

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """Rows @ weight + bias: (tokens, in) x (in, out) -> (tokens, out)."""
        ...

    def lookup(self, graph: GraphBuilder, table: Weights, ids: str) -> str:
        """The rows of a table (entries, hidden) that ids of any shape ask for: (*shape, hidden)."""
        ...


class Float32:
    """As trained."""

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """One fused product."""
        return graph.node("Gemm", rows, graph.weight(weight), graph.weight(bias))

    def lookup(self, graph: GraphBuilder, table: Weights, ids: str) -> str:
        """One gather."""
        return graph.node("Gather", graph.weight(table), ids)


class Float16:
    """Half the file, the same computation: weights become float32 when the model is loaded, embeddings when used."""

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """A product with weights that are cast once, when the graph is loaded."""
        stored = graph.weight(weight.astype(np.float16))
        return graph.node("Gemm", rows, _to_float32(graph, stored), graph.weight(bias))

    def lookup(self, graph: GraphBuilder, table: Weights, ids: str) -> str:
        """A gather, then a cast of what was gathered: the table stays small in memory as well."""
        return _to_float32(graph, graph.node("Gather", graph.weight(table.astype(np.float16)), ids))


class Int8:
    """A quarter of the file, and integer products; see `quantise` for what that does to weights."""

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """Rows are made 8-bit integers as they come, with one scale for the call."""
        stored = _factors(graph, weight)
        return graph.node("DynamicQuantizeMatMul", rows, *stored, graph.weight(bias), domain=CONTRIBUTED)

    def lookup(self, graph: GraphBuilder, table: Weights, ids: str) -> str:
        """Each row of the table has its own scale."""
        values, scales = quantise(table, axis=1, largest=ENTRY)
        rows = _to_float32(graph, graph.node("Gather", graph.weight(values), ids))
        return graph.node("Mul", rows, graph.node("Gather", graph.weight(scales[:, None]), ids))


class Int8Rows(Int8):
    """Integer products with a scale for every token: nearer to `Float32`, for a few more passes over the tokens.

    A common scale is that of the token with the largest values, which leaves the others fewer bits, and lets what is
    made of a token depend on those that it is computed with. Here nothing does: a token's values run from its own
    least to its own largest one. So all bits are used too after an activation such as GELU, which is hardly negative.
    """

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """A product with rows that run from 0 to 1, which is undone after it: x = least + extent * even."""
        axis = graph.integers(1)
        least, most = (graph.node(kind, rows, axis, keepdims=1) for kind in ("ReduceMin", "ReduceMax"))  # (tokens, 1)
        smallest = graph.weight(np.array(SMALLEST, np.float32))
        extent = graph.node("Max", graph.node("Sub", most, least), smallest)
        even = graph.node("Div", graph.node("Sub", rows, least), extent)
        step, zero = graph.weight(np.array(1 / 255, np.float32)), graph.weight(np.array(0, np.uint8))
        levels = graph.node("QuantizeLinear", even, step, zero)
        values, scales, points = _factors(graph, weight)
        factors = (levels, values, step, scales, zero, points)
        product = graph.node("MatMulIntegerToFloat", *factors, domain=CONTRIBUTED)
        rest = graph.node("Gemm", least, graph.weight(_sums(weight)), graph.weight(bias))  # (tokens, out)
        return graph.node("Add", graph.node("Mul", product, extent), rest)


class Int8Weights(Int8):
    """The file of `Int8`, the computation of `Float32`: nearly its accuracy and speed, with all of the 8 bits."""

    def linear(self, graph: GraphBuilder, rows: str, weight: Weights, bias: Weights) -> str:
        """A product with weights that are made float32 once, when the graph is loaded."""
        values, scales = quantise(weight, axis=0, largest=ENTRY)
        # Not DequantizeLinear: ONNX Runtime keeps those as they are, and would compute them in every call.
        restored = graph.node("Mul", _to_float32(graph, graph.weight(values)), graph.weight(scales))
        return graph.node("Gemm", rows, restored, graph.weight(bias))


def _factors(graph: GraphBuilder, weight: Weights) -> tuple[str, str, str]:
    """A matrix as the integer product takes it: values, scales and zero points."""
    values, scales = quantise(weight, axis=0, largest=FACTOR)
    return graph.weight(values), graph.weight(scales), graph.weight(np.zeros(len(scales), np.int8))


def _sums(weight: Weights) -> Weights:
    """What a row of ones gives, as the integer product has the matrix: (in, out) -> (1, out)."""
    values, scales = quantise(weight, axis=0, largest=FACTOR)
    sums: Weights = values.sum(axis=0, dtype=np.int64, keepdims=True).astype(np.float32) * scales
    return sums


def quantise(weights: NDArray[np.float32], axis: int, largest: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as integers up to `largest`, and the scales: one for each row (axis 1) or column (axis 0).

    Symmetric: weight = integer * scale, so that 0 stays 0.
    """
    scales = np.abs(weights).max(axis=axis, keepdims=True) / np.float32(largest)
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)  # all zeros, or too small to be divided
    values = np.clip(np.rint(weights / scales), -largest, largest).astype(np.int8)
    return values, scales.reshape(-1)


def _to_float32(graph: GraphBuilder, value: str) -> str:
    return graph.node("Cast", value, to=onnx.TensorProto.FLOAT)


def reading_precision(precision: Precision) -> Precision:
    """The precision in which facts are read ahead: what is kept of a fact must not depend on those read with it."""
    return Int8Rows() if type(precision) is Int8 else precision


PRECISIONS: dict[str, Precision] = {
    "fp32": Float32(),
    "fp16": Float16(),
    "int8": Int8(),
    "int8-rows": Int8Rows(),
    "int8-weights": Int8Weights(),
}
