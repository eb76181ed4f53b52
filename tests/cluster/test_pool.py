"""Many items on a real cluster: nodes and workers that die, workers that fail."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from arcf.cluster import Pool, PoolSettings
from arcf.errors import InputError, SettingError

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore:::ray")]
ITEMS = range(20)

# Workers cannot import the tests: these classes travel as code.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@dataclass(frozen=True)
class Squares:
    """Squares numbers, notes on disk which were asked, and does what a file of an item's name tells, once or always."""

    folder: Path

    def prepare(self) -> Callable[[int], int]:
        if (self.folder / "unprepared").exists():
            raise InputError("there is no such model.", "runs/best")
        return self.answer

    def answer(self, item: int) -> int:
        with (self.folder / "asked").open("a") as asked:
            asked.write(f"{item}\n")
        while (self.folder / "hold").exists():
            time.sleep(0.01)
        for kind, act in (("die", self.die), ("fail", self.fail)):
            order = self.folder / f"{kind}-{item}"
            if order.exists():
                if order.read_text() == "once":
                    order.unlink()
                act()
        return item * item

    def die(self) -> None:
        os._exit(9)

    def fail(self) -> None:
        raise RuntimeError("bad luck")

    def asked(self, item: int) -> int:
        return (self.folder / "asked").read_text().split().count(str(item))


@pytest.fixture
def squares(tmp_path: Path) -> Squares:
    return Squares(tmp_path)


def all_of(work: Squares, workers: int = 2) -> tuple[list[int], int]:
    """The answers in their own order, and how many workers were lost."""
    with Pool(work, PoolSettings(workers)) as pool:
        return sorted(pool.answers(ITEMS)), pool.lost


EXPECTED = [item * item for item in ITEMS]


@pytest.mark.usefixtures("cluster")
class TestPool:
    def test_every_item_is_answered_once(self, squares: Squares) -> None:
        with Pool(squares) as pool:
            assert pool.size == 2
            assert sorted(pool.answers(ITEMS)) == EXPECTED
            assert 1 <= pool.alive <= 2
        assert all(squares.asked(item) == 1 for item in ITEMS)

    def test_nothing_to_do(self, squares: Squares) -> None:
        with Pool(squares) as pool:
            assert list(pool.answers([])) == []

    def test_more_workers_than_there_is_room_for(self, squares: Squares) -> None:
        assert all_of(squares, workers=4) == (EXPECTED, 0)

    def test_a_node_is_killed_in_the_middle(self, squares: Squares, doomed: Callable[[], None]) -> None:
        with Pool(squares, PoolSettings(3)) as pool:
            while pool.alive < 3:  # one on each node
                assert sorted(pool.answers(range(3))) == [0, 1, 4]
            answers = pool.answers(ITEMS)
            found = [next(answers) for _ in range(5)]
            hold = squares.folder / "hold"
            hold.touch()
            doomed()

            def release() -> None:
                while not pool.lost:
                    time.sleep(0.01)
                hold.unlink()

            Thread(target=release, daemon=True).start()
            found += answers
            assert sorted(found) == EXPECTED
            assert pool.lost == 1

    def test_workers_die_and_fail(self, squares: Squares) -> None:
        (squares.folder / "die-7").write_text("once")
        (squares.folder / "fail-11").write_text("once")
        assert all_of(squares) == (EXPECTED, 1)
        assert (squares.asked(7), squares.asked(11)) == (2, 2)

    def test_an_item_that_fails_everywhere(self, squares: Squares) -> None:
        (squares.folder / "fail-7").write_text("always")
        with pytest.raises(InputError, match=r"^Node .*: RuntimeError: bad luck Nothing else came of 4 tries\.$"):
            all_of(squares)
        assert squares.asked(7) == 4

    def test_an_item_that_kills_its_workers(self, squares: Squares) -> None:
        (squares.folder / "die-7").write_text("always")
        with pytest.raises(InputError, match=r"^A worker died \(.*Nothing else came of 4 tries\.$"):
            all_of(squares)
        assert squares.asked(7) == 4

    def test_a_node_that_cannot_prepare(self, squares: Squares) -> None:
        (squares.folder / "unprepared").touch()
        with pytest.raises(InputError, match=r"^Node .*: runs/best: there is no such model\.$"):
            all_of(squares)
        assert not (squares.folder / "asked").exists()


@pytest.mark.parametrize(
    ("settings", "resources", "workers"),
    [
        (PoolSettings(), {"CPU": 7.0}, 7),
        (PoolSettings(cpus=2), {"CPU": 7.0, "GPU": 9.0}, 3),
        (PoolSettings(cpus=1, gpus=1), {"CPU": 8.0, "GPU": 2.0}, 2),
        (PoolSettings(cpus=1, gpus=1), {"CPU": 8.0}, 1),
        (PoolSettings(cpus=0), {"CPU": 8.0}, 1),
        (PoolSettings(workers=5), {"CPU": 1.0}, 5),
    ],
)
def test_how_many_workers(settings: PoolSettings, resources: dict[str, float], workers: int) -> None:
    assert settings.count(resources) == workers


def test_no_workers() -> None:
    with pytest.raises(SettingError, match="At least 1 worker"):
        PoolSettings(workers=0)
