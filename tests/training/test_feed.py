from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest
import torch

from arcf.scorer.base import STOP
from arcf.scorer.network.joint import Joint, pair
from arcf.scorer.network.scorer import ENCODINGS, make_model
from arcf.scorer.prior import LexicalPrior
from arcf.scorer.ragged import Ragged
from arcf.training.feed import Corpus, Feed, StepTerms, Term, batch_of, in_parts
from arcf.training.samplers import SAMPLERS, Sample
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Trainer

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]
TOKENS = 300

every_kind = pytest.mark.parametrize("kind", [kind for kind, sampler in SAMPLERS.items() if sampler.labelled])


@pytest.fixture(scope="module")
def feed(trainer: Make) -> Feed:
    return trainer().feed


@pytest.fixture(scope="module")
def feed_of(settings: Settings, trainer: Make) -> Callable[[str], Feed]:
    """The feed of one kind of sample."""
    return lambda kind: trainer(settings(sampling={"kind": kind})).feed


def content(steps: Sequence[StepTerms]) -> list[object]:
    return [
        (
            step.position,
            step.left_out,
            [
                (
                    [prefix.tokens.tolist() for prefix in term.prefixes],
                    term.counts,
                    term.candidates.tokens.tolist(),
                    term.labels.tolist(),
                )
                for term in step.terms
            ],
        )
        for step in steps
    ]


