"""Both encodings against transformers' own forward pass, with an explicit mask where the prefix is shared."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.joint import Joint, pair
from arcf.scorer.network.shared_prefix import SharedPrefix
from arcf.scorer.ragged import Ragged
from arcf.scorer.tokens import Batch

SLOW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SHAPES = st.lists(
    st.tuples(st.integers(2, 40), st.lists(st.integers(2, 30), min_size=0, max_size=5)), min_size=1, max_size=3
).filter(lambda shape: any(lengths for _, lengths in shape))

SHAPE = [(11, [2, 5, 9, 6, 2]), (3, [4]), (25, [12, 2, 3])]


def make_batch(backbone: Backbone, shape: list[tuple[int, list[int]]]) -> Batch:
    """Random tokens between marks; a candidate of two tokens is the stop sample."""
    random = np.random.default_rng(0)
    form = backbone.encoder.form

    def row(length: int) -> list[int]:
        return [form.start, *random.integers(4, backbone.model.config.vocab_size, length - 2).tolist(), form.end]

    prefixes = Ragged.of([row(length) for length, _ in shape])
    candidates = Ragged.of([row(length) for _, lengths in shape for length in lengths])
    return Batch(prefixes, candidates, np.array([len(lengths) for _, lengths in shape]))


def run_transformers(
    backbone: Backbone, tokens: list[int], segments: list[int], mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Scores (tokens,) and last states (tokens, hidden) by transformers' own forward pass."""
    form = backbone.encoder.form
    inputs = {"input_ids": torch.tensor([tokens])}
    if form.segments:
        inputs["token_type_ids"] = torch.tensor([segments]).clamp(max=form.segments - 1)
    if mask is not None:
        inputs["attention_mask"] = mask
    inputs["position_ids"] = torch.arange(len(tokens))[None] + form.first_position
    outputs = backbone.model(**inputs, output_hidden_states=True)
    return outputs.logits[0, :, 0], outputs.hidden_states[-1][0]


def plain_joint(backbone: Backbone, batch: Batch) -> Tensor:
    pairs = pair(batch.prefixes, batch.candidates, batch.counts, backbone.encoder.form)
    scores = []
    for number, first in enumerate(pairs.first_text.tolist()):
        tokens = pairs.rows[number].tolist()
        segments = [0] * first + [1] * (len(tokens) - first)
        scores.append(run_transformers(backbone, tokens, segments, None)[0][0])
    return torch.stack(scores)


def plain_shared(backbone: Backbone, batch: Batch) -> Tensor:
    """Prefix and one candidate in one sequence; the mask hides the candidate from the prefix."""
    scores = []
    for number, owner in enumerate(np.repeat(np.arange(len(batch.counts)), batch.counts).tolist()):
        prefix, candidate = batch.prefixes[owner].tolist(), batch.candidates[number].tolist()
        mask = torch.zeros(1, 1, len(prefix) + len(candidate), len(prefix) + len(candidate))
        mask[:, :, : len(prefix), len(prefix) :] = torch.finfo(torch.float32).min
        segments = [0] * len(prefix) + [1] * len(candidate)
        says, states = run_transformers(backbone, prefix + candidate, segments, mask)
        means = states[: len(prefix)].mean(0), states[len(prefix) :].mean(0)
        cosine = torch.nn.functional.cosine_similarity(*means, dim=0)
        scores.append(says[len(prefix) :].mean() + backbone.similarity * cosine)
    return torch.stack(scores)


ENCODINGS = [(Joint, plain_joint), (SharedPrefix, plain_shared)]
both = pytest.mark.parametrize(("encoding", "plain"), ENCODINGS, ids=["joint", "shared_prefix"])
Encoding = Callable[[Backbone], torch.nn.Module]
Plain = Callable[[Backbone, Batch], Tensor]


@both
@SLOW
@given(shape=SHAPES)
def test_scores_equal_transformers(
    backbone: Backbone, encoding: Encoding, plain: Plain, shape: list[tuple[int, list[int]]]
) -> None:
    batch = make_batch(backbone, shape)
    with torch.no_grad():
        torch.testing.assert_close(encoding(backbone).eval()(batch), plain(backbone, batch), atol=1e-5, rtol=1e-5)


