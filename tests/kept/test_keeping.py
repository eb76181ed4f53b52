"""Making once: whatever happens to the cache, what is asked for is right."""

import errno
import fcntl
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier, Event
from time import sleep

import numpy as np
import pytest

from arcf.errors import ArcfWarning
from arcf.kept import keeping
from arcf.kept.arrays import Arrays
from arcf.kept.head import About
from arcf.kept.keeping import keeping_nothing, kept

ABOUT = About("words", 3, "digest")
PROCESSES = 3


class Making:
    """Makes the same arrays, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Arrays:
        self.times += 1
        return {"numbers": np.arange(100)}


def ask(make: Callable[[], Arrays]) -> None:
    np.testing.assert_array_equal(kept("words", "mark", ABOUT, make)["numbers"], np.arange(100))


def files_of(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*") if path.is_file()]


def test_made_once(cache: Path) -> None:
    make = Making()
    ask(make)
    ask(make)
    assert make.times == 1
    assert [path.name for path in cache.rglob("*.*")] == ["mark.kept"]


def test_what_is_quick_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "WORTH_SECONDS", 3600.0)
    ask(Making())
    assert files_of(cache) == []


def test_a_few_texts_are_no_corpus(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "WORTH_FACTS", ABOUT.facts + 1)
    ask(Making())
    assert not cache.exists()
    monkeypatch.setattr(keeping, "MISSED_SECONDS", 0.0)
    ask(Making())
    assert cache.exists()


@pytest.mark.parametrize("content", [b"", b"damaged" * 50])
def test_damage_costs_a_warning_and_is_repaired(cache: Path, content: bytes) -> None:
    make = Making()
    ask(make)
    (cache / "words" / "mark.kept").write_bytes(content)
    with pytest.warns(ArcfWarning, match=r"mark\.kept: is .* It is made again now\.") as told:
        ask(make)
    assert len(told) == 1
    ask(make)
    assert make.times == 2


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("trouble", ["full", "read-only", "file"])
@pytest.mark.parametrize("slow", [False, True])
def test_a_cache_that_cannot_be_written_to(
    cache: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, slow: bool
) -> None:
    monkeypatch.setattr(keeping, "MISSED_SECONDS", 0.0 if slow else 3600.0)
    if trouble == "full":
        monkeypatch.setattr(os, "fsync", full)
    elif trouble == "read-only":
        monkeypatch.setattr(Path, "touch", refuse)
    else:
        cache.parent.mkdir()
        cache.write_text("a file where the folder should be")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(Making())
    said = [str(warning.message) for warning in caught]
    assert len(said) == slow
    assert all(
        message.startswith("What was made of the 3 facts (words) is not kept for next time: ") for message in said
    )
    assert files_of(cache) == []


def in_a_process(folder: Path) -> list[int]:
    """Ask for what takes until all three have asked, or one has begun and the others wait."""
    keeping.WORTH_SECONDS, keeping.WORTH_FACTS = 0.0, 0

    def make() -> Arrays:
        (folder / f"made-{os.getpid()}").touch()
        while len(list(folder.glob("asking-*"))) < PROCESSES:
            sleep(0.001)
        return {"numbers": np.arange(50_000)}

    (folder / f"asking-{os.getpid()}").touch()
    return [int(value) for value in kept("words", "mark", ABOUT, make)["numbers"][::9]]


def test_of_processes_that_ask_at_once_one_makes_it(cache: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(in_a_process, [tmp_path] * PROCESSES))
    assert all(result == list(range(0, 50_000, 9)) for result in results)
    assert len(list(tmp_path.glob("made-*"))) == 1
    assert files_of(cache) == ["mark.kept"]


def test_what_could_not_be_kept_is_made_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", full)
    begun, end, both = Event(), Event(), Barrier(2, timeout=60)

    def first() -> Arrays:
        begun.set()
        end.wait(60)
        return Making()()

    def after() -> Arrays:
        both.wait()  # which is broken if one waits until the other is done
        return Making()()

    flock = fcntl.flock
    waiting = Barrier(3, action=end.set, timeout=60)

    def noted(file: object, operation: int) -> None:
        if operation == fcntl.LOCK_EX:
            waiting.wait()
        flock(file, operation)  # type: ignore[arg-type]

    monkeypatch.setattr(fcntl, "flock", noted)
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, first)]
        begun.wait(60)
        asked += [pool.submit(ask, after) for _ in range(2)]
        waiting.wait()
        for done in asked:
            done.result()


def test_what_nobody_will_ask_for_again_is_not_kept(cache: Path) -> None:
    with keeping_nothing():
        ask(Making())
    assert not cache.exists()
    ask(Making())
    with keeping_nothing():
        ask(lambda: pytest.fail("made again"))
