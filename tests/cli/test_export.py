"""`arcf export` as a person uses it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run_folder(tmp_path: Path, save_tiny_model: Callable[..., None]) -> Path:
    """A run with a tiny random model of the packaged corpus's words."""
    save_tiny_model([fact.text.lower() for fact in load().facts], tmp_path / "run" / "model")
    return tmp_path / "run"


def test_sizes_and_agreement(arcf: Arcf, run_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    assert arcf("export", run_folder, "--output", tmp_path / "out", "--check", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["precision"] == "fp32"
    assert record["source"] == str(run_folder)
    assert record["bytes"] == sum((tmp_path / "out" / name).stat().st_size for name in record["files"])
    assert record["agreement"]["prefixes"] == 2 * len(load().split("dev"))
    assert record["agreement"]["largest"] < 1e-4
    assert record["agreement"]["rank_correlation"] > 0.999


def test_for_people(arcf: Arcf, run_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    assert arcf("export", run_folder / "model", "--output", tmp_path / "out", "--precision", "int8", "--check") == 0
    shown = capsys.readouterr().out
    assert "(int8)" in shown
    assert "model.onnx" in shown
    assert "prefixes compared: scores differ by" in " ".join(shown.split())


def test_an_export_explains(arcf: Arcf, run_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    assert arcf("export", run_folder, "--output", tmp_path / "out") == 0
    capsys.readouterr()
    assert arcf("explain", "--id", "science-001", "--model", tmp_path / "out", "--max-facts", "1", "--json") == 0
    exported = json.loads(capsys.readouterr().out)
    assert arcf("explain", "--id", "science-001", "--model", run_folder, "--max-facts", "1", "--json") == 0
    trained = json.loads(capsys.readouterr().out)
    assert exported["facts"][0]["uid"] == trained["facts"][0]["uid"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere/at/all", "--output", "out"], "nowhere/at/all"),
        (["run", "--output", "run"], "neither an empty folder nor an earlier export"),
        (["run", "--output", "out", "--precision", "int7"], "Did you mean 'int8'?"),
    ],
)
def test_wrong_usage_gets_one_sentence(
    arcf: Arcf,
    run_folder: Path,
    arguments: list[str],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(run_folder.parent)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert arcf("export", *arguments) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert len(said.strip().splitlines()) == 1


def test_another_prior_cannot_be_compared(run_folder: Path, tmp_path: Path, arcf: Arcf, capsys: Capture) -> None:
    assert arcf("export", run_folder, "--output", tmp_path / "out", "--check", "--dense", "6") == 2
    assert "check an export without it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
