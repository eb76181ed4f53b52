"""`arcf fuse` as a person uses it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.runs import read_run

Arcf = Callable[..., int]


@pytest.fixture
def runs(arcf: Arcf, tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "tfidf.json", tmp_path / "overlap.json"
    for path in made:
        assert arcf("rank", "--ranker", path.stem, "--split", "dev", "--output", path, "--format", "json") == 0
    return made


def test_it_is_the_ensemble_of_the_rankers(arcf: Arcf, runs: tuple[Path, Path], tmp_path: Path) -> None:
    fused, ensemble = tmp_path / "fused", tmp_path / "ensemble"
    assert arcf("fuse", *runs, "--output", fused, "--weight", 0.75, "--weight", 0.25) == 0
    described = ["ensemble.members=['tfidf', 'overlap']", "ensemble.weights=[0.75, 0.25]"]
    options = [option for text in described for option in ("--set", text)]
    assert arcf("rank", "--ranker", "ensemble", "--split", "dev", "--output", ensemble, *options) == 0
    one, other = read_run(fused).rankings, read_run(ensemble).rankings
    assert one.keys() == other.keys()
    # Scores in files have nine digits: facts that are nearly level may change places.
    assert all(set(one[name][:5]) == set(other[name][:5]) for name in one)


def test_weights_are_chosen_on_training_questions(
    arcf: Arcf, runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held_out = []
    for run in runs:
        held_out += ["--held-out", tmp_path / f"held-out-{run.name}"]
        arguments = ("--split", "train", "--questions", 7, "--output", held_out[-1], "--format", "json")
        assert arcf("rank", "--ranker", run.stem, *arguments) == 0
    assert arcf("fuse", *runs, "--output", tmp_path / "fused", *held_out) == 0
    assert "on 7 held-out training questions" in capsys.readouterr().err
    assert arcf("fuse", *runs, "--output", tmp_path / "no", "--held-out", runs[0], "--held-out", runs[1]) == 2
    assert "is no training question of science" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weight", 1], "give 2 of them, not 1"),
        (["--weight", 0, "--weight", 0], "not all of them 0"),
        (["--weight", 1, "--weight", 1, "--held-out", "x"], "not both"),
        (["--held-out", "x"], "once for each of the 2 runs"),
        (["--method", "votes"], "There is no way to fuse named 'votes'"),
        (["--format", "xml"], "xml"),
    ],
)
def test_wrong_usage(
    arcf: Arcf,
    runs: tuple[Path, Path],
    tmp_path: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert arcf("fuse", *runs, "--output", tmp_path / "no", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_one_run_and_a_run_without_scores(arcf: Arcf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("science-001\tcause-002\nscience-001\tnowhere\n")
    assert arcf("fuse", plain, "--output", tmp_path / "no") == 2
    assert "at least two" in capsys.readouterr().err
    assert arcf("fuse", plain, plain, "--output", tmp_path / "no") == 2
    assert "has no finite scores for the question 'science-001'; fuse by reciprocal-rank" in capsys.readouterr().err
    path = tmp_path / "fused.json"
    assert arcf("fuse", plain, plain, "--output", path, "--method", "reciprocal-rank", "--format", "json") == 0
    (entry,) = json.loads(path.read_text())["rankings"]
    assert entry == {"question": "science-001", "facts": ["cause-002"], "scores": [pytest.approx(2 / 61)]}
