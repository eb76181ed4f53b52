"""Graphs in ONNX Runtime: the only place that knows the library."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.pretrained.threads import usable_threads

#: What exporters call the last hidden states.
STATES = ("last_hidden_state", "token_embeddings")


def open_session(path: Path, threads: int | None = None) -> Any:
    """A graph, ready to run; a call has so many threads, `usable_threads` unless given.

    Raises:
        InputError: ONNX Runtime cannot run it.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or usable_threads()
    # Every call has another shape: a remembered layout of memory would never fit.
    options.enable_mem_pattern = False
    # Threads that wait for a next call would take the processors from the calls of other graphs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own exceptions have no public base
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"cannot be run by ONNX Runtime {onnxruntime.__version__} ({reason})", path) from error


class OnnxStates:
    """A graph with the inputs `input_ids`, `attention_mask` and, for some models, `token_type_ids`."""

    def __init__(self, graph: Path, threads: int | None = None) -> None:
        self._session = open_session(graph, threads)
        self._inputs = {value.name for value in self._session.get_inputs()}
        outputs = [value.name for value in self._session.get_outputs()]
        self._output = next((name for name in STATES if name in outputs), outputs[0])

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The last hidden states, (texts, tokens, dimension)."""
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: value for name, value in values.items() if name in self._inputs}
        states: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        return states


class OnnxPartStates:
    """The graphs of lower layers, which read tokens, and of upper ones, which go on from there."""

    def __init__(self, lower: Path, upper: Path, threads: int | None = None) -> None:
        self._lower, self._upper = (open_session(graph, threads) for graph in (lower, upper))

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The last hidden states, (texts, tokens, dimension)."""
        lengths = {"lengths": mask.sum(axis=1).astype(np.int32)}
        tokens = {"tokens": ids.astype(np.int32), "segment": np.zeros(1, dtype=np.int64)}
        lower = self._lower.run(["states"], tokens | lengths)[0]
        states: NDArray[np.float32] = self._upper.run(["last_hidden_state"], {"states": lower} | lengths)[0]
        return states
