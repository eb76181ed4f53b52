"""Validation: MAP of chains for held-out training questions, and the best weights kept."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from arcf.training.folder import whole_folder
from arcf.training.log import Log
from arcf.training.trainer import Callback, StepReport, Trainer


class Validation(Callback):
    """Every `every` samples, and at the end: measure MAP on the held-out questions, and save the best model so far.

    Where weights are averaged, it is the average that is measured and saved.
    """

    def __init__(self, measure: Callable[[], float], every: int, log: Log, folder: Path) -> None:
        self._measure = measure
        self._every = every
        self._log = log
        self._folder = folder

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Measure when another multiple of `every` samples has been passed."""
        del report
        progress = trainer.progress
        if progress.position // self._every > progress.validated // self._every:
            self._validate(trainer)

    def at_end(self, trainer: Trainer) -> None:
        """Measure the final weights, unless the last step did or a run is resumed that had ended already."""
        if trainer.progress.best_position < 0 or trainer.progress.position > trainer.progress.validated:
            self._validate(trainer)

    def _validate(self, trainer: Trainer) -> None:
        progress = trainer.progress
        with averaged(trainer):
            value = self._measure()
            self._log.write(step=progress.step, position=progress.position, validation_map=round(value, 6))
            if value > progress.best_map:
                with whole_folder(self._folder) as folder:
                    trainer.backbone.save(folder)
                progress.best_map, progress.best_position = value, progress.position
        progress.validated = progress.position


@contextmanager
def averaged(trainer: Trainer) -> Iterator[None]:
    """The model with its averaged weights, if there are any, ready to be used; then as it was."""
    trainer.model.eval()
    trainer.average.swap(trainer.backbone.model)
    try:
        yield
    finally:
        trainer.average.swap(trainer.backbone.model)
