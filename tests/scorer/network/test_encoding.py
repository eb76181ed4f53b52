"""Every encoding against transformers' own forward pass, with an explicit mask where the prefix is shared."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from arcf.scorer import ScorerSettings
from arcf.scorer.network import joint, layers, shared_prefix
from arcf.scorer.network.backbone import Backbone, Embeddings
from arcf.scorer.network.joint import pair
from arcf.scorer.network.scorer import ENCODINGS, Network
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
    form = backbone.tokenizer.form

    def row(length: int) -> list[int]:
        return [form.start, *random.integers(4, backbone.model.config.vocab_size, length - 2).tolist(), form.end]

    prefixes = Ragged.of([row(length) for length, _ in shape])
    candidates = Ragged.of([row(length) for _, lengths in shape for length in lengths])
    return Batch(prefixes, candidates, np.array([len(lengths) for _, lengths in shape]))


def run_transformers(
    backbone: Backbone, tokens: list[int], segments: list[int], mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Scores (tokens,) and last states (tokens, hidden) by transformers' own forward pass."""
    form = backbone.tokenizer.form
    inputs = {"input_ids": torch.tensor([tokens])}
    if form.segments:
        inputs["token_type_ids"] = torch.tensor([segments]).clamp(max=form.segments - 1)
    if mask is not None:
        inputs["attention_mask"] = mask
    inputs["position_ids"] = torch.arange(len(tokens))[None] + form.first_position
    outputs = backbone.model(**inputs, output_hidden_states=True)
    return outputs.logits[0, :, 0], outputs.hidden_states[-1][0]


def plain_joint(backbone: Backbone, batch: Batch) -> Tensor:
    pairs = pair(batch.prefixes, batch.candidates, batch.counts, backbone.tokenizer.form)
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
        scores.append(says[len(prefix) :].mean() + backbone.settings.similarity * cosine)
    return torch.stack(scores)


Plain = Callable[[Backbone, Batch], Tensor]
PLAIN: dict[str, Plain] = {"joint": plain_joint, "shared_prefix": plain_shared}
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
Encoding = type[Network]


@every_encoding
@SLOW
@given(shape=SHAPES)
def test_scores_equal_transformers(backbone: Backbone, encoding: Encoding, shape: list[tuple[int, list[int]]]) -> None:
    batch = make_batch(backbone, shape)
    with torch.no_grad():
        expected = PLAIN[encoding.name](backbone, batch)
        torch.testing.assert_close(encoding(backbone).eval()(batch), expected, atol=1e-5, rtol=1e-5)


@every_encoding
def test_gradients_equal_transformers(backbone: Backbone, encoding: Encoding) -> None:
    check_gradients(backbone, encoding)


def check_gradients(backbone: Backbone, encoding: Encoding) -> None:
    batch = make_batch(backbone, SHAPE)
    weights = torch.linspace(-1, 1, len(batch.candidates))
    gradients = []
    for run in (encoding(backbone).eval(), lambda rows: PLAIN[encoding.name](backbone, rows)):
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
    backbone = tiny("roberta").with_settings(ScorerSettings(similarity=7.0))
    batch, model = make_batch(backbone, shape), SharedPrefix(backbone).eval()
    with torch.no_grad():
        expected = plain_shared(backbone, batch)
        apart = model.score(model.read(batch.prefixes), model.prepare(batch.candidates), batch.counts)
        torch.testing.assert_close(model(batch), expected, atol=2e-5, rtol=1e-5)
        torch.testing.assert_close(apart, expected, atol=2e-5, rtol=1e-5)
        without = SharedPrefix(backbone.with_settings(ScorerSettings())).eval()
        assert not torch.allclose(without(batch), expected)


def test_gradients_of_similarity_equal_transformers(tiny: Callable[..., Backbone]) -> None:
    backbone = tiny("bert").with_settings(ScorerSettings(similarity=7.0))
    check_gradients(backbone, SharedPrefix)


@every_encoding
def test_a_score_does_not_depend_on_the_other_candidates(backbone: Backbone, encoding: Encoding) -> None:
    model, batch = encoding(backbone).eval(), make_batch(backbone, SHAPE)
    with torch.no_grad():
        together = model(batch)
        alone = model(Batch(batch.prefixes.take(np.array([2])), batch.candidates.take(np.array([7])), np.array([1])))
    torch.testing.assert_close(together[7:8], alone, atol=1e-5, rtol=1e-5)


