"""The progress of a run in a file or pipe, where no bar can move: a line now and then."""

from collections.abc import Callable
from datetime import timedelta
from time import perf_counter
from typing import Final

from arcf.training.pace import Pace
from arcf.training.trainer import StepReport, Trainer

EVERY: Final = 60.0
"""Seconds from line to line."""


class Lines(Pace):
    """Says where training stands: at the start, after the first step, every minute, after validation and at the end."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = perf_counter) -> None:
        super().__init__()
        self._say, self._clock = say, clock
        self._began = self._told = 0.0
        self._start, self._validated = 0, 0
        self._fresh = True

    def at_start(self, trainer: Trainer) -> None:
        """Say where training begins."""
        self._began = self._clock()
        self._start, self._validated = trainer.progress.position, trainer.progress.validated
        self._say(f"training on {trainer.samples:,} samples, {self._start:,} of them done")

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Say how it is getting on, if it is time. Validation comes after this, so the next step tells of it."""
        super().after_step(trainer, report)
        validated = trainer.progress.validated != self._validated
        if self._fresh or validated or self._clock() - self._told >= EVERY:
            self._tell(trainer)

    def at_end(self, trainer: Trainer) -> None:
        """Say where it has ended; a run that had ended before has nothing to tell."""
        if not self._fresh:
            self._tell(trainer)

    def _tell(self, trainer: Trainer) -> None:
        progress, now = trainer.progress, self._clock()
        share = (trainer.samples - progress.position) / max(progress.position - self._start, 1)
        left = timedelta(seconds=round((now - self._began) * share))
        self._say(
            f"step {progress.step:,} · {progress.position:,}/{trainer.samples:,} samples · {self.words(trainer)} · "
            f"{left} left"
        )
        self._told, self._validated, self._fresh = now, progress.validated, False
