from collections.abc import Callable
from dataclasses import fields
from statistics import fmean

import numpy as np
import pytest
import torch

from arcf.errors import SettingError
from arcf.scorer.network.backbone import Embeddings, Layer
from arcf.scorer.network.scorer import ENCODINGS, TorchScorer
from arcf.scorer.prior import WithPrior
from arcf.training.feed import StepTerms, batch_of
from arcf.training.losses import LOSSES, Targets
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Callback, StepReport, Trainer

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]

PATHS: dict[str, dict[str, int]] = {"facts": {}, "paths": {"retrieved": 6, "starts": 2}}
EPOCHS = {"facts": 12.0, "paths": 5.0}


class Reports(Callback):
    """Keeps what every step reported, and the gradients of the first."""

    def __init__(self) -> None:
        self.steps: list[StepReport] = []
        self.gradients: dict[str, torch.Tensor] = {}
        self.starts = self.ends = 0

    def at_start(self, trainer: Trainer) -> None:
        assert trainer.progress.position == 0
        assert not self.steps
        self.starts += 1

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        self.steps.append(report)
        if len(self.steps) == 1:
            named = trainer.backbone.model.named_parameters()
            self.gradients = {name: value.grad.clone() for name, value in named if value.grad is not None}

    def at_end(self, trainer: Trainer) -> None:
        assert trainer.progress.position == trainer.samples
        self.ends += 1


def trained(trainer: Trainer) -> Reports:
    reports = Reports()
    trainer.callbacks = [reports]
    trainer.run()
    assert (reports.starts, reports.ends) == (1, 1)
    return reports


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_learnt(loss: str, settings: Settings, trainer: Make) -> None:
    wanted = settings(optimisation={"loss": loss, "epochs": 16.0, "learning_rate": 5e-3, "warmup": 0.1})
    losses = [report.loss for report in trained(trainer(wanted)).steps]
    assert fmean(losses[-8:]) < 0.8 * fmean(losses[:8])


@pytest.mark.parametrize("kind", sorted(PATHS))
@pytest.mark.parametrize("loss", ["bxent", "nce"])
def test_every_kind_of_sample_is_learnt(loss: str, kind: str, settings: Settings, trainer: Make) -> None:
    optimisation = {"loss": loss, "epochs": EPOCHS[kind], "learning_rate": 5e-3, "warmup": 0.1}
    wanted = settings(sampling={"kind": kind, "paths": PATHS[kind]}, optimisation=optimisation)
    losses = [report.loss for report in trained(trainer(wanted)).steps]
    assert fmean(losses[-8:]) < 0.8 * fmean(losses[:8])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_parts_add_up_to_the_same_gradient(encoding: str, settings: Settings, trainer: Make) -> None:
    """Memory is bounded by computing a step in parts; nothing else may depend on it."""
    found = []
    for tokens in (1, 200, 10**6):
        optimisation = {"tokens_at_once": tokens, "tokens_per_step": 1500, "epochs": 0.5, "clip": 1e9}
        found.append(trained(trainer(settings(model={"encoding": encoding}, optimisation=optimisation))))
    for other in found[1:]:
        assert other.steps[0].loss == pytest.approx(found[0].steps[0].loss, abs=1e-6)
        for name, gradient in found[0].gradients.items():
            torch.testing.assert_close(other.gradients[name], gradient, atol=1e-6, rtol=1e-5, msg=name)
    assert found[0].gradients.keys() == dict(trainer().backbone.model.named_parameters()).keys()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_loss_is_the_mean_over_terms(encoding: str, settings: Settings, trainer: Make) -> None:
    made = trainer(settings(model={"encoding": encoding}))
    (step, *_) = made.feed.steps(0, made.samples, 300)
    one_by_one = [
        float(LOSSES["ranknet"](made.model(batch_of([term])).detach(), Targets(torch.from_numpy(term.labels))))
        for term in step.terms
    ]
    assert trained(made).steps[0].loss == pytest.approx(fmean(one_by_one), abs=1e-5)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("loss", ["ranknet", "bxent"])
def test_a_sample_of_several_prefixes_is_one_term(loss: str, encoding: str, settings: Settings, trainer: Make) -> None:
    """By hand: every prefix is scored alone, as at inference, and the loss sees all their candidates at once."""
    made = trainer(
        settings(
            model={"encoding": encoding, "prior": 5.0},
            sampling={"kind": "paths", "paths": PATHS["paths"]},
            optimisation={"loss": loss},
        )
    )
    corpus = made.feed.corpora[0]
    assert corpus.prior is not None
    sample = next(filter(None, (corpus.sampler.draw(0, number) for number in range(corpus.sampler.per_epoch))))
    assert len(sample.prefixes) == 3
    scorer = WithPrior(TorchScorer(made.model, corpus.facts), corpus.prior)
    parts = np.split(sample.candidates, np.cumsum(sample.counts)[:-1])
    scores = np.concatenate([scorer.score(*pair) for pair in zip(sample.prefixes, parts, strict=True)])
    right, wrong = (scores[chosen].astype(float) for chosen in (sample.labels, ~sample.labels))
    by_hand = {
        "ranknet": np.log1p(np.exp(-(right[:, None] - wrong[None, :]))).mean(),
        "bxent": np.concatenate([np.log1p(np.exp(-right)), np.log1p(np.exp(wrong))]).mean(),
    }
    step = StepTerms((corpus.encode(sample, made.model.cost),), 1)
    assert made.step(step, 0.0).loss == pytest.approx(by_hand[loss], abs=1e-5)


