"""`arcf index` as a person uses it."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def late(tmp_path: Path, save_tiny_model: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny random model of the late encoding, which knows the packaged corpus's words; and an empty cache."""
    monkeypatch.setattr("arcf.scorer.index.index_folder", lambda: tmp_path / "cache")
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
    assert Path(record["path"]).stat().st_size == record["bytes"]
    monkeypatch.setattr("arcf.scorer.kept.KeptStates._keep", lambda *_: pytest.fail("read a fact"))
    assert arcf(*asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert [fact["uid"] for fact in found["facts"]] == [fact["uid"] for fact in lazily["facts"]]


def test_for_people(arcf: Arcf, late: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "facts.txt").write_text("ice is solid\nheat melts ice\n")
    assert arcf("index", "--model", late, "--facts", tmp_path / "facts.txt") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("2 facts (")
    assert str(tmp_path / "cache") in shown


def test_a_model_that_reads_nothing_ahead(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("index") == 2
    assert "was not trained in the late encoding" in capsys.readouterr().err


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
