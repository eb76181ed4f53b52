"""The progress of a run on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from arcf.training.pace import Pace
from arcf.training.trainer import StepReport, Trainer


class Bar(Pace):
    """A progress bar with loss, speed and time left.

    It is drawn from the start of training to the end of the block whose context manager it is: an error before, and
    every process but the first, draw nothing.
    """

    def __init__(self, console: Console) -> None:
        super().__init__()
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
        """Move on."""
        super().after_step(trainer, report)
        self._bar.update(self._task, completed=trainer.progress.position, note=self.words(trainer))
