"""-q and -v, before any command."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.cli.output import note

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    path = tmp_path / "facts.txt"
    path.write_text("ice is solid\nheat melts ice\n")
    return path


def test_verbose_says_what_is_loaded_from_where_and_how_long(arcf: Arcf, facts: Path, capsys: Capture) -> None:
    for _ in range(2):  # Said once each time: no listener is left behind.
        assert arcf("-v", "explain", "What melts ice?", "--facts", facts, "--json") == 0
        output = capsys.readouterr()
        json.loads(output.out)
        lines = output.err.splitlines()
        assert [line.rpartition(" in ")[0].split("/")[0] for line in lines] == [
            f"read the dataset {facts} from ".split("/")[0],
            "loaded the model ",
            "made the neighborhood tfidf of 2 facts",
        ]
        assert all(line.endswith(" s") for line in lines)


def test_nothing_of_it_unless_asked(arcf: Arcf, facts: Path, capsys: Capture) -> None:
    arguments = ("rank", "What melts ice?", "--ranker", "tfidf", "--facts", facts)
    assert arcf("-v", *arguments) == 0
    assert "read the dataset" in capsys.readouterr().err
    assert arcf(*arguments) == 0
    assert capsys.readouterr().err == ""
    assert not logging.getLogger("arcf").handlers


def test_a_command_leaves_nothing_behind(arcf: Arcf, capsys: Capture) -> None:
    for option in ("-q", "-v"):
        assert arcf(option, "data", "list") == 0
        assert arcf(option, "explain") == 2
    capsys.readouterr()
    note("said")
    assert capsys.readouterr().err == "said\n"
    assert not logging.getLogger("arcf").handlers


def test_quiet_leaves_notes_out_and_warnings_in(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("rank", "--ranker", "tfidf", "--split", "dev", "--questions", "3", "--output", tmp_path / "run")
    assert arcf(*arguments) == 0
    assert capsys.readouterr().err == f"3 questions ranked in {tmp_path / 'run'}\n"
    assert arcf("--quiet", *arguments) == 0
    assert capsys.readouterr() == ("", "")
    assert arcf("-q", "evaluate", tmp_path / "run", "--json") == 0
    assert capsys.readouterr().err.startswith("warning: ")


def test_both_are_refused(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("-q", "-v", "data", "list") == 2
    assert capsys.readouterr().err == "error: -q says less and -v says more; give one of them.\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [("arcf expl", ["explain"]), ("arcf explain --fi", ["--file"]), ("arcf data in", ["install"])],
)
def test_shells_complete(
    arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: str, expected: list[str]
) -> None:
    for name, value in {
        "_ARCF_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }.items():
        monkeypatch.setenv(name, value)
    assert arcf() == 0
    assert capsys.readouterr().out.split() == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_is_shown(
    arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert arcf("--show-completion", shell) == 0
    assert f"_ARCF_COMPLETE=complete_{shell}" in capsys.readouterr().out
