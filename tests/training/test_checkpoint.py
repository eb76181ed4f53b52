import errno
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from arcf.errors import InputError
from arcf.training import checkpoint
from arcf.training.checkpoint import has_checkpoint, load_checkpoint, save_checkpoint
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Callback, StepReport, Trainer

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]


class EndedError(Exception):
    """Ends a run in the middle."""


class StopAfter(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        del report
        if trainer.progress.step == self.step:
            raise EndedError


@pytest.fixture
def wanted(settings: Settings) -> TrainingSettings:
    return settings(model={"dropout": 0.1}, optimisation={"average_from": 0.2})


@pytest.fixture
def halfway(wanted: TrainingSettings, trainer: Make) -> Trainer:
    made = trainer(wanted)
    made.callbacks = [StopAfter(5)]
    with pytest.raises(EndedError):
        made.run()
    made.progress.best_score, made.progress.best_position, made.progress.validated = 0.25, 15, 15
    return made


def states(trainer: Trainer) -> dict[str, torch.Tensor]:
    named = dict(trainer.backbone.model.named_parameters())
    weights = {f"weight {name}": value.detach() for name, value in named.items()}
    averages = {f"average {name}": value for name, value in trainer.average.mean.items()}
    moments = {
        f"{moment} {name}": value
        for name, parameter in named.items()
        for moment, value in trainer.optimiser.state[parameter].items()
    }
    return weights | averages | moments


def assert_equal(first: Trainer, second: Trainer) -> None:
    one, other = states(first), states(second)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert first.progress == second.progress
    assert first.average.steps == second.average.steps


def test_round_trip(halfway: Trainer, wanted: TrainingSettings, trainer: Make, tmp_path: Path) -> None:
    assert not has_checkpoint(tmp_path)
    save_checkpoint(halfway, tmp_path, "key")
    assert has_checkpoint(tmp_path)
    fresh = trainer(wanted)
    load_checkpoint(fresh, tmp_path, "key")
    assert_equal(fresh, halfway)


def test_going_on_gives_the_same_numbers(
    halfway: Trainer, wanted: TrainingSettings, trainer: Make, tmp_path: Path
) -> None:
    save_checkpoint(halfway, tmp_path, "key")
    resumed, whole = trainer(wanted), trainer(wanted)
    load_checkpoint(resumed, tmp_path, "key")
    whole.progress.best_score, whole.progress.best_position, whole.progress.validated = 0.25, 15, 15
    torch.manual_seed(99)  # whatever happened before a run is resumed does not count
    resumed.run()
    whole.run()
    whole.progress.seconds = resumed.progress.seconds  # the one number that is measured
    assert_equal(resumed, whole)


def test_only_the_newest_is_kept(halfway: Trainer, tmp_path: Path) -> None:
    for step in (5, 6, 7):
        halfway.progress.step = step
        save_checkpoint(halfway, tmp_path, "key")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "step-7"]
    assert not any("random" in path.name or path.suffix in (".pt", ".pkl") for path in tmp_path.rglob("*"))


def test_a_half_written_one_is_ignored_and_replaced(
    halfway: Trainer, wanted: TrainingSettings, trainer: Make, tmp_path: Path
) -> None:
    save_checkpoint(halfway, tmp_path, "key")
    (tmp_path / "step-6").mkdir()
    (tmp_path / "step-6" / "weights.safetensors").write_bytes(b"half")
    (tmp_path / "step-6" / "junk").write_bytes(b"")
    fresh = trainer(wanted)
    load_checkpoint(fresh, tmp_path, "key")
    assert fresh.progress.step == 5
    fresh.progress.step = 6
    save_checkpoint(fresh, tmp_path, "key")
    assert sorted(path.name for path in (tmp_path / "step-6").iterdir()) == [
        "average.safetensors",
        "optimiser.safetensors",
        "state.json",
        "weights.safetensors",
    ]


def test_the_same_step_again_only_changes_the_state(
    halfway: Trainer, wanted: TrainingSettings, trainer: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one checkpoint that there is must not be overwritten piece by piece."""
    save_checkpoint(halfway, tmp_path, "key")
    monkeypatch.setattr(checkpoint, "save_file", None)
    halfway.progress.best_score = 0.5
    save_checkpoint(halfway, tmp_path, "key")
    fresh = trainer(wanted)
    load_checkpoint(fresh, tmp_path, "key")
    assert fresh.progress.best_score == 0.5


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), SafetensorError("No space left on device")]
)
def test_a_full_disk_keeps_the_old_one(
    error: Exception, halfway: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(halfway, tmp_path, "key")

    def fail(_: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise error

    monkeypatch.setattr(checkpoint, "save_file", fail)
    before = asdict(halfway.progress)
    halfway.progress.step += 1
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(halfway, tmp_path, "key")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "step-5"]
    monkeypatch.undo()
    load_checkpoint(halfway, tmp_path, "key")
    assert asdict(halfway.progress) == before


def test_other_settings(halfway: Trainer, tmp_path: Path) -> None:
    save_checkpoint(halfway, tmp_path, "key")
    with pytest.raises(InputError, match="other settings or other data"):
        load_checkpoint(halfway, tmp_path, "another")


def test_another_model(
    halfway: Trainer, settings: Settings, trainer: Make, tmp_path: Path, other_model_folder: Path
) -> None:
    save_checkpoint(halfway, tmp_path, "key")
    with pytest.raises(InputError, match="checkpoint of another model"):
        load_checkpoint(trainer(settings(model={"name": str(other_model_folder)})), tmp_path, "key")


@pytest.mark.parametrize("file", ["weights.safetensors", "optimiser.safetensors", "average.safetensors", "state.json"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damage_is_told(file: str, damage: str, halfway: Trainer, tmp_path: Path) -> None:
    save_checkpoint(halfway, tmp_path, "key")
    path = tmp_path / "step-5" / file
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    else:
        path.unlink()
    with pytest.raises(InputError, match=r"not a complete checkpoint|cannot be read"):
        load_checkpoint(halfway, tmp_path, "key")
    shutil.rmtree(tmp_path / "step-5")
    with pytest.raises(InputError):
        load_checkpoint(halfway, tmp_path, "key")
