"""The training loop. Validation, checkpoints, logs and progress are callbacks.

Every step seeds dropout anew, by (seed, step, process): like samples, its masks depend on nothing that happened before,
so a resumed run needs no random state to go on as the uninterrupted one.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn

from arcf.errors import SettingError
from arcf.registry import pick
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.scorer import Network
from arcf.training.distributed import Workers
from arcf.training.feed import Feed, StepTerms, Term, batch_of, in_parts
from arcf.training.losses import LOSSES, Targets, distillation, taught
from arcf.training.optimiser import WeightAverage, make_optimiser, set_learning_rate
from arcf.training.settings import OptimisationSettings, TeacherSettings


@dataclass(slots=True)
class Progress:
    """Where training stands. Positions count samples; everything here is part of a checkpoint.

    `tokens` were computed in `seconds`; `left_out` samples had nothing to learn from. The weights that are kept so far
    are those after `best_position` samples: validation gave them `best_score`, `best_map` is the mean of their MAP over
    corpora, and `best_maps` is all that it found.
    """

    position: int = 0
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    left_out: int = 0
    prefixes_shortened: int = 0
    validated: int = 0
    best_score: float = -1.0
    best_position: int = -1
    best_map: float = -1.0
    best_maps: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did: its loss, its tokens, the learning rate, the length of the gradient before clipping.

    `seconds` is the time from drawing its samples to the new weights, callbacks excluded.
    """

    loss: float
    tokens: int
    learning_rate: float
    gradient: float
    seconds: float


class Callback:
    """Something that happens beside training."""

    def at_start(self, trainer: "Trainer") -> None:
        """Called once, before the first step."""

    def after_step(self, trainer: "Trainer", report: StepReport) -> None:
        """Called after every step."""

    def at_end(self, trainer: "Trainer") -> None:
        """Called once, after the last step."""


@dataclass
class Trainer:
    """Everything that changes while a model is trained, and the loop that changes it."""

    model: Network
    feed: Feed
    settings: OptimisationSettings
    workers: Workers = field(default_factory=Workers)
    callbacks: Sequence[Callback] = ()
    bfloat16: bool = False
    seed: int = 1
    teacher: TeacherSettings | None = None
    progress: Progress = field(default_factory=Progress)
    average: WeightAverage = field(default_factory=WeightAverage)
    optimiser: torch.optim.AdamW = field(init=False)

    def __post_init__(self) -> None:
        self.optimiser = make_optimiser(self.backbone, self.settings)
        task, teacher = pick(LOSSES, self.settings.loss, "loss"), self.teacher
        self._loss = taught(task, distillation(teacher.loss, teacher.temperature), teacher.weight) if teacher else task

    @property
    def backbone(self) -> Backbone:
        """The model's parts."""
        return self.model.backbone

    @property
    def samples(self) -> int:
        """All samples of the run."""
        return self.feed.mix.samples(self.settings.epochs)

    def run(self) -> None:
        """Train from where `progress` stands to the end.

        Raises:
            SettingError: no sample has anything to learn from, or the gradient is not finite any more (the weights are
                still those before the step).
        """
        for callback in self.callbacks:
            callback.at_start(self)
        began = perf_counter()
        for step in self.feed.steps(self.progress.position, self.samples, self.settings.tokens_per_step):
            report = self.step(step, began)
            for callback in self.callbacks:
                callback.after_step(self, report)
            began = perf_counter()
        if not self.progress.step:
            raise SettingError(
                "No question has a gold fact and another fact in sight; raise sampling.k (of paths: paths.retrieved)."
            )
        self._pass_over_the_rest()
        for callback in self.callbacks:
            callback.at_end(self)

    def step(self, step: StepTerms, began: float) -> StepReport:
        """One update of the weights, by the mean of the loss over all terms; `began` is when its time is counted from.

        Raises:
            SettingError: the gradient is not finite; the weights are still those before the step.
        """
        self._seed_dropout()
        rate = set_learning_rate(self.optimiser, self.progress.position / self.samples, self.settings)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        total = 0.0
        for part in in_parts(self.workers.mine(step.terms), self.settings.tokens_at_once):
            loss = self._losses(part) / len(step.terms)
            loss.backward()
            total += float(loss.detach())
        gradient = self._collect_gradients()
        self.optimiser.step()
        report = StepReport(self.workers.sum(total), step.cost, rate, gradient, perf_counter() - began)
        self._advance(step, report)
        return report

    def _pass_over_the_rest(self) -> None:
        """Count the samples after the last step, which had nothing to learn from: no step of their own does."""
        self.progress.left_out += self.samples - self.progress.position
        self.progress.position = self.samples

    def _seed_dropout(self) -> None:
        generator = np.random.default_rng([self.seed, self.progress.step, self.workers.rank])
        torch.manual_seed(int(generator.integers(2**63)))

    def _collect_gradients(self) -> float:
        """Sum the gradients of all processes and clip them; gives their length before that."""
        parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.workers.sum_gradients(parameters)
        length = float(nn.utils.clip_grad_norm_(parameters, self.settings.clip))
        if not math.isfinite(length):
            raise SettingError(
                f"The gradient of step {self.progress.step + 1} is not finite: training has diverged; "
                f"lower optimisation.learning_rate ({self.settings.learning_rate})."
            )
        return length

    def _losses(self, part: Sequence[Term]) -> Tensor:
        """The sum of the part's loss terms."""
        with self.precision():
            scores = self.model(batch_of(part)).float()  # (candidates of all terms,)
        device = scores.device
        scores = scores + torch.from_numpy(np.concatenate([term.prior for term in part])).to(device)
        terms = scores.split([len(term.candidates) for term in part])
        targets = (_targets(term, device) for term in part)
        losses = [self._loss(own, wanted) for own, wanted in zip(terms, targets, strict=True)]
        return torch.stack(losses).sum()

    def precision(self) -> AbstractContextManager[object]:
        """What the model is computed in."""
        if not self.bfloat16:
            return nullcontext()
        return torch.autocast(self.backbone.head.weight.device.type, dtype=torch.bfloat16)

    def _advance(self, step: StepTerms, report: StepReport) -> None:
        self.progress.position = step.position
        self.progress.step += 1
        self.progress.tokens += report.tokens
        self.progress.seconds += report.seconds
        self.progress.left_out += step.left_out
        self.progress.prefixes_shortened += sum(bool(p.shortening) for term in step.terms for p in term.prefixes)
        if self.progress.position / self.samples > self.settings.average_from:
            self.average.add(self.backbone.model)


def _targets(term: Term, device: torch.device) -> Targets:
    teacher = None if term.teacher is None else torch.from_numpy(term.teacher).to(device)
    return Targets(torch.from_numpy(term.labels).to(device), teacher, term.labelled)
