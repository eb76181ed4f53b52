import io
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from arcf.cli.console import SafeConsole

HOSTILE = "ice\x1b[2J\x9b31m\x07 [red]:ice: melts"


@pytest.fixture
def terminal() -> SafeConsole:
    """A console that writes into a pipe, as far as it knows."""
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


def test_nothing_is_wrapped_or_filled_up_in_a_pipe(terminal: SafeConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    long = "ice " * 500
    grid = Table.grid()
    grid.add_row("1", long)
    grid.add_row("2", "short")
    terminal.print(f"[bold]{long}[/]")
    terminal.print(grid)
    assert written(terminal).splitlines() == [long.rstrip(), f"1{long}".rstrip(), "2short"]


def test_tables_have_tabs_in_a_pipe(terminal: SafeConsole) -> None:
    table = Table("fact", "[dim]score[/]")
    table.add_row(Text("ice\tis\nsolid"), "[bold]0.5[/]")
    table.add_row("", r"\[x]")
    terminal.print(table)
    assert written(terminal) == "fact\tscore\nice is solid\t0.5\n\t[x]\n"


def test_tables_are_aligned_and_wrapped_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "dumb")
    console = SafeConsole()
    console.file = io.StringIO()
    table = Table("fact", "score", box=None)
    table.add_row("ice " * 30, "0.5")
    console.print(table)
    assert "\t" not in written(console)
    assert max(map(len, written(console).splitlines())) <= 80


def test_a_quiet_console_writes_nothing(terminal: SafeConsole) -> None:
    terminal.quiet = True
    terminal.print("ice", Table("fact"))
    terminal.print(Table("fact"))
    assert written(terminal) == ""
