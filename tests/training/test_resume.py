"""Runs of `arcf train` that are killed: resumed, they end with the numbers of one that was left alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.config import as_toml
from arcf.training import checkpoint
from arcf.training.run import train
from arcf.training.settings import TrainingSettings
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]
Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

# The process kills itself, so the moment is exact. The log is ahead of the checkpoint at the first, a checkpoint is
# half-written at the second, a best model at the third.
KILLED = """
import os, signal, sys
from arcf.cli.app import main
from arcf.scorer.network.backbone import Backbone
from arcf.training import checkpoint, lines

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

moment = sys.argv.pop(1)
if moment == "between":
    lines.Lines.after_step = lambda self, trainer, report: kill() if trainer.progress.step == 3 else None
elif moment == "in a checkpoint":
    write = checkpoint._write
    def half(tensors, path):
        if path.parent.name == "step-5" and path.name == "optimiser.safetensors":
            path.write_bytes(b"half")
            kill()
        write(tensors, path)
    checkpoint._write = half
elif moment == "in the best model":
    def save(self, folder):
        (folder / "config.json").write_text("{")
        kill()
    Backbone.save = save
main()
"""


def arcf_train(*arguments: str | Path, moment: str = "never") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KILLED, moment, "train", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)


@pytest.fixture(scope="module")
def wanted(settings: Settings) -> TrainingSettings:
    return settings(
        model={"dropout": 0.1},
        optimisation={"average_from": 0.3, "tokens_per_step": 200},
        run={"checkpoint_minutes": 0},
        validation={"every": 30},
    )


@pytest.fixture(scope="module")
def uninterrupted(wanted: TrainingSettings, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("runs") / "uninterrupted"
    train(wanted, dict.fromkeys(wanted.data.corpora, dataset), output)
    return output


def log_lines(output: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "tokens_per_second"} for line in lines]


def state(output: Path) -> dict[str, object]:
    """The checkpoint's, without the time that it took."""
    latest = (output / "checkpoint" / "latest").read_text()
    found: dict[str, dict[str, object]] = json.loads((output / "checkpoint" / latest / "state.json").read_text())
    return found | {"progress": found["progress"] | {"seconds": None}}


def test_killed_three_times(uninterrupted: Path, wanted: TrainingSettings, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(as_toml(wanted))
    output = tmp_path / "killed"
    start = (tmp_path / "settings.toml",)
    for moment in ("between", "in a checkpoint", "in the best model"):
        done = arcf_train(*start, "--output", output, moment=moment)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not (output / "best").exists()
        start = ("--resume",)  # the settings are remembered
    done = arcf_train("--resume", "--output", output)
    assert done.returncode == 0, done.stderr
    assert f"The model is in {output / 'model'}" in done.stderr
    assert log_lines(output) == log_lines(uninterrupted)
    for name in ("model/model.safetensors", "best/model.safetensors", "manifest.json", "model/README.md"):
        assert (output / name).read_bytes() == (uninterrupted / name).read_bytes(), name
    step = (output / "checkpoint" / "latest").read_text()
    for file in sorted((uninterrupted / "checkpoint" / step).glob("*.safetensors")):
        assert (output / "checkpoint" / step / file.name).read_bytes() == file.read_bytes(), file.name
    assert state(output) == state(uninterrupted)
    assert not any(path.name.endswith(".partial") for path in output.iterdir())


def test_killed_before_the_first_checkpoint(uninterrupted: Path, tmp_path: Path, arcf: Arcf) -> None:
    for name in ("settings.toml", "manifest.json", "log.jsonl"):
        shutil.copy(uninterrupted / name, tmp_path)
    assert arcf("train", "--resume", "--output", tmp_path) == 0
    assert log_lines(tmp_path) == log_lines(uninterrupted)
    assert (tmp_path / "model/model.safetensors").read_bytes() == (
        uninterrupted / "model/model.safetensors"
    ).read_bytes()


def test_other_settings(uninterrupted: Path, arcf: Arcf, capsys: Capture) -> None:
    assert arcf("train", "--resume", "--output", uninterrupted, "--set", "optimisation.learning_rate=1") == 2
    assert "is a checkpoint of other settings or other data; resume with those" in capsys.readouterr().err


def test_another_model(
    uninterrupted: Path, arcf: Arcf, other_model_folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same name: the fingerprint does not tell, the weights do."""
    key = state(uninterrupted)["fingerprint"]
    monkeypatch.setattr("arcf.training.run.fingerprint", lambda *_: key)
    assert arcf("train", "--resume", "--output", uninterrupted, "--set", f"model.name={other_model_folder}") == 2
    assert "is a checkpoint of another model." in capsys.readouterr().err


def test_a_full_disk(
    wanted: TrainingSettings, tmp_path: Path, arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file = checkpoint.save_file

    def full(tensors: object, path: Path) -> None:
        if path.parent.name == "step-3":
            raise OSError(28, "No space left on device", str(path))
        save_file(tensors, path)  # type: ignore[arg-type]

    (tmp_path / "settings.toml").write_text(as_toml(wanted))
    output = tmp_path / "run"
    monkeypatch.setattr(checkpoint, "save_file", full)
    assert arcf("train", tmp_path / "settings.toml", "--output", output) == 1
    error = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(error) == 1
    assert "No space left on device." in error[0]
    assert sorted(path.name for path in (output / "checkpoint").iterdir()) == ["latest", "step-2"]
    monkeypatch.setattr(checkpoint, "save_file", save_file)
    assert arcf("train", "--resume", "--output", output) == 0
    assert (output / "model" / "model.safetensors").is_file()
