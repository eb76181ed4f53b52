"""What a run leaves behind for people to look at: a JSONL log, and TensorBoard curves if that is installed."""

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arcf.files import read_text, write_text
from arcf.training.trainer import Callback, StepReport, Trainer


class Log(Callback):
    """Appends a line to log.jsonl for every step and for every validation.

    Lines of steps after `resumed_step`, which a killed run wrote after its last checkpoint, are removed first.
    """

    def __init__(self, folder: Path, resumed_step: int = 0) -> None:
        self._path = folder / "log.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._keep(resumed_step)
        self._board = _tensorboard(folder, resumed_step)

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Write a line."""
        self.write(
            step=trainer.progress.step,
            position=trainer.progress.position,
            epoch=round(trainer.progress.position / trainer.feed.per_epoch, 4),
            loss=round(report.loss, 6),
            learning_rate=report.learning_rate,
            gradient=round(report.gradient, 4),
            tokens_per_second=round(report.tokens / report.seconds, 1),
        )

    def write(self, **values: Any) -> None:
        """Append one line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
        if self._board:
            for name, value in values.items():
                if name not in ("step", "position"):
                    self._board.add_scalar(name, value, values["step"])

    def close(self) -> None:
        """Finish the curves."""
        if self._board:
            self._board.close()

    def _keep(self, step: int) -> None:
        if self._path.exists():
            lines = [line for line in read_text(self._path).splitlines() if _step_of(line) <= step]
            write_text(self._path, "".join(line + "\n" for line in lines))


def _step_of(line: str) -> float:
    """The step of a log line; infinite for the last line of a killed run, if it is not whole."""
    try:
        return float(json.loads(line)["step"])
    except json.JSONDecodeError:
        return math.inf


def _tensorboard(folder: Path, resumed_step: int) -> Any:
    if find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard.writer import SummaryWriter

    return SummaryWriter(str(folder / "tensorboard"), purge_step=resumed_step + 1 if resumed_step else None)
