"""Turns: one at a time, given back whatever happens, and never in the way of work."""

import errno
import fcntl
import os
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from arcf.kept.turns import turn


def test_one_at_a_time(tmp_path: Path) -> None:
    path, asked, has_it = tmp_path / "words" / "mark.kept", Event(), Event()

    def wait() -> None:
        asked.set()
        with turn(path) as waited:
            assert waited
            has_it.set()

    with turn(path) as waited:
        assert not waited
        thread = Thread(target=wait)
        thread.start()
        asked.wait()
        with turn(tmp_path / "words" / "other.kept"):  # which nobody else has
            assert not has_it.wait(0.05)
    assert has_it.wait(60)
    thread.join()
    assert list(path.parent.iterdir()) == []


def test_a_turn_that_fails_is_given_back(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), turn(tmp_path / "mark.kept"):
        raise KeyboardInterrupt
    with turn(tmp_path / "mark.kept"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("trouble", ["folder", "locks", "system", "deleted"])
def test_without_a_lock_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    path = tmp_path / "words" / "mark.kept"
    if trouble == "folder":
        path.parent.write_text("a file where the folder should be")
    elif trouble == "locks":
        monkeypatch.setattr(fcntl, "flock", refuse)
    elif trouble == "system":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    with turn(path):
        if trouble == "deleted":
            (path.parent / ".mark.lock").unlink()
        with turn(path) if trouble != "deleted" else turn(tmp_path / "other.kept"):
            done = True
    assert done
