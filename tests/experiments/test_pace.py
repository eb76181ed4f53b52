"""How long jobs are expected to take, before and after some are finished."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("torch")

from arcf.experiments.budget import Speed
from arcf.experiments.pace import OVERHEAD, Pace
from arcf.experiments.place import Job, Place

GUESS = Speed(training=10.0, inference=100.0)


@dataclass(frozen=True)
class Ranked(Job):
    number: int
    read: float = 1000.0
    kind: ClassVar[str] = "rank"

    @property
    def title(self) -> str:
        return str(self.number)

    def command(self, place: Place) -> str:
        return str(place.of(self))

    def run(self, place: Place) -> dict[str, Any]:
        raise NotImplementedError

    def tokens(self) -> float:
        return self.read


@dataclass(frozen=True)
class Trained(Ranked):
    kind: ClassVar[str] = "train"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, "smoke", "minilm")


def keep(place: Place, job: Job, seconds: float) -> None:
    place.of(job).mkdir(parents=True)
    place.keep(job, {}, seconds)


def test_a_guess_until_something_is_known(place: Place) -> None:
    pace = Pace.of([Ranked(1), Trained(1)], place, GUESS)
    assert pace.seconds(Ranked(1)) == OVERHEAD + 10
    assert pace.seconds(Trained(1)) == OVERHEAD + 100
    assert pace.seconds(Ranked(2, read=0.0)) == OVERHEAD


def test_the_median_of_what_is_finished(place: Place) -> None:
    # The last one was begun again shortly before its end.
    for number, seconds in enumerate((20.0, 25.0, 0.5)):
        keep(place, Ranked(number), OVERHEAD + seconds)
    pace = Pace.of([Ranked(number) for number in range(5)], place, GUESS)
    assert pace.seconds(Ranked(9)) == pytest.approx(OVERHEAD + 20)
    assert pace.seconds(Trained(9)) == OVERHEAD + 100


def test_what_is_over_at_once_and_what_reads_nothing_tell_nothing(place: Place) -> None:
    keep(place, Ranked(1), OVERHEAD)
    keep(place, Ranked(2, read=0.0), 60.0)
    assert Pace.of([Ranked(1), Ranked(2, read=0.0)], place, GUESS) == Pace(GUESS)
