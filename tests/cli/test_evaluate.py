import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load
from arcf.types import Dataset

Arcf = Callable[..., int]
Make = Callable[[int], Path]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run for the made-up WorldTree: its gold facts at ranks 1 and 3."""
    path = tmp_path / "predict.txt"
    path.write_text("".join(f"Q_Dev\taaaa-000{number}\n" for number in (1, 2, 4, 6)))
    return path


def test_json(arcf: Arcf, worldtree_like: Make, run: Path, capsys: Capture) -> None:
    assert arcf("evaluate", run, "--dataset", worldtree_like(2020), "--split", "dev", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["map_official"] == record["map_all"] == pytest.approx((1 + 2 / 3) / 2)
    assert (record["questions_official"], record["questions_all"]) == (1, 1)
    assert (record["run"], record["dataset"], record["split"]) == ("predict", "made-up-2020", "dev")
    assert record["breakdowns"]["role"] == [{"name": "CENTRAL", "questions": 1, "facts": 1, "map": 1.0}]
    assert "per_question" not in record


def test_json_per_question(arcf: Arcf, worldtree_like: Make, run: Path, capsys: Capture) -> None:
    assert arcf("evaluate", run, "--dataset", worldtree_like(2020), "--json", "--per-question") == 0
    (question,) = json.loads(capsys.readouterr().out)["per_question"]
    assert (question["id"], question["gold"], question["found"], question["first"]) == ("Q_Dev", 2, 2, 1)


def test_tables(arcf: Arcf, worldtree_like: Make, run: Path, capsys: Capture) -> None:
    assert arcf("evaluate", run, "--dataset", worldtree_like(2020), "--per-question") == 0
    output = capsys.readouterr().out
    for words in ("predict on made-up-2020, dev", "official, 2020", "0.8333", "precision", "CENTRAL", "Easy", "Q_Dev"):
        assert words in output


def test_the_packaged_corpus_is_the_default_and_has_no_official_figure(
    arcf: Arcf, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "run.txt"
    path.write_text("science-001\tcause-002\n")
    assert arcf("evaluate", path, "--json") == 0
    output = capsys.readouterr()
    record = json.loads(output.out)
    assert (record["dataset"], record["map_official"], record["questions_official"]) == ("science", None, 0)
    assert output.err.count("warning: ") == 1
    assert "are missing and count 0" in output.err
    assert arcf("evaluate", path, "--per-question") == 0
    shown = capsys.readouterr().out
    assert "rule\tMAP\tquestions\nall questions with gold\t0.0033\t50\n\n" in shown
    assert "2019" not in shown
    assert "official" not in shown


def test_warnings_are_one_line_each(arcf: Arcf, worldtree_like: Make, run: Path, capsys: Capture) -> None:
    with run.open("a") as file:
        file.write("Q_Other\taaaa-0001\nQ_Dev\tnowhere\n")
    assert arcf("evaluate", run, "--dataset", worldtree_like(2020)) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("warning: In the run 'predict', 1 of ") for line in lines] == [True, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "run.txt: is empty"),
        (b"Q_Dev aaaa-0001\n", "run.txt:1: has 2 column(s)"),
        (b"Q_Dev\taaaa-0001\nQ_Dev\n", "run.txt:2: has 1 column(s)"),
        (b"Q_Dev\t\xff\n", "run.txt:1: is not UTF-8"),
        (b"Q_Dev Q0 aaaa-0001 1 high arcf\n", "run.txt:1: has rank '1' and score 'high'"),
        (b'{"rankings": [', "run.txt:1: is broken JSON"),
        (b"Q_Other\taaaa-0001\n", "has no question of the split 'dev'"),
    ],
)
def test_bad_runs(
    arcf: Arcf, worldtree_like: Make, tmp_path: Path, capsys: Capture, content: bytes, message: str
) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(content)
    assert arcf("evaluate", path, "--dataset", worldtree_like(2020)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert len(output.err.splitlines()) == 1
    assert message in output.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "test"], "has no gold facts, so nothing can be scored; choose one of: dev, train."),
        (["--split", "other"], "There is no split of made-up-2020 named 'other'"),
        (["--dataset", "nowhere"], "nowhere"),
    ],
)
def test_bad_settings(
    arcf: Arcf, worldtree_like: Make, run: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    assert arcf("evaluate", run, "--dataset", worldtree_like(2020), *arguments) == 2
    output = capsys.readouterr().err
    assert output.startswith("error: ")
    assert message in output


def test_missing_run(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    assert arcf("evaluate", tmp_path / "none.txt") == 2
    assert "none.txt: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_help_has_an_example(arcf: Arcf, capsys: Capture, command: str) -> None:
    assert arcf(command, "--help") == 0
    assert f"Example: arcf {command}" in capsys.readouterr().out


def test_commands_load_nothing_before_they_run() -> None:
    code = (
        "import sys, arcf.cli.evaluate, arcf.cli.compare; "
        "print({'scipy', 'rich.table', 'arcf.evaluation', 'arcf.data'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.worldtree
def test_the_official_scorer_counts_410_of_496_dev_questions(
    arcf: Arcf, worldtree_2020: Dataset, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "gold.txt"
    lines = [f"{entry.id}\t{gold.uid}\n" for entry in worldtree_2020.split("dev") for gold in entry.gold]
    path.write_text("".join(lines))
    assert arcf("evaluate", path, "--dataset", "worldtree-2020", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["questions_official"], record["questions_all"]) == (410, 496)
    assert record["map_all"] == pytest.approx(1)


def test_breakdown_by_hops(arcf: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert arcf("rank", "--split", "dev", "--output", tmp_path / "run") == 0
    assert arcf("evaluate", tmp_path / "run", "--hops", 20, "--json") == 0
    hops = json.loads(capsys.readouterr().out)["breakdowns"]["hops"]
    assert [group["name"] for group in hops][:2] == ["1", "2"]
    assert hops[0]["map"] > hops[1]["map"]
    assert sum(group["facts"] for group in hops) == sum(len(question.gold) for question in load().split("dev"))


def test_several_runs_their_chains_and_the_plots(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    paths = tmp_path / "arcf.json", tmp_path / "tfidf.json"
    for path in paths:
        options = ("--split", "dev", "--questions", 4, "--format", "json")
        assert arcf("rank", "--ranker", path.stem, "--output", path, *options) == 0
    arguments = ("evaluate", *paths, "--questions", 4, "--plot", tmp_path / "plots")
    assert arcf(*arguments, "--json") == 0
    chains, lexical = json.loads(capsys.readouterr().out)["runs"]
    assert lexical["chains"] is None
    assert chains["questions_all"] == chains["chains"]["questions"] == 4
    assert 0 < chains["chains"]["f1"] <= 1
    assert 3 <= chains["chains"]["length"] <= 9
    assert lexical["calibration"] is None
    assert chains["calibration"]["facts"] == chains["chains"]["length"] * 4
    assert 0 < chains["calibration"]["ece"] < 1
    assert sum(one["count"] for one in chains["calibration"]["bins"]) == chains["calibration"]["facts"]
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert drawn == [f"{name}.{ending}" for name in ("breakdowns", "reliability") for ending in ("png", "svg")]
    assert arcf(*arguments) == 0
    shown = capsys.readouterr().out
    assert shown.count("too early") == shown.count("calibration\tECE\tfacts") == 1
    assert "too late" in shown
