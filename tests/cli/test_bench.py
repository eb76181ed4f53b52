import json
from collections.abc import Callable
from pathlib import Path

import pytest

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of its own for every size is slow to start, and tests/bench tests it once."""
    from arcf import bench

    monkeypatch.setattr(bench, "measure_growth_apart", bench.measure_growth)


def test_json_and_picture(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "growth.png"
    options = ["--facts", "300", "--facts", "100", "--facts", "100", "--dataset", "science", "--plot", picture]
    assert arcf("bench", "neighborhood", *options, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["distance"] == "tfidf"
    assert record["walk"]["facts"] > 300
    assert record["walk"]["warm"]["median"] > 0
    assert [entry["facts"] for entry in record["growth"]] == [100, 300]
    assert record["growth"][0]["index_bytes"] < record["growth"][1]["index_bytes"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_table(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("bench", "neighborhood", "--facts", "50", "--dataset", "science", "--distance", "bm25") == 0
    output = capsys.readouterr().out
    for words in ("visible, all remembered", "of a question", "index, MB", "\n50\t"):
        assert words in output


def test_bad_settings(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("bench", "neighborhood", "--distance", "none") == 2
    assert "There is no distance named 'none'" in capsys.readouterr().err
    assert arcf("bench", "neighborhood", "--plot", "growth.docx") == 2
    assert "is no picture" in capsys.readouterr().err


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("bench", "neighborhood", "--help") == 0
    assert "Example: arcf bench neighborhood" in capsys.readouterr().out


def test_a_corpus_without_questions(arcf: Arcf, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "facts.txt").write_text("ice is cold\nfire is hot\n")
    assert arcf("bench", "neighborhood", "--facts", "50", "--dataset", tmp_path / "facts.txt") == 2
    assert "has no questions to search for" in capsys.readouterr().err