def drawn(corpus: Corpus, end: int) -> list[Sample | None]:
    """The first samples of a run, in its order."""
    epochs = range(-(-end // corpus.sampler.per_epoch))
    numbers = [(epoch, number) for epoch in epochs for number in corpus.sampler.order(epoch).tolist()]
    return [corpus.sampler.draw(*place) for place in numbers[:end]]


def test_steps_cover_every_sample_once_in_the_epochs_order(feed: Feed) -> None:
    end = 2 * feed.per_epoch + 7
    steps = list(feed.steps(0, end, TOKENS))
    terms = [term.candidates.tokens.tolist() for step in steps for term in step.terms]
    samples = drawn(feed.corpora[0], end)
    candidates = feed.corpora[0].facts.candidates
    assert terms == [candidates.take(sample.candidates).tokens.tolist() for sample in samples if sample]
    assert steps[-1].position == end


def test_a_step_ends_with_the_sample_that_reaches_the_tokens(feed: Feed) -> None:
    steps = list(feed.steps(0, 40, TOKENS))
    assert len(steps) > 3
    for step in steps[:-1]:
        assert step.cost >= TOKENS
        assert step.cost - step.terms[-1].cost < TOKENS


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_resuming_at_the_end_of_any_step(encoding: str, settings: Settings, trainer: Make) -> None:
    feed = trainer(settings(model={"encoding": encoding})).feed
    end = 2 * feed.per_epoch
    steps = list(feed.steps(0, end, TOKENS))
    for number, step in enumerate(steps):
        rest = list(feed.steps(step.position, end, TOKENS))
        assert content(rest) == content(steps[number + 1 :])


@every_kind
def test_cost_is_what_each_encoding_computes(kind: str, feed_of: Callable[[str], Feed], trainer: Make) -> None:
    backbone = trainer().backbone
    corpus = feed_of(kind).corpora[0]
    costs = {name: make_model(backbone, name).cost for name in ENCODINGS}
    (shared,) = Feed([corpus], costs["shared_prefix"]).steps(0, 6, 10**9)
    (joint,) = Feed([corpus], costs["joint"]).steps(0, 6, 10**9)
    batch = batch_of(shared.terms)
    samples = drawn(corpus, 6)
    assert any(STOP in sample.candidates for sample in samples if sample) == (kind == "prefixes")
    assert shared.cost == batch.tokens
    pairs = pair(batch.prefixes, batch.candidates, batch.counts, backbone.tokenizer.form)
    assert joint.cost == len(pairs.rows.tokens)
    assert Joint(backbone)(batch).shape == (len(pairs.rows),)


@every_kind
def test_a_term_is_its_sample_encoded(kind: str, feed_of: Callable[[str], Feed]) -> None:
    corpus = feed_of(kind).corpora[0]
    corpus = Corpus(
        corpus.neighborhood,
        corpus.sampler,
        corpus.tokenizer,
        corpus.facts,
        LexicalPrior([fact.text for fact in corpus.neighborhood.facts], 3.0),
    )
    assert corpus.prior is not None
    for sample in filter(None, drawn(corpus, 6)):
        term = corpus.encode(sample, lambda prefix, candidates: prefix + 1000 * len(candidates))
        assert term.counts == sample.counts
        assert term.labels.tolist() == sample.labels.tolist()
        ends = list(accumulate(sample.counts, initial=0))
        for number, (start, end) in enumerate(pairwise(ends)):
            prefix, own = sample.prefixes[number], sample.candidates[start:end]
            expected = corpus.tokenizer.prefix(prefix.query, prefix.facts, corpus.facts)
            assert term.prefixes[number].tokens.tolist() == expected.tokens.tolist()
            assert term.prior[start:end].tolist() == corpus.prior.score(prefix, own).tolist()
            for place in range(start, end):
                candidate = corpus.facts.candidates[sample.candidates[place]]
                assert term.candidates[place].tolist() == candidate.tolist()
        assert term.cost == sum(len(prefix.tokens) for prefix in term.prefixes) + 1000 * len(sample.candidates)


def test_samples_without_anything_to_learn_are_passed_over(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = feed.corpora[0].sampler
    draw = sampler.draw
    monkeypatch.setattr(sampler, "draw", lambda epoch, n: None if n % 3 else draw(epoch, n))
    end = feed.per_epoch
    steps = list(feed.steps(0, end, TOKENS))
    assert sum(len(step.terms) for step in steps) == sum(n % 3 == 0 for n in range(end))
    for number, step in enumerate(steps):
        assert content(list(feed.steps(step.position, end, TOKENS))) == content(steps[number + 1 :])
    monkeypatch.setattr(sampler, "draw", lambda *_: None)
    assert list(feed.steps(0, end, TOKENS)) == []


@pytest.mark.parametrize("contrasts", [True, False])
def test_one_class_samples_are_for_losses_that_do_not_contrast(
    contrasts: bool, settings: Settings, trainer: Make
) -> None:
    """In the sight of a single fact there is often only a right one, or only wrong ones."""
    made = trainer(settings(sampling={"k": 1, "prefixes": 6}))
    corpus = made.feed.corpora[0]
    feed = Feed([corpus], made.model.cost, contrasts=contrasts)
    samples = drawn(corpus, feed.per_epoch)
    one_class = sum(sample is not None and len(set(sample.labels.tolist())) == 1 for sample in samples)
    empty = sum(sample is None for sample in samples)
    assert one_class > 5
    start = 0
    for step in feed.steps(0, feed.per_epoch, TOKENS):
        assert all(term.has_contrast for term in step.terms) or not contrasts
        assert len(step.terms) + step.left_out == step.position - start
        start = step.position
    kept = [term for step in feed.steps(0, feed.per_epoch, TOKENS) for term in step.terms]
    assert len(kept) == feed.per_epoch - empty - (one_class if contrasts else 0)


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_an_epoch_takes_a_corpus_by_its_weight(weight: float, feed: Feed, trainer: Make) -> None:
    (whole,) = feed.corpora
    part = replace(whole, weight=weight)
    assert part.per_epoch == weight * whole.sampler.per_epoch
    cost = trainer().model.cost
    mixed = Feed([part, whole], cost, seed=3)
    assert mixed.per_epoch == (1 + weight) * whole.sampler.per_epoch
    found = [part.term(number, cost) for number in range(2 * whole.sampler.per_epoch)]
    expected = [sample and whole.encode(sample, cost) for sample in drawn(whole, 2 * whole.sampler.per_epoch)]
    assert [term and term.candidates.tokens.tolist() for term in found] == [
        term and term.candidates.tokens.tolist() for term in expected
    ]


def test_a_batch_of_several_corpora(feed: Feed, trainer: Make) -> None:
    """Every term keeps the tokens of its own corpus: scores are those of each term alone."""
    model = trainer().model.eval()
    (whole,) = feed.corpora
    second = replace(whole, facts=whole.tokenizer.facts([f"the {place} is near water" for place in range(29)]))
    steps = list(Feed([whole, second], model.cost, seed=1).steps(0, 12, 10**9))
    terms = steps[0].terms
    known = {tuple(row) for row in whole.facts.candidates}
    assert {all(tuple(row) in known for row in term.candidates) for term in terms} == {True, False}
    with torch.no_grad():
        together = model(batch_of(terms))
        apart = torch.cat([model(batch_of([term])) for term in terms])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=1e-5)


def test_resuming_several_corpora(feed: Feed, trainer: Make) -> None:
    (whole,) = feed.corpora
    mixed = Feed([whole, replace(whole, weight=0.3), replace(whole, weight=1.7)], trainer().model.cost, seed=1)
    end = 2 * mixed.per_epoch
    steps = list(mixed.steps(0, end, TOKENS))
    for number, step in enumerate(steps):
        assert content(list(mixed.steps(step.position, end, TOKENS))) == content(steps[number + 1 :])


def term(cost: int) -> Term:
    return Term((), (), Ragged.of([]), np.empty(0, np.bool_), np.empty(0, np.float32), cost)


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
