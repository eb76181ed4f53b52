import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.types import Dataset

Arcf = Callable[..., int]
Make = Callable[[int], Path]
Capture = pytest.CaptureFixture[str]


def test_json_of_one_distance(arcf: Arcf, worldtree_like: Make, capsys: Capture) -> None:
    assert arcf("reachability", "--dataset", worldtree_like(2020), "-k", "1", "-k", "5", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["dataset"], record["split"], record["distance"]) == ("made-up-2020", "train", "tfidf")
    assert record["questions"] == 1
    assert list(record["reachability"]) == ["1", "5"]
    assert record["reachability"]["5"] == 1.0
    assert sum(record["hops"]["1"].values()) == 2
    assert record["distances"] == {"tfidf": {"reachability": record["reachability"], "hops": record["hops"]}}


def test_json_of_several_distances(arcf: Arcf, worldtree_like: Make, capsys: Capture) -> None:
    options = ["--distance", "overlap", "--distance", "tfidf", "--split", "dev", "-k", "3", "-k", "3"]
    assert arcf("reachability", "--dataset", worldtree_like(2020), *options, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert list(record["distances"]) == ["overlap", "tfidf"]
    assert record["distance"] == "overlap"
    assert record["reachability"] == record["distances"]["overlap"]["reachability"] == {"3": 1.0}


def test_defaults_are_the_packaged_corpus_and_the_papers_k(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("reachability", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["dataset"] == "science"
    assert list(record["reachability"]) == ["90", "130", "180", "290"]
    values = list(record["reachability"].values())
    assert values == sorted(values)
    assert values[-1] > 0.95


def test_table_and_picture(arcf: Arcf, worldtree_like: Make, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "reach.png"
    options = ["--distance", "tfidf", "--distance", "bm25", "-k", "1", "-k", "5", "--plot", picture]
    assert arcf("reachability", "--dataset", worldtree_like(2020), *options) == 0
    output = capsys.readouterr().out
    for words in ("made-up-2020, train, 1 questions", "k = 5", "tfidf", "bm25", "1.0000", "out of reach"):
        assert words in output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--distance", "tfidff"], "Did you mean 'tfidf'?"),
        (["--split", "test"], "have no gold facts in made-up-2020"),
        (["--split", "none"], "There is no split of made-up-2020 named 'none'"),
        (["-k", "0"], "Invalid value for '-k'"),
        (["--plot", "reach.docx"], "reach.docx: is no picture that can be drawn"),
    ],
)
def test_bad_settings(arcf: Arcf, worldtree_like: Make, capsys: Capture, options: list[str], message: str) -> None:
    assert arcf("reachability", "--dataset", worldtree_like(2020), *options) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in " ".join(output.err.replace("│", "").split())


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("reachability", "--help") == 0
    assert "Example: arcf reachability" in capsys.readouterr().out


def test_commands_load_nothing_before_they_run() -> None:
    code = (
        "import sys, arcf.cli.reachability, arcf.cli.bench; "
        "print({'scipy', 'matplotlib', 'rich.table', 'arcf.evaluation', 'arcf.bench'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.worldtree
def test_worldtree(arcf: Arcf, worldtree_2020: Dataset, capsys: Capture) -> None:
    assert arcf("reachability", "--dataset", worldtree_2020.name, "-k", "290", "--json") == 0
    assert json.loads(capsys.readouterr().out)["reachability"]["290"] == pytest.approx(0.993, abs=0.001)
