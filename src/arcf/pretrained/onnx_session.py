"""Graphs in ONNX Runtime: the only place that knows the library."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from arcf.errors import InputError

#: What exporters call the last hidden states.
STATES = ("last_hidden_state", "token_embeddings")


def open_session(path: Path, threads: int = 0) -> Any:
    """A graph, ready to run; 0 threads are as many as there are processors.

    Raises:
        InputError: ONNX Runtime cannot run it.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Every call has another shape: a remembered layout of memory would never fit.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own exceptions have no public base
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"cannot be run by ONNX Runtime {onnxruntime.__version__} ({reason})", path) from error


class OnnxStates:
    """A graph with the inputs `input_ids`, `attention_mask` and, for some models, `token_type_ids`."""

    def __init__(self, graph: Path) -> None:
        self._session = open_session(graph)
        self._inputs = {value.name for value in self._session.get_inputs()}
        outputs = [value.name for value in self._session.get_outputs()]
        self._output = next((name for name in STATES if name in outputs), outputs[0])

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The last hidden states, (texts, tokens, dimension)."""
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: value for name, value in values.items() if name in self._inputs}
        states: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        return states
