import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from arcf.training.bar import Bar
from arcf.training.run import train
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import StepReport, Trainer
from arcf.types import Dataset

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def bar(screen: io.StringIO) -> Bar:
    return Bar(Console(file=screen, width=160))


def test_the_bar(trainer: Make, bar: Bar, screen: io.StringIO) -> None:
    made = trainer()
    with bar:
        bar.at_start(made)
        made.progress.position, made.progress.best_map = 12, 0.5
        bar.after_step(made, StepReport(0.25, 3000, 1e-3, 2.0, 1.5))
    assert "12/40 samples · loss 0.250 · 2,000 tokens/s · MAP 0.500" in screen.getvalue()


def test_a_resumed_run_starts_where_it_stands(trainer: Make, bar: Bar, screen: io.StringIO) -> None:
    made = trainer()
    made.progress.position = 30
    with bar:
        bar.at_start(made)
    assert "30/40 samples" in screen.getvalue()


def test_the_loss_is_smoothed_and_the_speed_is_the_mean(trainer: Make, bar: Bar, screen: io.StringIO) -> None:
    made = trainer()
    with bar:
        bar.at_start(made)
        for loss, seconds in ((1.0, 1.0), (2.0, 3.0)):
            bar.after_step(made, StepReport(loss, 1000, 1e-3, 2.0, seconds))
    assert "loss 1.050 · 500 tokens/s" in screen.getvalue()


def fail_in(bar: Bar) -> None:
    with bar:
        raise OSError("no such data")


def test_nothing_is_drawn_before_training_starts(bar: Bar, screen: io.StringIO) -> None:
    """So that an error before, and the processes that show no progress, leave the terminal alone."""
    with pytest.raises(OSError, match="no such data"):
        fail_in(bar)
    assert not screen.getvalue()


def test_as_callback_of_a_run(
    bar: Bar, screen: io.StringIO, settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    wanted = settings(optimisation={"epochs": 0.5}, data={"held_out": 0})
    with bar:
        train(wanted, dict.fromkeys(wanted.data.corpora, dataset), tmp_path / "run", [bar])
    assert "12/12 samples · loss" in screen.getvalue()
