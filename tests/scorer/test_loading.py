"""The right scorer for every kind of model folder."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from arcf.errors import ArcfWarning, InputError
from arcf.scorer import Prefix, ScorerSettings, load_scorer, model_identity, packaged_model, scores_identity
from arcf.scorer.export import export
from arcf.scorer.exported.scorer import OnnxScorer
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.scorer import TorchScorer

SHARED = ScorerSettings(encoding="shared_prefix")
PREFIX = Prefix("What is ice (answer) a solid.", (1, 3))


@pytest.fixture
def run_folder(tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    """What training leaves behind: a manifest of its own, and the model in a folder."""
    tiny("bert").with_settings(SHARED).save(tmp_path / "run" / "model")
    (tmp_path / "run" / "manifest.json").write_text("{}")
    return tmp_path / "run"


def test_a_run_and_its_export(run_folder: Path, tmp_path: Path, facts: tuple[str, ...]) -> None:
    export(run_folder / "model", tmp_path / "exported")
    first, second = load_scorer(run_folder, facts), load_scorer(tmp_path / "exported", facts)
    assert isinstance(first, TorchScorer)
    assert isinstance(second, OnnxScorer)
    ids = np.arange(-1, len(facts))
    np.testing.assert_allclose(first.score(PREFIX, ids), second.score(PREFIX, ids), atol=1e-4)


def test_an_export_has_the_similarity(tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]) -> None:
    scores = []
    for weight in (0.0, 9.0):
        folder = tmp_path / str(weight)
        tiny("bert").with_settings(replace(SHARED, similarity=weight)).save(folder / "model")
        export(folder / "model", folder / "exported")
        ids = np.arange(-1, len(facts))
        first, second = (load_scorer(folder / kind, facts).score(PREFIX, ids) for kind in ("model", "exported"))
        np.testing.assert_allclose(first, second, atol=1e-4)
        scores.append(first)
    assert np.ptp(scores[1] - scores[0]) > 0.1


def test_a_loaded_model_is_not_in_training_mode(run_folder: Path, facts: tuple[str, ...]) -> None:
    scorer = load_scorer(run_folder, facts)
    assert isinstance(scorer, TorchScorer)
    assert not any(module.training for module in scorer.model.modules())


def test_graphs_of_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(InputError, match="is not the manifest of a model exported by arcf"):
        load_scorer(tmp_path, [])


def test_a_random_head_is_named(tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]) -> None:
    backbone = tiny("bert")
    backbone.model.base_model.save_pretrained(tmp_path)
    backbone.tokenizer.raw.save(str(tmp_path / "tokenizer.json"))
    with pytest.warns(ArcfWarning, match="its scores are random"):
        load_scorer(tmp_path, facts)


def test_a_token_classifier_of_others_is_used(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]
) -> None:
    backbone = tiny("bert")
    backbone.model.save_pretrained(tmp_path)
    backbone.tokenizer.raw.save(str(tmp_path / "tokenizer.json"))
    load_scorer(tmp_path, facts)


def test_threads_are_those_asked_for(run_folder: Path, facts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    load_scorer(run_folder, facts)
    load_scorer(run_folder, facts, threads=3)
    assert asked == [3]


def test_a_model_is_known_by_its_files(run_folder: Path, tmp_path: Path) -> None:
    before = model_identity(run_folder)
    assert sorted(before) == ["config.json", "model.safetensors", "tokenizer.json"]
    copy = shutil.copytree(run_folder / "model", tmp_path / "copy")
    (copy / "README.md").write_text("says nothing of what it does")
    assert model_identity(copy) == before
    (copy / "model.safetensors").write_bytes(b"trained further")
    assert {name for name, mark in model_identity(copy).items() if mark != before[name]} == {"model.safetensors"}
    assert "model.onnx" in model_identity(packaged_model())
    scores, whole = scores_identity(copy), model_identity(copy)
    (copy / "calibration.json").write_text("{}")
    assert scores_identity(copy) == scores == whole
    assert model_identity(copy).keys() - whole.keys() == {"calibration.json"}
    assert model_identity("somebody/a-model-of-the-hub") == {"name": "somebody/a-model-of-the-hub"}
