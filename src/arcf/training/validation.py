"""Validation: MAP of chains for held-out training questions, and the best weights kept."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from arcf.training.figures import Figures
from arcf.training.folder import whole_folder
from arcf.training.log import Log
from arcf.training.trainer import Callback, StepReport, Trainer


class Validation(Callback):
    """Every `every` samples, and at the end: measure MAP on the held-out questions, and save the best model so far.

    `measure` gives the figures of each corpus, by name; the best model is that with the best mean of what `choose`
    makes of them, so that a large corpus counts no more than a small one. Where weights are averaged, it is the average
    that is measured and saved, in the precision that is trained in.
    """

    def __init__(
        self,
        measure: Callable[[], Mapping[str, Figures]],
        choose: Callable[[Figures], float],
        every: int,
        log: Log,
        folder: Path,
    ) -> None:
        self._measure = measure
        self._choose = choose
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
            with trainer.precision():
                figures = self._measure()
            maps = {key: value for name, own in figures.items() for key, value in own.named(name).items()}
            mean = fmean(own.map for own in figures.values())
            logged = {f"validation_map_{name}": round(value, 6) for name, value in maps.items()}
            self._log.write(step=progress.step, position=progress.position, validation_map=round(mean, 6), **logged)
            score = fmean(map(self._choose, figures.values()))
            if score > progress.best_score:
                with whole_folder(self._folder) as folder:
                    trainer.backbone.save(folder)
                progress.best_score, progress.best_position = score, progress.position
                progress.best_map, progress.best_maps = mean, maps
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
