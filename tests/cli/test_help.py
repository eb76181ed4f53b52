"""The examples of every command's help: what they name exists, and what can be run here runs."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from arcf.cli.app import app
from arcf.config import presets
from arcf.rankers import RankerSettings
from arcf.types import Dataset

Arcf = Callable[..., int]


def commands(group: typer.Typer, name: str = "arcf") -> Iterator[tuple[str, str]]:
    """The help of every command, by its whole name."""
    for command in group.registered_commands:
        assert command.callback is not None
        own = command.name or command.callback.__name__
        yield f"{name} {own}", command.callback.__doc__ or ""
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from commands(inner.typer_instance, f"{name} {inner.typer_instance.info.name}")


HELP = dict(commands(app))
EXAMPLES = [
    (name, shlex.split(example)) for name, text in HELP.items() for example in re.findall(r"Example: (.*)", text)
]


def test_every_command_has_an_example_of_itself() -> None:
    assert {name for name, words in EXAMPLES if words[: len(name.split())] == name.split()} == set(HELP)


@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_options_of_examples_exist(arcf: Arcf, capsys: pytest.CaptureFixture[str], name: str, words: list[str]) -> None:
    assert arcf(*name.split()[1:], "--help") == 0
    known = set(re.findall(r"--?[a-z][a-z-]*", capsys.readouterr().out))
    assert {word for word in words if re.fullmatch(r"--?[a-z].*", word)} <= known


def test_presets_of_examples_exist() -> None:
    named = {words[words.index("--preset") + 1] for _, words in EXAMPLES if "--preset" in words}
    assert named
    assert named <= {"minilm", *presets(RankerSettings)}


@pytest.mark.worldtree
def test_questions_of_examples_exist(worldtree_2020: Dataset) -> None:
    named = [(words[words.index("--id") + 1], words) for _, words in EXAMPLES if "--id" in words]
    assert named
    for question, words in named:
        assert words[words.index("--dataset") + 1] == "worldtree-2020"
        assert worldtree_2020.question(question).id == question


HERE = [words for _, words in EXAMPLES if words[1] in ("explain", "rank", "data") and "worldtree-2020" not in words]


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_examples_that_need_no_dataset_run(
    arcf: Arcf, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.txt").write_text("yeast makes bread rise\ndead yeast makes no gas\n")
    (tmp_path / "facts.jsonl").write_text('{"text": "yeast makes bread rise"}\n')
    (tmp_path / "questions.jsonl").write_text('{"question": "Why does bread rise?", "answer": "yeast"}\n')
    small = ["--questions", "2"] if "--split" in words else []
    assert arcf(*words[1:], *small) == 0
