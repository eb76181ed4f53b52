"""Folders of exported models that are not as they were written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.errors import InputError
from arcf.scorer.export import write_export
from arcf.scorer.exported.folder import is_exported
from arcf.scorer.exported.scorer import load_scorer
from arcf.scorer.network.backbone import Backbone


@pytest.fixture
def folder(tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    write_export(tiny("bert"), tmp_path, "fp32", source="tiny")
    return tmp_path


def complaint(folder: Path) -> str:
    with pytest.raises(InputError) as raised:
        load_scorer(folder, ["ice"])
    return str(raised.value)


def test_a_truncated_file(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[:1000])
    assert f"has 1000 bytes instead of {len(content)}: the file is damaged" in complaint(folder)


def test_a_changed_file(folder: Path) -> None:
    content = bytearray((folder / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "model.onnx").write_bytes(content)
    assert "model.onnx: has the wrong checksum" in complaint(folder)


def test_a_missing_file(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json: cannot be read" in complaint(folder)


def test_no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert "is not the manifest of a model exported by arcf" in complaint(folder)


def test_another_version(folder: Path) -> None:
    record = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(record | {"version": 5}))
    assert "is of the version 5, and this arcf runs 1, 2, 3, 4" in complaint(folder)


@pytest.mark.parametrize("change", [{"files": []}, {"files": {"model.onnx": {}}}, {"precision": None}])
def test_a_broken_manifest(folder: Path, change: dict[str, object]) -> None:
    record = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(record | change))
    assert "export the model again" in complaint(folder)


def test_which_folders_are_exports(folder: Path, tmp_path: Path) -> None:
    assert is_exported(folder)
    (folder / "manifest.json").unlink()
    assert is_exported(folder)  # tries to be one: it has a graph and no weights of torch
    (folder / "model.safetensors").touch()
    assert not is_exported(folder)
    assert not is_exported(tmp_path / "nothing")
