import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from arcf.chain import ChainSettings, Evidence, load_calibration
from arcf.cli.app import app
from arcf.errors import ArcfWarning, InputError, SettingError
from arcf.evaluation.observation import Kept, Observation, ObservedStep, draw


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that nothing is loaded from: all chains are observed already."""
    folder = tmp_path / "model"
    folder.mkdir()
    monkeypatch.setattr("arcf.rankers.build_autoregressive", lambda *_: RANKER)
    return folder


RANKER = SimpleNamespace(search=SimpleNamespace(settings=ChainSettings(), query="answer"))
"""How chains would be searched for."""


@pytest.fixture
def kept(model: Path, tmp_path: Path) -> Path:
    from arcf.data import load

    science, size = load("science"), len(Evidence.names()) - 1
    found = Kept(tmp_path / "chains.jsonl", str(model))
    asked = draw(science, "train", 12)
    marks = found.marks(RANKER, science, asked)  # type: ignore[arg-type]
    for number, (mark, question) in enumerate(zip(marks, asked, strict=True)):
        steps = [
            ObservedStep(Evidence(share, *[float(number % 3)] * size), share > -1 + number % 2, False)
            for share in (-0.5, -2.0)
        ]
        found.add(mark, Observation("science", question.id, 2, tuple(steps)))
    return found.path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["calibrate", *map(str, arguments)])
    if result.exception:
        raise result.exception
    return result.output


def test_a_calibration_is_written_into_the_model_and_checked(model: Path, kept: Path, tmp_path: Path) -> None:
    report = json.loads(run(model, "--questions", 12, "--keep", kept, "--json"))
    assert report["corpora"]["science"]["questions"] == 12
    calibration = load_calibration(model)
    assert calibration is not None
    assert calibration.fitted_on["science"]["questions"] == 12
    picture = tmp_path / "reliability.png"
    shown = run(model, "--questions", 12, "--keep", kept, "--check", "--plot", picture)
    assert "ECE over all" in shown
    assert picture.stat().st_size > 1000


def test_questions_that_the_model_has_learnt_are_pointed_out(model: Path, kept: Path) -> None:
    learnt = {"name": "science", "split": "train", "held_out": 5}
    (model / "training.json").write_text(json.dumps({"data": [learnt]}))
    with pytest.warns(ArcfWarning, match=r"has learnt 7 of these questions of science.*\(--questions 5\)"):
        run(model, "--questions", 12, "--keep", kept)
    (model / "training.json").write_text(json.dumps({"data": [learnt | {"held_out": 12}]}))
    run(model, "--questions", 12, "--keep", kept)  # no warning: warnings are errors


def test_another_place(model: Path, kept: Path, tmp_path: Path) -> None:
    run(model, "--questions", 12, "--keep", kept, "--output", tmp_path / "other.json")
    assert load_calibration(model) is None
    assert (tmp_path / "other.json").is_file()


@pytest.mark.parametrize("option", ["--output", "--keep"])
def test_what_cannot_be_written_is_refused_before_the_work(model: Path, tmp_path: Path, option: str) -> None:
    with pytest.raises(InputError, match="nowhere"):
        run(model, "--questions", 12, option, tmp_path / "nowhere" / "file")


def test_nothing_to_observe(model: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.txt").write_text("ice is cold\n")
    (tmp_path / "questions.dev.jsonl").write_text('{"question": "What is cold?"}\n')
    with pytest.raises(InputError, match=r"The split 'dev' of .* has no gold facts"):
        run(model, "--dataset", tmp_path, "--split", "dev")


def test_datasets_of_one_name(model: Path) -> None:
    with pytest.raises(SettingError, match="Two datasets are called science"):
        run(model, "--dataset", "science", "--dataset", "science")


def test_nothing_to_check(model: Path) -> None:
    with pytest.raises(InputError, match="no calibration to check"):
        run(model, "--check")
    with pytest.raises(SettingError, match="leave out --output"):
        run(model, "--check", "--output", "x.json")
