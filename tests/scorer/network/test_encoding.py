"""Every encoding against transformers' own forward pass, with an explicit mask where the prefix is shared."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from arcf.errors import SettingError
from arcf.pretrained.architectures import architecture_of
from arcf.scorer import ScorerSettings
from arcf.scorer.network import joint, prefix_first
from arcf.scorer.network.backbone import Backbone, Embeddings
from arcf.scorer.network.joint import pair
from arcf.scorer.network.scorer import ENCODINGS, Network, make_model
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
    backbone: Backbone,
    tokens: list[int],
    segments: list[int],
    mask: Tensor | None,
    positions: list[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Scores (tokens,) and last states (tokens, hidden) by transformers' own forward pass."""
    form = backbone.tokenizer.form
    inputs = {"input_ids": torch.tensor([tokens])}
    if form.segments:
        inputs["token_type_ids"] = torch.tensor([segments]).clamp(max=form.segments - 1)
    if mask is not None:
        inputs["attention_mask"] = mask
    inputs["position_ids"] = torch.tensor([positions or list(range(len(tokens)))]) + form.first_position
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
    late = backbone.settings.encoding == "late"
    for number, owner in enumerate(np.repeat(np.arange(len(batch.counts)), batch.counts).tolist()):
        prefix, candidate = batch.prefixes[owner].tolist(), batch.candidates[number].tolist()
        mask = torch.zeros(1, 1, len(prefix) + len(candidate), len(prefix) + len(candidate))
        mask[:, :, : len(prefix), len(prefix) :] = torch.finfo(torch.float32).min
        segments = [0] * len(prefix) + [1] * len(candidate)
        positions = [*range(len(prefix)), *range(len(candidate))] if late else None
        with apart_at_first(backbone, mask, len(prefix)):
            says, states = run_transformers(backbone, prefix + candidate, segments, mask, positions)
        means = states[: len(prefix)].mean(0), states[len(prefix) :].mean(0)
        cosine = torch.nn.functional.cosine_similarity(*means, dim=0)
        scores.append(says[len(prefix) :].mean() + backbone.settings.similarity * cosine)
    return torch.stack(scores)


@contextmanager
def apart_at_first(backbone: Backbone, mask: Tensor, prefix: int) -> Iterator[None]:
    """In the layers that are read ahead, the mask hides the prefix from the candidate too."""
    hidden = mask.clone()
    hidden[:, :, prefix:, :prefix] = torch.finfo(torch.float32).min

    def other(value: Any) -> Any:
        return hidden if isinstance(value, Tensor) and value.shape == mask.shape else value

    def change(_: object, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        assert any(other(value) is hidden for value in (*given, *named.values()))
        return tuple(map(other, given)), {name: other(value) for name, value in named.items()}

    config = backbone.model.config.to_dict()
    layers = attrgetter(architecture_of(config).layers)(backbone.model.base_model)
    hooks = [
        layer.register_forward_pre_hook(change, with_kwargs=True) for layer in layers[: backbone.settings.read_ahead]
    ]
    yield
    for hook in hooks:
        hook.remove()


Plain = Callable[[Backbone, Batch], Tensor]
PLAIN: dict[str, Plain] = {"joint": plain_joint, "shared_prefix": plain_shared, "late": plain_shared}
CASES = [
    ScorerSettings("joint"),
    ScorerSettings("shared_prefix"),
    *(ScorerSettings("late", read_ahead=layers) for layers in (0, 1, 2)),
]
every_encoding = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.encoding}-{case.read_ahead}")
every_prefix_first = pytest.mark.parametrize("case", CASES[1:], ids=lambda case: f"{case.encoding}-{case.read_ahead}")


def test_every_encoding_is_tested() -> None:
    assert {case.encoding for case in CASES} == ENCODINGS.keys() == PLAIN.keys()


def as_in(case: ScorerSettings, backbone: Backbone) -> tuple[Network, Callable[[Batch], Tensor]]:
    """The model in an encoding, and what transformers makes of the same."""
    own = backbone.with_settings(case)
    assert case.encoding is not None
    plain = PLAIN[case.encoding]
    return make_model(own, case.encoding).eval(), lambda batch: plain(own, batch)


