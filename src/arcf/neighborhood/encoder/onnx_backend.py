"""Running the encoder with ONNX Runtime; no torch."""

from pathlib import Path

import numpy as np
import onnxruntime

from arcf.errors import InputError
from arcf.neighborhood.encoder.base import TokenIds, Vectors

#: What exporters call the last hidden states.
STATES = ("last_hidden_state", "token_embeddings")


class OnnxBackend:
    """A graph with the inputs `input_ids`, `attention_mask` and, for some models, `token_type_ids`."""

    def __init__(self, graph: Path) -> None:
        try:
            self._session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise InputError(f"cannot be loaded by ONNX Runtime ({error}).", graph) from error
        self._inputs = {value.name for value in self._session.get_inputs()}
        outputs = [value.name for value in self._session.get_outputs()]
        self._output = next((name for name in STATES if name in outputs), outputs[0])

    def states(self, ids: TokenIds, mask: TokenIds) -> Vectors:
        """The last hidden states, (texts, tokens, dimension)."""
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: value for name, value in values.items() if name in self._inputs}
        states: Vectors = self._session.run([self._output], feed)[0]
        return states
