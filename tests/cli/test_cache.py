"""`arcf cache` as a person uses it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from time import time

import numpy as np
import pytest

from arcf.kept.arrays import write_arrays
from arcf.kept.folder import DAY, MODELS, kept_path
from arcf.kept.head import About

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two files of one corpus, of which only one knows its name, and a leftover."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    for kind, days, about in (
        ("corpora", 40, About("facts and questions", 2, "digest", "my[bold]facts")),
        ("tokens", 2, About("tokens", 2, "digest", model="runs/best")),
    ):
        write_arrays(kept_path(kind, "mark"), "mark", about, {"bytes": np.zeros(1_500_000, np.uint8)})
        os.utime(kept_path(kind, "mark"), (time() - days * DAY,) * 2)
    (tmp_path / "cache" / "arcf-cache" / "tokens" / ".left.over").write_bytes(b"")
    os.utime(tmp_path / "cache" / "arcf-cache" / "tokens" / ".left.over", (time() - 3 * DAY,) * 2)
    return tmp_path / "cache" / "arcf-cache"


def test_what_is_there(arcf: Arcf, capsys: Capture, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert arcf("cache") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["corpus", "what", "model", "facts", "MB", "days", "unused"]
    assert lines[1].split() == ["my[bold]facts", "tokens", "runs/best", "2", "1.5", "2.0"]
    assert lines[2].split() == ["unknown:", ".left.over", "0.0", "3.0"]
    assert lines[3].split() == ["my[bold]facts", "facts", "and", "questions", "2", "1.5", "40.0"]
    assert lines[4] == f"3 files, 3.0 MB in {cache}"


def test_for_programs(arcf: Arcf, capsys: Capture, cache: Path) -> None:
    assert arcf("cache", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["folder"] == str(cache)
    assert [(file["what"], file.get("model"), file["days_unused"]) for file in record["files"]] == [
        ("tokens", "runs/best", 2),
        ("unknown", None, 3),
        ("facts and questions", "", 40),
    ]


def test_models_of_a_cluster(arcf: Arcf, capsys: Capture, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    (cache / MODELS / "abc").mkdir(parents=True)
    (cache / MODELS / "abc" / "model.onnx").write_bytes(bytes(2_500_000))
    assert arcf("cache") == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["model", "abc", "2.5", "0.0"]
    assert arcf("cache", "prune", "--all") == 0
    assert capsys.readouterr().out == "4 files, 5.5 MB thrown away\n"
    assert not (cache / MODELS / "abc").exists()


def test_nothing_there(arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "none"))
    assert arcf("cache") == 0
    assert capsys.readouterr().out == f"0 files, 0.0 MB in {tmp_path / 'none' / 'arcf-cache'}\n"
    assert arcf("cache", "prune", "--all") == 0


def test_prune(arcf: Arcf, capsys: Capture, cache: Path) -> None:
    assert arcf("cache", "prune", "--older-than", "30") == 0
    assert capsys.readouterr().out == "2 files, 1.5 MB thrown away\n"
    assert arcf("cache", "prune", "--all", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["deleted"]) == 1
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("arguments", [(), ("--all", "--older-than", "3")])
def test_what_to_throw_away_must_be_said(arcf: Arcf, capsys: Capture, arguments: tuple[str, ...], cache: Path) -> None:
    assert arcf("cache", "prune", *arguments) == 2
    assert "--older-than DAYS, or --all" in capsys.readouterr().err
    assert (cache / "tokens" / "mark.kept").exists()


def test_help_has_examples(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("cache", "--help") == 0
    assert "Example: arcf cache" in capsys.readouterr().out