@every_encoding
@SLOW
@given(shape=SHAPES)
def test_scores_equal_transformers(
    backbone: Backbone, case: ScorerSettings, shape: list[tuple[int, list[int]]]
) -> None:
    batch = make_batch(backbone, shape)
    model, plain = as_in(case, backbone)
    with torch.no_grad():
        torch.testing.assert_close(model(batch), plain(batch), atol=1e-5, rtol=1e-5)


@every_encoding
def test_gradients_equal_transformers(backbone: Backbone, case: ScorerSettings) -> None:
    check_gradients(backbone, case)


def check_gradients(backbone: Backbone, case: ScorerSettings) -> None:
    batch = make_batch(backbone, SHAPE)
    weights = torch.linspace(-1, 1, len(batch.candidates))
    gradients = []
    for run in as_in(case, backbone):
        backbone.model.zero_grad()
        (run(batch) * weights).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in backbone.model.named_parameters()})
    ours, theirs = gradients
    assert all(gradient is not None for gradient in ours.values())
    for name, gradient in theirs.items():
        torch.testing.assert_close(ours[name], gradient, atol=1e-5, rtol=1e-4, msg=lambda text, name=name: name + text)


@every_prefix_first
@SLOW
@given(shape=SHAPES)
def test_similarity_equals_transformers(
    tiny: Callable[..., Backbone], case: ScorerSettings, shape: list[tuple[int, list[int]]]
) -> None:
    backbone = tiny("roberta")
    model, plain = as_in(replace(case, similarity=7.0), backbone)
    batch = make_batch(backbone, shape)
    with torch.no_grad():
        expected = plain(batch)
        apart = model.score(model.read(batch.prefixes), model.prepare(batch.candidates), batch.counts)
        torch.testing.assert_close(model(batch), expected, atol=2e-5, rtol=1e-5)
        torch.testing.assert_close(apart, expected, atol=2e-5, rtol=1e-5)
        assert not torch.allclose(as_in(case, backbone)[0](batch), expected)


@every_prefix_first
def test_gradients_of_similarity_equal_transformers(tiny: Callable[..., Backbone], case: ScorerSettings) -> None:
    check_gradients(tiny("bert"), replace(case, similarity=7.0))


def test_layers_read_ahead_do_not_see_the_prefix(tiny: Callable[..., Backbone]) -> None:
    """With s = 0 they all do: the shared prefix, but for positions. So scores are other ones for every s."""
    backbone = tiny("bert")
    batch = make_batch(backbone, SHAPE)
    with torch.no_grad():
        scores = [as_in(case, backbone)[0](batch) for case in CASES[1:]]
    for first, second in itertools.combinations(scores, 2):
        assert not torch.allclose(first, second, atol=1e-3)


def test_some_layer_must_see_the_prefix(tiny: Callable[..., Backbone]) -> None:
    with pytest.raises(SettingError, match="read_ahead must be less than the model's 3 layers, not 3"):
        as_in(ScorerSettings("late", read_ahead=3), tiny("bert"))


@every_encoding
def test_a_score_does_not_depend_on_the_other_candidates(backbone: Backbone, case: ScorerSettings) -> None:
    model, batch = as_in(case, backbone)[0], make_batch(backbone, SHAPE)
    with torch.no_grad():
        together = model(batch)
        alone = model(Batch(batch.prefixes.take(np.array([2])), batch.candidates.take(np.array([7])), np.array([1])))
    torch.testing.assert_close(together[7:8], alone, atol=1e-5, rtol=1e-5)


@every_encoding
def test_no_candidates(backbone: Backbone, case: ScorerSettings) -> None:
    assert as_in(case, backbone)[0](make_batch(backbone, [(5, [])])).shape == (0,)


