"""`arcf train`: what it refuses, and that it refuses before anything slow or lasting. Runs are in tests/training."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

pytest.importorskip("torch")


def said(capsys: Capture) -> str:
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither data nor models may be loaded."""

    def fail(*_: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr("arcf.data.load", fail)
    monkeypatch.setattr("arcf.training.run.load_backbone", fail)


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give a configuration file"),
        (("--resume",), "run: holds no run to resume; name the folder of one (--output), or train without --resume."),
        (("--preset", "papper"), "Did you mean 'paper'"),
        (("nowhere.toml",), "nowhere.toml: cannot be read"),
        (("--preset", "minilm", "--set", "optimisation.loss=rank"), "Did you mean 'ranknet'"),
        (("--preset", "minilm", "--set", "model.encoding=shared_prefx"), "Did you mean 'shared_prefix'"),
        (("--preset", "minilm", "--set", "optimisation.epoch=1"), "Did you mean 'optimisation.epochs'"),
        (("--preset", "minilm", "--set", "sampling.k=0"), "k must be at least 1, not 0"),
        (("--preset", "minilm", "--set", "epochs"), "section.key=value"),
        (("--preset", "minilm", "--set", "run.device=gpu"), "device must be"),
        (("--preset", "minilm", "--dataset", "a", "--set", "data.datasets.b.weight=1"), "datasets in sections"),
        (("--preset", "mixed", "--set", "data.held_out=5"), "set data.datasets.NAME.held_out instead"),
        (("--preset", "minilm", "--set", "sampling.mining.depth=32"), "The setting 'sampling.mining.run' is missing"),
        (("--preset", "minilm", "--distance", "tfdif"), "Did you mean 'tfidf'"),
        (("--preset", "minilm", "--query", "stam"), "'sampling.query' takes answer or stem or options, not 'stam'"),
        (("--preset", "paper", "--set", "sampling.kind=fact"), "Did you mean 'facts'"),
        (("--preset", "minilm", "--set", "sampling.kind=facts"), "only samples of the kind prefixes have any"),
        (("--preset", "paper", "--set", "sampling.paths.starts=2"), "only samples of the kind paths are of chains"),
        (
            ("--preset", "paper", "--set", "sampling.kind=paths", "--set", "sampling.pool=corpus"),
            "samples of the kind paths have no pool = corpus",
        ),
    ],
)
def test_mistakes(arguments: tuple[str, ...], words: str, arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    assert arcf("train", *arguments, "--output", tmp_path / "run") == 2
    assert words in said(capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("never")
def test_a_broken_file(arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("epochs: 3")
    assert arcf("train", tmp_path / "own.toml", "--output", tmp_path / "run") == 2
    assert "own.toml: is not TOML" in said(capsys)


def corpus(folder: Path, questions: list[dict[str, object]]) -> Path:
    folder.mkdir()
    facts = [{"uid": f"u{number}", "text": f"fact number {number}"} for number in range(4)]
    (folder / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    (folder / "questions.train.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    return folder


QUESTION = {"id": "q", "question": "Which number?", "answer": "1"}


@pytest.mark.parametrize(
    ("questions", "held_out", "words"),
    [
        ([], 0, "train"),
        ([QUESTION], 0, "has 0 questions with gold facts in the split train"),
        ([QUESTION], 0, "Give questions with gold facts, or another split (data.split)."),
        ([QUESTION | {"gold": ["u1"]}], 1, "of which 1 are to be held out; nothing is left to learn from"),
        (
            [QUESTION | {"id": f"q{n}", "gold": ["u1"]} for n in range(10)],
            200,
            "Hold out fewer: --set data.held_out=2 (of several corpora, data.datasets.NAME.held_out).",
        ),
    ],
)
def test_nothing_to_learn_from(
    questions: list[dict[str, object]], held_out: int, words: str, arcf: Arcf, capsys: Capture, tmp_path: Path
) -> None:
    data = corpus(tmp_path / "data", questions)
    arguments = ("--dataset", data, "--set", f"data.held_out={held_out}", "--output", tmp_path / "run")
    assert arcf("train", "--preset", "minilm", *arguments) == 2
    assert words in said(capsys)
    assert not (tmp_path / "run").exists()


def test_the_folder_of_the_run(arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    data = corpus(tmp_path / "data", [QUESTION | {"gold": ["u1"]}])
    arguments = ("--preset", "minilm", "--dataset", data, "--set", "data.held_out=0", "--output", data)
    assert arcf("train", *arguments) == 2
    assert "is not an empty folder" in said(capsys)
    assert arcf("train", *arguments, "--resume") == 2
    assert "holds no run to resume" in said(capsys)


def test_a_dataset_that_looks_like_a_number(arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    assert arcf("train", "--preset", "minilm", "--dataset", "2020", "--output", tmp_path / "run") == 2
    assert "no dataset or file named '2020'" in said(capsys)


def test_a_dataset_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two splits of it may be two corpora."""
    from arcf.cli.train import load_datasets
    from arcf.training.settings import CorpusSettings, DataSettings

    asked: list[str] = []
    monkeypatch.setattr("arcf.data.load", lambda place: asked.append(place) or f"read {place}")
    sections = {"one": CorpusSettings("a"), "two": CorpusSettings("a", split="test"), "b": CorpusSettings()}
    found = load_datasets(DataSettings(datasets=sections))
    assert found == {"one": "read a", "two": "read a", "b": "read b"}
    assert asked == ["a", "b"]


def test_help_has_examples(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("train", "--help") == 0
    output = capsys.readouterr().out
    assert "arcf train --preset minilm" in output
    assert "torchrun" in output
