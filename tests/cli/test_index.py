"""`arcf index` as a person uses it."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load
from arcf.progress import listening

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def late(tmp_path: Path, save_tiny_model: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny random model of the late encoding, which knows the packaged corpus's words; and an empty cache."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    save_tiny_model([fact.text.lower() for fact in load().facts], tmp_path / "late")
    config = json.loads((tmp_path / "late" / "config.json").read_text())
    changed = config | {"arcf_encoding": "late", "arcf_read_ahead": 1}
    (tmp_path / "late" / "config.json").write_text(json.dumps(changed))
    return tmp_path / "late"


def test_an_index_is_written_and_used(
    arcf: Arcf, late: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert arcf("export", late, "--output", tmp_path / "out", "--check", "--json") == 0
    assert json.loads(capsys.readouterr().out)["agreement"]["rank_correlation"] > 0.99
    asked = ("explain", "--id", "science-001", "--model", tmp_path / "out", "--max-facts", "3", "--json")
    assert arcf(*asked) == 0
    lazily = json.loads(capsys.readouterr().out)
    assert arcf("index", "--model", tmp_path / "out", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["facts"] == len(load().facts)
    (readings,) = [file for file in record["files"] if file["what"] == "readings of a model"]
    assert Path(readings["path"]).stat().st_size == readings["bytes"]
    assert (readings["corpus"], readings["model"]) == ("science", str(tmp_path / "out"))
    monkeypatch.setattr("arcf.scorer.kept.KeptStates._keep", lambda *_: pytest.fail("read a fact"))
    assert arcf(*asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert [fact["uid"] for fact in found["facts"]] == [fact["uid"] for fact in lazily["facts"]]


def test_for_people(arcf: Arcf, late: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "facts.txt").write_text("ice is solid\nheat melts ice\n")
    heard: list[tuple[str, int, int]] = []
    with listening(lambda *report: heard.append(report)):
        assert arcf("index", "--model", late, "--facts", tmp_path / "facts.txt") == 0
    assert heard[-1] == ("reading facts ahead", 3, 3)
    shown = capsys.readouterr().out
    assert shown.startswith("2 facts, 0.0 MB kept of them")
    assert "readings of a model" in shown


@pytest.mark.usefixtures("empty_cache")
def test_a_model_that_reads_nothing_ahead(
    arcf: Arcf, capsys: Capture, tmp_path: Path, save_tiny_model: Callable[..., None]
) -> None:
    """The corpus is indexed all the same."""
    save_tiny_model(["ice is solid"], tmp_path / "model")
    (tmp_path / "facts.txt").write_text("ice is solid\nheat melts ice\n")
    assert arcf("index", "--model", tmp_path / "model", "--facts", tmp_path / "facts.txt", "--json") == 0
    found = sorted(file["what"] for file in json.loads(capsys.readouterr().out)["files"])
    assert found == ["distance TfIdf", "facts and questions", "tokens", "words"]


@pytest.mark.usefixtures("empty_cache")
def test_what_is_indexed_is_not_made_again(
    arcf: Arcf, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the packaged model."""
    (tmp_path / "facts.txt").write_text("ice is solid\nheat melts ice\n")
    assert arcf("index", "--facts", tmp_path / "facts.txt", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    found = sorted(file["what"] for file in record["files"])
    assert found == [
        "distance Bm25Cosine",
        "distance Embedding",
        "distance TfIdf",
        "facts and questions",
        "readings of a model",
        "tokens",
        "words",
    ]
    for untouched in ("SingleFile.text", "once.KeptFacts.arrays"):
        module = "arcf.data.source" if untouched.startswith("Single") else "arcf.data"
        monkeypatch.setattr(f"{module}.{untouched}", lambda *_: pytest.fail("read again"))
    monkeypatch.setattr("arcf.neighborhood.Lexical.count", lambda *_: pytest.fail("counted again"))
    monkeypatch.setattr("arcf.scorer.tokens.ChainTokenizer._candidates", lambda *_: pytest.fail("tokenised again"))
    assert arcf("explain", "What melts ice?", "--answer", "heat", "--facts", tmp_path / "facts.txt") == 0


def test_a_full_disk_gets_one_sentence(
    arcf: Arcf, late: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert arcf("index", "--model", late) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert len(said.strip().splitlines()) == 1


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("index", "--help") == 0
    assert "Example: arcf index" in capsys.readouterr().out
