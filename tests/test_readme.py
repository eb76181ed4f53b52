"""The README's examples really run, and print what it says they print."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_first_python_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"^```python\n(.*?)^```\n\n```\n(.*?)^```", README, re.M | re.S)
    assert found
    exec(compile(found[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == found[2]


def masked(line: str) -> str:
    """Scores, probabilities and seconds differ a little from processor to processor."""
    return re.sub(r"-?\d+\.\d+|\d+%", "#", line).rstrip()


def test_console_examples_print_what_they_say(
    arcf: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A terminal of 80 columns without colours.
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "dumb")
    shown = re.findall(r"^\$ arcf (.*?)\n(.*?)^```", README, re.M | re.S)
    assert shown
    for command, expected in shown:
        assert arcf(*shlex.split(command)) == 0
        printed = capsys.readouterr().out
        assert [masked(line) for line in printed.splitlines()] == [masked(line) for line in expected.splitlines()]
