import io
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from arcf.cli.console import SafeConsole

HOSTILE = "ice\x1b[2J\x9b31m\x07 [red]:ice: melts"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> SafeConsole:
    monkeypatch.setenv("COLUMNS", "200")
    console = SafeConsole()
    console.file = io.StringIO()
    return console


def written(console: SafeConsole) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("kind", ["string", "text", "cell", "heading"])
def test_escape_sequences_in_data_are_shown(terminal: SafeConsole, kind: str) -> None:
    table = Table(HOSTILE if kind == "heading" else "fact")
    table.add_row(HOSTILE if kind == "cell" else "moss")
    kinds = {"string": HOSTILE, "text": Text(HOSTILE), "cell": table, "heading": table}
    terminal.print(kinds[kind])
    assert "\x1b" not in written(terminal)
    assert "\x9b" not in written(terminal)
    assert "ice\ufffd[2J\ufffd31m" in written(terminal)
    assert ":ice:" in written(terminal)


def test_colours_of_our_own_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    console = SafeConsole()
    console.file = io.StringIO()
    console.print("[bold]moss[/] \x1b[31m")
    assert written(console) == "\x1b[1mmoss\x1b[0m \ufffd[31m\n"


def test_an_encoding_without_the_characters_of_a_picture(tmp_path: Path) -> None:
    console = SafeConsole()
    with (tmp_path / "out").open("w", encoding="cp1252", errors="arcf-plain") as file:
        console.file = file
        console.print("└ é ✓")
    assert (tmp_path / "out").read_bytes() == b"- \xe9 *\n"
