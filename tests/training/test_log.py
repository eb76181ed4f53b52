import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.training import log
from arcf.training.log import Log
from arcf.training.trainer import StepReport, Trainer

Make = Callable[..., Trainer]


@pytest.fixture(autouse=True)
def no_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "find_spec", lambda _: None)


def test_a_line_for_every_step(trainer: Make, tmp_path: Path) -> None:
    made, written = trainer(), Log(tmp_path)
    made.progress.step, made.progress.position = 3, 10
    written.after_step(made, StepReport(0.5, 100, 1e-3, 2.0, 0.5))
    written.write(step=3, validation_map=0.25)
    written.close()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "step": 3,
        "position": 10,
        "epoch": 0.5,
        "loss": 0.5,
        "learning_rate": 1e-3,
        "gradient": 2.0,
        "tokens_per_second": 200.0,
    }
    assert lines[1] == {"step": 3, "validation_map": 0.25}


def test_resuming_drops_what_came_after_the_checkpoint_and_a_torn_line(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"step": 4, "lo')
    Log(tmp_path, resumed_step=2).write(step=3, loss=1.0)
    assert (tmp_path / "log.jsonl").read_text() == '{"step": 1}\n{"step": 2}\n{"step": 3, "loss": 1.0}\n'


def test_tensorboard_if_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    monkeypatch.undo()
    written = Log(tmp_path, resumed_step=1)
    written.write(step=2, position=7, loss=0.5)
    written.close()
    assert len(list((tmp_path / "tensorboard").iterdir())) == 1
