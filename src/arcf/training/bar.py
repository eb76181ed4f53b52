"""The progress of a run on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from arcf.training.trainer import Callback, StepReport, Trainer


class Bar(Callback):
    """A progress bar with loss, speed and time left.

    It is drawn from the start of training to the end of the block whose context manager it is: an error before, and
    every process but the first, draw nothing.
    """

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} samples · {task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("Training", total=None, note="", start=False)
        self._loss: float | None = None
        self._tokens, self._seconds = 0, 0.0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.live.is_started:
            self._bar.stop()

    def at_start(self, trainer: Trainer) -> None:
        """Show where training stands."""
        self._bar.start()
        self._bar.start_task(self._task)
        self._bar.update(self._task, total=trainer.samples, completed=trainer.progress.position)

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Move on; the loss is smoothed over about 20 steps."""
        self._loss = report.loss if self._loss is None else 0.95 * self._loss + 0.05 * report.loss
        self._tokens += report.tokens
        self._seconds += report.seconds
        best = f" · MAP {trainer.progress.best_map:.3f}" if trainer.progress.best_map >= 0 else ""
        note = f"loss {self._loss:.3f} · {self._tokens / self._seconds:,.0f} tokens/s{best}"
        self._bar.update(self._task, completed=trainer.progress.position, note=note)
