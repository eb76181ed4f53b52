from pathlib import Path

import numpy as np
import pytest

from arcf.errors import InputError
from arcf.pretrained.onnx_session import OnnxStates, open_session
from arcf.pretrained.torch_model import TorchStates

IDS = np.array([[2, 7, 8, 3], [2, 9, 3, 0]])
MASK = np.array([[1, 1, 1, 1], [1, 1, 1, 0]])


def test_states_are_those_of_torch(tiny_bert: Path, tiny_graph: Path) -> None:
    states = OnnxStates(tiny_graph / "onnx" / "model.onnx").states(IDS, MASK)
    expected = TorchStates(tiny_bert).states(IDS, MASK)
    assert states.dtype == np.float32
    np.testing.assert_allclose(states[MASK == 1], expected[MASK == 1], atol=1e-5)


@pytest.mark.parametrize("content", [b"", b"not a graph"])
def test_what_onnx_runtime_cannot_run(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(InputError, match=r"model\.onnx: cannot be run by ONNX Runtime") as error:
        open_session(tmp_path / "model.onnx")
    assert "\n" not in str(error.value)


def test_no_graph(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be run by ONNX Runtime"):
        open_session(tmp_path / "model.onnx")
