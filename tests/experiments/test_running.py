"""Jobs that are done once, whatever happens on the way."""

import errno
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from arcf.errors import ArcfWarning, InputError

pytest.importorskip("torch")

from arcf.experiments.budget import Speed
from arcf.experiments.measuring import ReachabilityJob
from arcf.experiments.place import Data, Job, Place, key_of
from arcf.experiments.running import Progress, due, in_order, run_jobs

DONE: list[str] = []
FAILURES: dict[str, Callable[[], None]] = {}


@dataclass(frozen=True)
class Noted(Job):
    """A job that notes that it was done, unless it is told to fail."""

    name: str
    before: tuple["Noted", ...] = ()
    alone: bool = False
    kind: ClassVar[str] = "noted"

    @property
    def title(self) -> str:
        return self.name

    def command(self, place: Place) -> str:
        del place
        return f"note {self.name}"

    def tokens(self) -> float:
        return 1000.0

    def run(self, place: Place) -> dict[str, Any]:
        FAILURES.get(self.name, lambda: None)()
        DONE.append(self.name)
        self.product(place).touch()
        return {"name": self.name}

    def product(self, place: Place) -> Path:
        return place.of(self) / "made"


A = Noted("a")
B = Noted("b", (A,))
CLOCK = Noted("clock", (A,), alone=True)
C = Noted("c", (A, B))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    DONE.clear()
    FAILURES.clear()
    made = Place(tmp_path / "out", "smoke", "minilm")
    made.begin()
    return made


def test_order() -> None:
    assert in_order([CLOCK, C, B]) == (A, B, C, CLOCK)


def test_nothing_is_done_twice(place: Place) -> None:
    told: list[Progress] = []
    run_jobs(in_order([C, CLOCK]), place, Speed(1, 1000), report=told.append)
    assert DONE == ["a", "b", "c", "clock"]
    assert place.result(C) == {"name": "c"}
    assert [(entry.state, entry.done) for entry in told][:3] == [("begun", 0), ("done", 1), ("begun", 1)]
    assert (told[0].left, told[-1].left) == (4 * 6.0, 0)
    run_jobs(in_order([C, CLOCK]), place, Speed(), report=told.append)
    assert DONE == ["a", "b", "c", "clock"]
    assert {entry.state for entry in told[-4:]} == {"known"}


def test_what_is_gone_is_made_again_only_if_it_is_needed(place: Place) -> None:
    run_jobs(in_order([B]), place, Speed())
    for job in (A, B):
        job.product(place).unlink()
    assert due(in_order([B]), place) == ()
    assert due(in_order([C]), place) == (A, B, C)
    A.product(place).touch()
    assert due(in_order([C, CLOCK]), place) == (B, C, CLOCK)
    run_jobs(in_order([C]), place, Speed())
    assert DONE == ["a", "b", "b", "c"]


def fail_with(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_a_kill_in_the_middle_loses_nothing_that_is_finished(place: Place) -> None:
    FAILURES["b"] = fail_with(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run_jobs(in_order([C]), place, Speed())
    FAILURES.clear()
    run_jobs(in_order([C]), place, Speed())
    assert DONE == ["a", "b", "c"]


def test_a_full_disk_is_one_sentence(place: Place) -> None:
    FAILURES["b"] = fail_with(OSError(errno.ENOSPC, "No space left on device", str(place.folder)))
    with pytest.raises(InputError, match="No space left on device; see to that, and give the same command again"):
        run_jobs(in_order([C]), place, Speed())
    assert place.result(A) is not None
    assert place.result(B) is None


def test_several_at_once(place: Place, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is odd about a dataset, the processes do not say again."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "facts.jsonl").write_text('{"id": "known", "text": "ice melts"}\n')
    asked = {"id": "q", "question": "What melts?", "answer": "ice", "split": "train", "gold": ["known", "gone"]}
    (tmp_path / "mine" / "questions.jsonl").write_text(json.dumps(asked) + "\n")
    jobs: list[Job] = [ReachabilityJob("science", (k,)) for k in (5, 20, 50)]
    odd = ReachabilityJob(str(tmp_path / "mine"), (5,))
    with pytest.warns(ArcfWarning, match="1 gold uids belong to no fact"):
        run_jobs(in_order([*jobs, odd]), place, Speed(), processes=2)
    fractions = [next(iter((place.result(job) or {})["fractions"].values())) for job in jobs]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < fractions[-1]
    assert place.result(odd) is not None
    assert capfd.readouterr().err == ""


KILLED = """
import os, signal, time
from arcf.experiments.running import worker_processes

if __name__ == "__main__":
    pool = worker_processes(1)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 3600)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_end_with_the_command_that_began_them(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED)
    # The output ends when nobody has it open any more: neither the command nor its process.
    ended = subprocess.run([sys.executable, tmp_path / "killed.py"], capture_output=True, timeout=60, check=False)
    assert ended.returncode < 0
    assert int(ended.stdout) > 0


class OnePlaceEach(Executor):
    """Calls functions on a machine that has the folder to itself: nothing of it comes back."""

    def submit(self, function: Callable[..., Any], /, *_: Any, **__: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(None)
        assert function
        return future


def test_a_folder_that_is_not_shared(place: Place) -> None:
    with pytest.raises(InputError, match="out: is not shared by all machines that do jobs; choose a folder that is"):
        run_jobs(in_order([A]), place, Speed(), executor=OnePlaceEach())


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("cluster")
def test_jobs_on_a_cluster(place: Place) -> None:
    pytest.importorskip("ray")
    from arcf.cluster import RayExecutor

    jobs: list[Job] = [ReachabilityJob("science", (k,)) for k in (5, 50)]
    executor = RayExecutor()
    assert executor.size >= 2
    run_jobs(in_order(jobs), place, Speed(), executor.size, executor=executor)
    there = [place.result(job) for job in jobs]
    assert there == [job.run(place) for job in jobs]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, place: Place) -> None:
    place.begin()
    with pytest.raises(InputError, match="with the budget smoke, not small; choose another folder"):
        Place(place.folder, "small", "minilm").begin()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="something other than a reproduction"):
        Place(tmp_path / "other", "smoke", "minilm").begin()


def test_the_content_of_a_dataset_is_part_of_a_key(tmp_path: Path) -> None:
    keys = set()
    for number, text in enumerate(("ice melts", "ice freezes")):
        path = tmp_path / f"{number}" / "facts.txt"
        path.parent.mkdir()
        path.write_text(text)
        keys.add(key_of(ReachabilityJob(str(path), (1,))))
    assert len(keys) == 2
    assert Data("science", "dev", 3).options() == ["--dataset", "science", "--split", "dev", "--questions", "3"]
