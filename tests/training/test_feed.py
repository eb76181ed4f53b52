from collections.abc import Callable, Sequence

import numpy as np
import pytest

from arcf.scorer.base import STOP
from arcf.scorer.network.joint import Joint, pair
from arcf.training.feed import Feed, StepTerms, Term, in_parts
from arcf.training.trainer import Trainer

Make = Callable[..., Trainer]
TOKENS = 300


@pytest.fixture(scope="module")
def feed(trainer: Make) -> Feed:
    return trainer().feed


def content(steps: Sequence[StepTerms]) -> list[object]:
    return [
        (step.position, [(t.prefix.tokens.tolist(), t.candidates.tolist(), t.labels.tolist()) for t in step.terms])
        for step in steps
    ]


def test_steps_cover_every_sample_once_in_the_epochs_order(feed: Feed) -> None:
    end = 2 * feed.sampler.per_epoch + 7
    steps = list(feed.steps(0, end, TOKENS, joint=False))
    terms = [term.candidates.tolist() for step in steps for term in step.terms]
    numbers = [(epoch, number) for epoch in range(3) for number in feed.sampler.order(epoch).tolist()][:end]
    samples = [feed.sampler.draw(feed.neighborhood, *place) for place in numbers]
    assert terms == [sample.candidates.tolist() for sample in samples if sample]
    assert steps[-1].position == end


def test_a_step_ends_with_the_sample_that_reaches_the_tokens(feed: Feed) -> None:
    steps = list(feed.steps(0, 40, TOKENS, joint=False))
    assert len(steps) > 3
    for step in steps[:-1]:
        assert step.cost >= TOKENS
        assert step.cost - step.terms[-1].cost < TOKENS


@pytest.mark.parametrize("joint", [False, True])
def test_resuming_at_the_end_of_any_step(feed: Feed, joint: bool) -> None:
    end = 2 * feed.sampler.per_epoch
    steps = list(feed.steps(0, end, TOKENS, joint=joint))
    for number, step in enumerate(steps):
        rest = list(feed.steps(step.position, end, TOKENS, joint=joint))
        assert content(rest) == content(steps[number + 1 :])


def test_cost_is_what_each_encoding_computes(feed: Feed, trainer: Make) -> None:
    backbone = trainer().backbone
    (shared,) = feed.steps(0, 6, 10**9, joint=False)
    (joint,) = feed.steps(0, 6, 10**9, joint=True)
    batch = feed.batch(shared.terms)
    assert any(STOP in term.candidates for term in shared.terms)
    assert shared.cost == batch.tokens
    pairs = pair(batch.prefixes, batch.candidates, batch.counts, backbone.encoder.form)
    assert joint.cost == len(pairs.rows.tokens)
    assert Joint(backbone)(batch).shape == (len(pairs.rows),)


def test_samples_without_anything_to_learn_are_passed_over(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = feed.sampler.draw
    monkeypatch.setattr(feed.sampler, "draw", lambda near, epoch, n: None if n % 3 else draw(near, epoch, n))
    end = feed.sampler.per_epoch
    steps = list(feed.steps(0, end, TOKENS, joint=False))
    assert sum(len(step.terms) for step in steps) == sum(n % 3 == 0 for n in range(end))
    for number, step in enumerate(steps):
        assert content(list(feed.steps(step.position, end, TOKENS, joint=False))) == content(steps[number + 1 :])
    monkeypatch.setattr(feed.sampler, "draw", lambda *_: None)
    assert list(feed.steps(0, end, TOKENS, joint=False)) == []


def term(cost: int) -> Term:
    return Term(None, np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.float32), cost)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("costs", "parts"),
    [
        ([], []),
        ([5], [[5]]),
        ([50], [[50]]),
        ([4, 6, 1], [[4, 6], [1]]),
        ([50, 1, 50], [[50], [1], [50]]),
        ([3, 3, 3, 3], [[3, 3, 3], [3]]),
    ],
)
def test_parts(costs: list[int], parts: list[list[int]]) -> None:
    found = in_parts([term(cost) for cost in costs], 10)
    assert [[entry.cost for entry in part] for part in found] == parts