@every_encoding
def test_no_candidates(backbone: Backbone, encoding: Encoding) -> None:
    assert encoding(backbone)(make_batch(backbone, [(5, [])])).shape == (0,)


@every_encoding
def test_dropout_acts_in_training_only(tiny: Callable[..., Backbone], encoding: Encoding) -> None:
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


@every_encoding
def test_frozen_word_embeddings_get_no_gradient(tiny: Callable[..., Backbone], encoding: Encoding) -> None:
    backbone = tiny("electra")
    backbone.embeddings.word.weight.requires_grad_(False)
    encoding(backbone).eval()(make_batch(backbone, SHAPE)).sum().backward()
    assert backbone.embeddings.word.weight.grad is None
    assert backbone.embeddings.position.weight.grad is not None


@every_encoding
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_mixed_precision(tiny: Callable[..., Backbone], family: str, encoding: Encoding) -> None:
    backbone = tiny(family)
    batch = make_batch(backbone, SHAPE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = encoding(backbone).eval()(batch)
    scores.float().sum().backward()
    torch.testing.assert_close(scores.float(), PLAIN[encoding.name](backbone, batch), atol=0.1, rtol=0.1)


def test_encodings_share_their_weights_names(backbone: Backbone) -> None:
    names = [encoding(backbone).state_dict().keys() for encoding in ENCODINGS.values()]
    assert all(own == names[0] for own in names)


class TestInterface:
    """What the scorer and training count on, whichever encoding they are given."""

    @pytest.fixture
    def computed(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
        """How many tokens go through the network while something is done."""
        embed, sizes = layers.embed, []

        def counted(parts: Embeddings, tokens: Tensor, *rest: Any) -> Tensor:
            sizes.append(len(tokens))
            return embed(parts, tokens, *rest)

        for module in (joint, shared_prefix):
            monkeypatch.setattr(module, "embed", counted)

        def count(action: Callable[[], object]) -> int:
            sizes.clear()
            with torch.no_grad():
                action()
            return sum(sizes)

        return count

    @every_encoding
    def test_candidates_may_be_prepared_once_and_taken_often(self, backbone: Backbone, encoding: Encoding) -> None:
        model, batch = encoding(backbone).eval(), make_batch(backbone, SHAPE)
        corpus = make_batch(backbone, [(5, [2, 9, 4, 13, 2, 7])]).candidates
        taken, counts = np.array([3, -1, 0, 3, 2]), np.array([2, 0, 3])
        with torch.no_grad():
            known, read = model.prepare(corpus), model.read(batch.prefixes)
            scores = model.score(read, known.take(taken), counts)
            expected = model(Batch(batch.prefixes, corpus.take(taken), counts))
        assert known.lengths.tolist() == corpus.lengths.tolist()
        assert known.take(taken).lengths.tolist() == corpus.lengths[taken].tolist()
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)

    @every_encoding
    @SLOW
    @given(prefix=st.integers(2, 40), lengths=st.lists(st.integers(2, 30), min_size=1, max_size=6))
    def test_the_cost_is_what_is_computed(
        self,
        backbone: Backbone,
        encoding: Encoding,
        computed: Callable[[Callable[[], object]], int],
        prefix: int,
        lengths: list[int],
    ) -> None:
        model, batch = encoding(backbone).eval(), make_batch(backbone, [(prefix, lengths)])
        assert model.cost(prefix, np.array(lengths)) == computed(lambda: model(batch))

    @every_encoding
    def test_costs_of_a_batch_add_up(
        self, backbone: Backbone, encoding: Encoding, computed: Callable[[Callable[[], object]], int]
    ) -> None:
        model, batch = encoding(backbone).eval(), make_batch(backbone, SHAPE)
        assert sum(model.cost(prefix, np.array(own)) for prefix, own in SHAPE) == computed(lambda: model(batch))

    @every_encoding
    def test_tokens_are_what_a_candidate_costs_once_the_prefix_is_read(
        self, backbone: Backbone, encoding: Encoding, computed: Callable[[Callable[[], object]], int]
    ) -> None:
        model, batch = encoding(backbone).eval(), make_batch(backbone, [(11, [2, 5, 9])])
        with torch.no_grad():
            read, known = model.read(batch.prefixes), model.prepare(batch.candidates)
        costs = [
            computed(lambda row=row: model.score(read, known.take(np.array([row])), np.array([1]))) for row in range(3)
        ]
        assert model.tokens(11, np.array([2, 5, 9])).tolist() == costs
