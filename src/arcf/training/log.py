"""What a run leaves behind for people to look at: a JSONL log, TensorBoard curves if installed, a progress bar."""

import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from arcf.files import read_text, write_text
from arcf.training.trainer import StepReport, Trainer


class Log:
    """Appends a line to log.jsonl every `every` steps, with the mean loss since the last one, and one per validation.

    Lines of steps after `resumed_step`, which a killed run wrote after its last checkpoint, are removed first.
    """

    def __init__(self, folder: Path, resumed_step: int = 0, every: int = 10) -> None:
        self._path = folder / "log.jsonl"
        self._every = every
        self._losses: list[float] = []
        self._tokens = 0
        self._since = time.perf_counter()
        self._keep(resumed_step)
        self._board = _tensorboard(folder)

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Collect, and write a line when it is time."""
        self._losses.append(report.loss)
        self._tokens += report.tokens
        if trainer.progress.step % self._every == 0:
            self._flush(trainer, report)

    def at_end(self, trainer: Trainer) -> None:
        """Nothing is open but the curves."""
        del trainer
        if self._board:
            self._board.close()

    def write(self, **values: Any) -> None:
        """Append one line."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
        if self._board:
            for name, value in values.items():
                if name not in ("step", "position"):
                    self._board.add_scalar(name, value, values["step"])

    def _flush(self, trainer: Trainer, report: StepReport) -> None:
        seconds = time.perf_counter() - self._since
        self.write(
            step=trainer.progress.step,
            position=trainer.progress.position,
            epoch=round(trainer.progress.position / trainer.feed.sampler.per_epoch, 4),
            loss=round(sum(self._losses) / len(self._losses), 6),
            learning_rate=report.learning_rate,
            gradient=round(report.gradient, 4),
            tokens_per_second=round(self._tokens / seconds, 1),
        )
        self._losses, self._tokens, self._since = [], 0, time.perf_counter()

    def _keep(self, step: int) -> None:
        if self._path.exists():
            lines = [line for line in read_text(self._path).splitlines() if json.loads(line)["step"] <= step]
            write_text(self._path, "".join(line + "\n" for line in lines))


def _tensorboard(folder: Path) -> Any:
    if find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard.writer import SummaryWriter

    return SummaryWriter(str(folder / "tensorboard"))


class Bar:
    """A progress bar with loss, speed and time left."""

    def __init__(self, console: Console, samples: int, start: int) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} samples · {task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("Training", total=samples, completed=start, note="")
        self._loss: float | None = None
        self._tokens, self._since = 0, time.perf_counter()
        self._bar.start()

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Move on; the loss is smoothed over about 20 steps."""
        self._loss = report.loss if self._loss is None else 0.95 * self._loss + 0.05 * report.loss
        self._tokens += report.tokens
        speed = self._tokens / (time.perf_counter() - self._since)
        best = f" · MAP {trainer.progress.best_map:.3f}" if trainer.progress.best_map >= 0 else ""
        note = f"loss {self._loss:.3f} · {speed:,.0f} tokens/s{best}"
        self._bar.update(self._task, completed=trainer.progress.position, note=note)

    def at_end(self, trainer: Trainer) -> None:
        """Leave the finished bar on the screen."""
        del trainer
        self._bar.stop()