@every_encoding
def test_dropout_acts_in_training_only(tiny: Callable[..., Backbone], case: ScorerSettings) -> None:
    backbone = tiny("bert")
    assert backbone.hidden_dropout == backbone.attention_dropout == 0.1
    model, batch = as_in(case, backbone)[0], make_batch(backbone, SHAPE)
    model.train()
    torch.manual_seed(0)
    first, second = model(batch), model(batch)
    assert not torch.allclose(first, second)
    first.sum().backward()
    model.eval()
    torch.testing.assert_close(model(batch), model(batch))


@every_encoding
def test_frozen_word_embeddings_get_no_gradient(tiny: Callable[..., Backbone], case: ScorerSettings) -> None:
    backbone = tiny("electra")
    backbone.embeddings.word.weight.requires_grad_(False)
    as_in(case, backbone)[0](make_batch(backbone, SHAPE)).sum().backward()
    assert backbone.embeddings.word.weight.grad is None
    assert backbone.embeddings.position.weight.grad is not None


@every_encoding
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_mixed_precision(tiny: Callable[..., Backbone], family: str, case: ScorerSettings) -> None:
    backbone = tiny(family)
    batch, (model, plain) = make_batch(backbone, SHAPE), as_in(case, backbone)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = model(batch)
    scores.float().sum().backward()
    torch.testing.assert_close(scores.float(), plain(batch), atol=0.1, rtol=0.1)


def test_encodings_share_their_weights_names(backbone: Backbone) -> None:
    names = [encoding(backbone).state_dict().keys() for encoding in ENCODINGS.values()]
    assert all(own == names[0] for own in names)


class TestInterface:
    """What the scorer and training count on, whichever encoding they are given."""

    @pytest.fixture
    def computed(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
        """How many tokens the network computes while something is done: those embedded, or those in a mean."""
        sizes, embed, means = [], joint.embed, prefix_first.means

        def embedded(parts: Embeddings, tokens: Tensor, *rest: Any) -> Tensor:
            sizes.append(len(tokens))
            return embed(parts, tokens, *rest)

        def averaged(hidden: Tensor, *rest: Any) -> Tensor:
            sizes.append(len(hidden))
            return means(hidden, *rest)

        monkeypatch.setattr(joint, "embed", embedded)
        monkeypatch.setattr(prefix_first, "means", averaged)

        def count(action: Callable[[], object]) -> int:
            sizes.clear()
            with torch.no_grad():
                action()
            return sum(sizes)

        return count

    @every_encoding
    def test_candidates_may_be_prepared_once_and_taken_often(self, backbone: Backbone, case: ScorerSettings) -> None:
        model, batch = as_in(case, backbone)[0], make_batch(backbone, SHAPE)
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
        case: ScorerSettings,
        computed: Callable[[Callable[[], object]], int],
        prefix: int,
        lengths: list[int],
    ) -> None:
        model, batch = as_in(case, backbone)[0], make_batch(backbone, [(prefix, lengths)])
        assert model.cost(prefix, np.array(lengths)) == computed(lambda: model(batch))

    @every_encoding
    def test_costs_of_a_batch_add_up(
        self, backbone: Backbone, case: ScorerSettings, computed: Callable[[Callable[[], object]], int]
    ) -> None:
        model, batch = as_in(case, backbone)[0], make_batch(backbone, SHAPE)
        assert sum(model.cost(prefix, np.array(own)) for prefix, own in SHAPE) == computed(lambda: model(batch))

    @every_encoding
    def test_tokens_are_what_a_candidate_costs_once_the_prefix_is_read(
        self, backbone: Backbone, case: ScorerSettings, computed: Callable[[Callable[[], object]], int]
    ) -> None:
        model, batch = as_in(case, backbone)[0], make_batch(backbone, [(11, [2, 5, 9])])
        with torch.no_grad():
            read, known = model.read(batch.prefixes), model.prepare(batch.candidates)
        costs = [
            computed(lambda row=row: model.score(read, known.take(np.array([row])), np.array([1]))) for row in range(3)
        ]
        assert model.tokens(11, np.array([2, 5, 9])).tolist() == costs
