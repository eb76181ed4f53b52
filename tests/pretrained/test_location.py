from pathlib import Path
from types import SimpleNamespace

import pytest

from arcf.pretrained import location as models
from arcf.pretrained.location import MINILM, PACKAGE, find_model, model_stamp


def test_a_folder_is_itself_even_under_the_default_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model(tmp_path) == tmp_path
    (tmp_path / MINILM).mkdir(parents=True)
    assert find_model(MINILM) == Path(MINILM)


def test_of_a_run_its_finished_model(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    assert find_model(tmp_path) == tmp_path
    (tmp_path / "model" / "config.json").write_text("{}")
    assert find_model(tmp_path) == tmp_path / "model"


def test_the_default_comes_from_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = SimpleNamespace(submodule_search_locations=["somewhere"])
    monkeypatch.setattr(models, "find_spec", lambda name: spec if name == PACKAGE else None)
    assert find_model(MINILM) == Path("somewhere/model")
    assert find_model("some/model") is None
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    assert find_model(MINILM) is None


def test_a_scorer_of_the_default_asks_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = pytest.importorskip("arcf.scorer.network.backbone")
    pytest.importorskip(PACKAGE)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert backbone.load_backbone(MINILM).model.config.hidden_size == 384


def test_a_stamp_changes_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = model_stamp(tmp_path)
    assert model_stamp(tmp_path) == before
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert model_stamp(tmp_path) != before
    assert model_stamp("somebody/a-model-of-the-hub") == "somebody/a-model-of-the-hub"
