"""The line that tells how far loading has come."""

import sys
from io import StringIO

import pytest

from arcf.cli import progress
from arcf.cli.progress import ProgressLine, progress_line
from arcf.cli.verbosity import CHOSEN
from arcf.progress import STEP, listening, tracked


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def work(items: int) -> None:
    assert list(tracked(range(items), "counting", items)) == list(range(items))


def interrupt() -> int:
    raise KeyboardInterrupt


def test_items_pass_and_are_reported() -> None:
    heard: list[tuple[str, int, int]] = []
    with listening(lambda *report: heard.append(report)):
        work(STEP + 1)
    work(5)
    assert heard == [("counting", 0, STEP + 1), ("counting", STEP, STEP + 1), ("counting", STEP + 1, STEP + 1)]


def test_a_terminal_sees_a_line_that_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line():
        work(4 * STEP)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "\rcounting: 2,048 of 4,096 (50%)" in shown
    assert shown.endswith("\r" + " " * len("counting: 3,072 of 4,096 (75%)") + "\r")


def test_little_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line():
        work(4 * STEP)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", StringIO())
    with progress_line():
        work(4 * STEP)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_quiet_commands_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(CHOSEN, "quiet", True)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line():
        work(4 * STEP)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_an_error_in_between_leaves_no_half_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    items = (item if item < 2 * STEP else interrupt() for item in range(9 * STEP))
    with pytest.raises(KeyboardInterrupt), progress_line():
        list(tracked(items, "counting", 9 * STEP))
    assert sys.stderr.getvalue().endswith(" \r")  # type: ignore[attr-defined]


def test_new_work_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", Terminal())
    line = ProgressLine()
    for what, when in (("reading", 0.0), ("reading", 0.9), ("counting", 1.1), ("counting", 2.0)):
        now[0] = when
        line(what, 1, 10)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    now[0] = 2.2
    line("counting", 5, 10)
    assert sys.stderr.getvalue() == "\rcounting: 5 of 10 (50%)"  # type: ignore[attr-defined]
