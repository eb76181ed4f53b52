"""Writing an ONNX graph node by node, so that every weight is in it once and nothing in it is unexpected.

An exporter that traces the torch model depends on its version, writes what it traced twice when it is used twice, and
leaves annotations behind; an encoder has a dozen kinds of nodes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPSET = 20
IR_VERSION = 10
"""The newest file format that ONNX Runtime 1.20, the oldest one that arcf allows, can read."""

CONTRIBUTED = "com.microsoft"
"""The domain of ONNX Runtime's own operators: the int8 product, and the product with a transposed matrix."""


class GraphBuilder:
    """A graph that grows. A value is known by its name, as in ONNX itself."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def input(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        """Declare an input; a dimension is a number, or a name where it may be any."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value: str, shape: Sequence[str | int]) -> str:
        """Declare a value an output, under its own name."""
        self._outputs.append(helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, shape))
        return value

    def node(self, kind: str, *inputs: str, result: str = "", **attributes: Any) -> str:
        """Add a node with one output; `result` is its name, if that matters."""
        return self.nodes(kind, *inputs, results=[result], **attributes)[0]

    def nodes(self, kind: str, *inputs: str, results: Sequence[str], **attributes: Any) -> list[str]:
        """Add a node with several outputs; those of an empty name get one that nothing else has."""
        number = len(self._nodes)
        outputs = [name or f"{kind}_{number}_{place}" for place, name in enumerate(results)]
        self._nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs

    def weight(self, array: NDArray[Any]) -> str:
        """An array that is part of the model; equal ones are kept once."""
        array = np.asarray(array, order="C")
        content = (array.dtype.str, array.shape, array.tobytes())
        if content not in self._constants:
            name = f"weight_{len(self._weights)}"
            self._constants[content] = name
            self._weights.append(numpy_helper.from_array(array, name))
        return self._constants[content]

    def integers(self, *values: int) -> str:
        """A constant vector, as shapes and axes are."""
        return self.weight(np.array(values, dtype=np.int64))

    def model(self, name: str) -> onnx.ModelProto:
        """The finished model."""
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._weights)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIBUTED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="arcf")
