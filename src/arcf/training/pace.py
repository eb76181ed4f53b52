"""How a run is getting on, for those who watch it."""

from arcf.training.trainer import Callback, StepReport, Trainer


class Pace(Callback):
    """Keeps the loss, smoothed over about 20 steps, and the mean speed."""

    def __init__(self) -> None:
        self._loss: float | None = None
        self._tokens, self._seconds = 0, 0.0

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Take a step into account."""
        del trainer
        self._loss = report.loss if self._loss is None else 0.95 * self._loss + 0.05 * report.loss
        self._tokens += report.tokens
        self._seconds += report.seconds

    def words(self, trainer: Trainer) -> str:
        """Loss, speed and the best validation so far, in words; there must have been a step."""
        best = f" · MAP {trainer.progress.best_map:.3f}" if trainer.progress.best_map >= 0 else ""
        return f"loss {self._loss:.3f} · {self._tokens / self._seconds:,.0f} tokens/s{best}"
