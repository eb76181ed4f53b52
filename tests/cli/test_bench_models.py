"""`arcf bench train` and `arcf bench explain`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.bench import train

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("small_bench")


def test_json(arcf: Arcf, made_up_model: Path, capsys: Capture) -> None:
    assert arcf("bench", "train", "--seconds", "0", "--model", made_up_model, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    for key in ("samples_per_second", "tokens_per_second"):
        assert record[key].keys() == {"joint", "shared_prefix"}
        assert min(record[key].values()) > 0
    samples = record["samples_per_second"]
    assert record["ratio"] == pytest.approx(samples["shared_prefix"] / samples["joint"], rel=0.01)
    assert record["threads"] == 1
    assert record["allocator"] == "the system's default"
    assert record["dataset"] == "made-up"


def test_table(arcf: Arcf, made_up_model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "keep_pages", lambda: True)
    assert arcf("bench", "train", "--seconds", "0", "--model", made_up_model) == 0
    output = capsys.readouterr().out
    for words in (
        "1 threads, memory: glibc, freed pages kept",
        "shared_prefix",
        "joint",
        "times more samples a second",
    ):
        assert words in output


def test_no_such_model(arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert arcf("bench", "train", "--model", tmp_path / "empty") == 2
    assert "config.json: cannot be read" in capsys.readouterr().err


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("bench", "train", "--help") == 0
    assert "Example: arcf bench train" in capsys.readouterr().out


OURS = ["joint_exact", "shared_exact", "shared_fast", "onnx_fp32", "onnx_int8", "late_fast", "late_screened"]


def test_explaining_as_json(arcf: Arcf, made_up_model: Path, capsys: Capture) -> None:
    chosen = [argument for name in OURS for argument in ("--procedure", name)]
    assert arcf("bench", "explain", "--model", made_up_model, "--questions", "2", "--json", *chosen) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["dataset"] == "made-up"
    assert record["questions"] == 2
    assert record["read_ahead"] == 1
    assert sorted(record["seconds_per_question"]) == sorted(OURS)
    assert all(seconds > 0 for seconds in record["seconds_per_question"].values())
    scorings = record["scorings_per_question"]
    assert scorings["joint_exact"] == scorings["shared_exact"] > scorings["shared_fast"]
    assert scorings["late_screened"] <= scorings["late_fast"]
    assert record["questions_per_second"].keys() == {"one_at_a_time", "side_by_side"}
    assert min(record["questions_per_second"].values()) > 0
    assert record["peak_bytes"] is None or record["peak_bytes"] > 10_000_000


def test_the_folder_of_a_run(arcf: Arcf, made_up_model: Path, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(made_up_model)
    assert arcf("bench", "explain", "--model", tmp_path / "run", "--questions", "1", "--procedure", "shared_fast") == 0
    assert "shared_fast" in capsys.readouterr().out


def test_explaining_as_a_table(arcf: Arcf, made_up_model: Path, capsys: Capture) -> None:
    assert arcf("bench", "explain", "--model", made_up_model, "--questions", "1", "--procedure", "shared_fast") == 0
    printed = capsys.readouterr().out
    assert "800 facts of made-up" in printed
    assert "shared_fast" in printed
    assert "onnx" not in printed
    assert "questions a second" not in printed


def test_the_procedure_of_another_library(arcf: Arcf, made_up_model: Path, capsys: Capture) -> None:
    pytest.importorskip("sentence_transformers")
    assert (
        arcf("bench", "explain", "--model", made_up_model, "--questions", "1", "--procedure", "crossencoder", "--json")
        == 0
    )
    record = json.loads(capsys.readouterr().out)
    scorings = record["scorings_per_question"]
    assert scorings["crossencoder"] == scorings["shared_exact"]


def test_a_library_that_is_not_installed(
    arcf: Arcf, made_up_model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert arcf("bench", "explain", "--model", made_up_model, "--procedure", "crossencoder") == 2
    assert "arcf[bench]" in capsys.readouterr().err


def test_an_unknown_procedure(arcf: Arcf, made_up_model: Path, capsys: Capture) -> None:
    assert arcf("bench", "explain", "--model", made_up_model, "--procedure", "onnx_int4") == 2
    assert "onnx_int8" in capsys.readouterr().err
