from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.training.lines import EVERY, Lines
from arcf.training.run import train
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import StepReport, Trainer
from arcf.types import Dataset

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said() -> list[str]:
    return []


def step(lines: Lines, trainer: Trainer, position: int, loss: float = 0.25) -> None:
    trainer.progress.position = position
    trainer.progress.step += 1
    lines.after_step(trainer, StepReport(loss, 3000, 1e-3, 2.0, 1.5))


def test_a_line_now_and_then(trainer: Make, said: list[str]) -> None:
    made, clock = trainer(), Clock()
    lines = Lines(said.append, clock)
    lines.at_start(made)
    clock.now += 2
    step(lines, made, 4)
    assert said == [
        "training on 40 samples, 0 of them done",
        "step 1 · 4/40 samples · loss 0.250 · 2,000 tokens/s · 0:00:18 left",
    ]
    step(lines, made, 8)
    assert len(said) == 2
    clock.now += EVERY
    step(lines, made, 12)
    assert said[2].startswith("step 3 · 12/40 samples")


def test_a_validation_is_told_at_once(trainer: Make, said: list[str]) -> None:
    made = trainer()
    lines = Lines(said.append, Clock())
    lines.at_start(made)
    step(lines, made, 4)
    made.progress.validated, made.progress.best_map = 4, 0.5
    step(lines, made, 8)
    assert said[-1] == "step 2 · 8/40 samples · loss 0.250 · 2,000 tokens/s · MAP 0.500 · 0:00:00 left"
    step(lines, made, 12)
    assert len(said) == 3


def test_a_resumed_run_counts_the_time_of_its_own_samples(trainer: Make, said: list[str]) -> None:
    made, clock = trainer(), Clock()
    made.progress.position = 30
    lines = Lines(said.append, clock)
    lines.at_start(made)
    clock.now += 10
    step(lines, made, 35)
    assert said[0] == "training on 40 samples, 30 of them done"
    assert said[1].endswith("0:00:10 left")


def test_a_run_that_had_ended_has_nothing_to_tell(trainer: Make, said: list[str]) -> None:
    made = trainer()
    lines = Lines(said.append)
    lines.at_start(made)
    lines.at_end(made)
    assert len(said) == 1


def test_as_callback_of_a_run(said: list[str], settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    wanted = settings(optimisation={"epochs": 0.5}, data={"held_out": 0})
    train(wanted, dict.fromkeys(wanted.data.corpora, dataset), tmp_path / "run", [Lines(said.append)])
    assert "12/12 samples · loss" in said[-1]
    assert said[-1].endswith("0:00:00 left")