def test_a_term_of_one_class_is_learnt_from_where_the_loss_says_so(settings: Settings, trainer: Make) -> None:
    """In the sight of a single fact there is often only a right one, or only wrong ones."""
    sampling = {"k": 1, "prefixes": 6}
    contrasting, judging = (
        trainer(settings(sampling=sampling, optimisation={"loss": loss, "epochs": 1.0})) for loss in ("nce", "bxent")
    )
    empty = sum(judging.feed.corpora[0].sampler.draw(0, number) is None for number in range(judging.samples))
    trained(contrasting)
    trained(judging)
    assert judging.progress.left_out == empty
    assert contrasting.progress.left_out > empty
    terms = [term for step in judging.feed.steps(0, judging.samples, 300) for term in step.terms]
    (term, *_) = (term for term in terms if not term.has_contrast)
    assert judging.step(StepTerms((term,), 1), 0.0).gradient > 0


def test_left_out_samples_are_all_counted(settings: Settings, trainer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those after the last step as well."""
    made = trainer(settings(optimisation={"epochs": 1.0}))
    sampler = made.feed.corpora[0].sampler
    draw, last = sampler.draw, set(sampler.order(0)[-5:].tolist())
    monkeypatch.setattr(sampler, "draw", lambda epoch, n: None if n in last or n % 4 == 0 else draw(epoch, n))
    trained(made)
    assert made.progress.position == made.samples == 20
    assert made.progress.left_out == len(last | set(range(0, 20, 4)))


def test_reports_and_progress(settings: Settings, trainer: Make) -> None:
    made = trainer(settings(optimisation={"average_from": 0.5, "epochs": 1.5}))
    steps = list(made.feed.steps(0, made.samples, 300))
    reports = trained(made).steps
    assert made.samples == round(1.5 * made.feed.per_epoch)
    assert [report.tokens for report in reports] == [step.cost for step in steps]
    starts = np.array([0, *(step.position for step in steps[:-1])])
    assert [report.learning_rate for report in reports] == pytest.approx(1e-3 * (1 - starts / made.samples))
    assert made.progress.step == len(steps)
    assert made.progress.tokens == sum(step.cost for step in steps)
    assert made.progress.seconds == pytest.approx(sum(report.seconds for report in reports))
    assert made.average.steps == sum(step.position / made.samples > 0.5 for step in steps)
    assert all(report.seconds > 0 for report in reports)


def test_gradients_are_clipped(settings: Settings, trainer: Make) -> None:
    reports = trained(trainer(settings(optimisation={"clip": 1e-3, "tokens_per_step": 10**6})))
    length = torch.stack([gradient.norm() for gradient in reports.gradients.values()]).norm()
    assert float(length) == pytest.approx(1e-3, rel=1e-3)
    assert reports.steps[0].gradient > 1e-3


def test_dropout_depends_on_the_step_alone(settings: Settings, trainer: Make) -> None:
    """So that a resumed run drops what the uninterrupted one does."""
    whole, begun = (trainer(settings(model={"dropout": 0.2})) for _ in range(2))
    losses = [report.loss for report in trained(whole).steps]
    plain = [report.loss for report in trained(trainer(settings())).steps]
    assert losses[0] != plain[0]

    class Noise(Reports):
        def after_step(self, trainer: Trainer, report: StepReport) -> None:
            super().after_step(trainer, report)
            torch.rand(3)

    noise = Noise()
    begun.callbacks = [noise]
    begun.run()
    assert [report.loss for report in noise.steps] == losses


@pytest.mark.parametrize("layers", [0, 1])
def test_frozen_layers_stay(layers: int, settings: Settings, trainer: Make) -> None:
    made = trainer(settings(model={"frozen_layers": layers}))
    parts = made.backbone.embeddings, *made.backbone.layers
    before = [[weight.detach().clone() for weight in weights(part)] for part in parts]
    trained(made)
    after = [weights(part) for part in parts]
    moved = [
        not all(torch.equal(*pair) for pair in zip(*both, strict=True)) for both in zip(before, after, strict=True)
    ]
    assert moved == [number > layers for number in range(len(parts))]


def weights(part: Embeddings | Layer) -> list[torch.Tensor]:
    modules = (getattr(part, entry.name) for entry in fields(part))
    return [weight for module in modules if isinstance(module, torch.nn.Module) for weight in module.parameters()]


def test_something_is_left_to_train(settings: Settings, trainer: Make) -> None:
    with pytest.raises(SettingError, match="frozen_layers must be less than the model's 2 layers, not 2"):
        trainer(settings(model={"frozen_layers": 2}))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_half_precision(encoding: str, settings: Settings, trainer: Make) -> None:
    wanted = {"model": {"encoding": encoding}, "optimisation": {"epochs": 0.5}}
    half = trained(trainer(settings(**wanted, run={"precision": "bfloat16"}))).steps
    full = trained(trainer(settings(**wanted))).steps
    assert [report.loss for report in half] == pytest.approx([report.loss for report in full], rel=0.05)


def test_divergence_is_told_and_the_weights_are_kept(settings: Settings, trainer: Make) -> None:
    made = trainer(settings())
    made.backbone.head.bias.data.fill_(float("nan"))
    before = made.backbone.head.weight.detach().clone()
    with pytest.raises(SettingError, match=r"step 1 is not finite.*learning_rate"):
        made.run()
    assert torch.equal(made.backbone.head.weight, before)


def test_nothing_in_sight(settings: Settings, trainer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(settings())
    monkeypatch.setattr(made.feed.corpora[0].sampler, "draw", lambda *_: None)
    with pytest.raises(SettingError, match=r"raise sampling\.k"):
        made.run()