@both
def test_gradients_equal_transformers(backbone: Backbone, encoding: Encoding, plain: Plain) -> None:
    check_gradients(backbone, encoding, plain)


def check_gradients(backbone: Backbone, encoding: Encoding, plain: Plain) -> None:
    batch = make_batch(backbone, SHAPE)
    weights = torch.linspace(-1, 1, len(batch.candidates))
    gradients = []
    for run in (encoding(backbone).eval(), lambda rows: plain(backbone, rows)):
        backbone.model.zero_grad()
        (run(batch) * weights).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in backbone.model.named_parameters()})
    ours, theirs = gradients
    assert all(gradient is not None for gradient in ours.values())
    for name, gradient in theirs.items():
        torch.testing.assert_close(ours[name], gradient, atol=1e-5, rtol=1e-4, msg=lambda text, name=name: name + text)


@SLOW
@given(shape=SHAPES)
def test_similarity_equals_transformers(tiny: Callable[..., Backbone], shape: list[tuple[int, list[int]]]) -> None:
    backbone = tiny("roberta")
    backbone.model.config.arcf_similarity = 7.0
    batch, model = make_batch(backbone, shape), SharedPrefix(backbone).eval()
    with torch.no_grad():
        expected = plain_shared(backbone, batch)
        apart = model.score(model.read(batch.prefixes), batch.candidates, batch.counts)
        torch.testing.assert_close(model(batch), expected, atol=2e-5, rtol=1e-5)
        torch.testing.assert_close(apart, expected, atol=2e-5, rtol=1e-5)
        backbone.model.config.arcf_similarity = 0.0
        assert not torch.allclose(model(batch), expected)


def test_gradients_of_similarity_equal_transformers(tiny: Callable[..., Backbone]) -> None:
    backbone = tiny("bert")
    backbone.model.config.arcf_similarity = 7.0
    check_gradients(backbone, SharedPrefix, plain_shared)


@both
def test_a_score_does_not_depend_on_the_other_candidates(backbone: Backbone, encoding: Encoding, plain: Plain) -> None:
    del plain
    model, batch = encoding(backbone).eval(), make_batch(backbone, SHAPE)
    with torch.no_grad():
        together = model(batch)
        alone = model(Batch(batch.prefixes.take(np.array([2])), batch.candidates.take(np.array([7])), np.array([1])))
    torch.testing.assert_close(together[7:8], alone, atol=1e-5, rtol=1e-5)


@both
def test_no_candidates(backbone: Backbone, encoding: Encoding, plain: Plain) -> None:
    del plain
    assert encoding(backbone)(make_batch(backbone, [(5, [])])).shape == (0,)


@both
def test_dropout_acts_in_training_only(tiny: Callable[..., Backbone], encoding: Encoding, plain: Plain) -> None:
    del plain
    backbone = tiny("bert")
    assert backbone.hidden_dropout == backbone.attention_dropout == 0.1
    model, batch = encoding(backbone), make_batch(backbone, SHAPE)
    model.train()
    torch.manual_seed(0)
    first, second = model(batch), model(batch)
    assert not torch.allclose(first, second)
    first.sum().backward()
    model.eval()
    torch.testing.assert_close(model(batch), model(batch))


@both
def test_frozen_word_embeddings_get_no_gradient(
    tiny: Callable[..., Backbone], encoding: Encoding, plain: Plain
) -> None:
    del plain
    backbone = tiny("electra")
    backbone.embeddings.word.weight.requires_grad_(False)
    encoding(backbone).eval()(make_batch(backbone, SHAPE)).sum().backward()
    assert backbone.embeddings.word.weight.grad is None
    assert backbone.embeddings.position.weight.grad is not None


@both
def test_mixed_precision(tiny: Callable[..., Backbone], encoding: Encoding, plain: Plain) -> None:
    backbone = tiny("bert")
    batch = make_batch(backbone, SHAPE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = encoding(backbone).eval()(batch)
    scores.float().sum().backward()
    torch.testing.assert_close(scores.float(), plain(backbone, batch), atol=0.1, rtol=0.1)


def test_encodings_share_their_weights_names(backbone: Backbone) -> None:
    assert Joint(backbone).state_dict().keys() == SharedPrefix(backbone).state_dict().keys()
