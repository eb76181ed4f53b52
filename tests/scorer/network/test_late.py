"""What the late encoding does in training where the layers that are read ahead stay as they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from arcf.scorer import ScorerSettings
from arcf.scorer.network import late
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.late import Late
from arcf.scorer.ragged import Ragged
from arcf.scorer.tokens import Batch

Tiny = Callable[..., Backbone]


@pytest.fixture(params=["bert", "mpnet"])
def quiet(request: pytest.FixtureRequest, tiny: Tiny) -> Backbone:
    """Three layers without dropout."""
    backbone = tiny(request.param).with_settings(ScorerSettings("late", read_ahead=2, similarity=3.0))
    assert len(backbone.layers) == 3
    return replace(backbone, hidden_dropout=0.0, attention_dropout=0.0)


def batch_of(backbone: Backbone, texts: Sequence[str], candidates: Sequence[int]) -> Batch:
    """Two prefixes, the first with all but the last of the candidates."""
    tokens = backbone.tokenizer.facts(texts)
    prefixes = [backbone.tokenizer.prefix("what melts", chosen, tokens) for chosen in ((), (1, 0))]
    return Batch.of(prefixes, [np.array(candidates[:-1]), np.array(candidates[-1:])], tokens)


def learn(model: Late, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
    """Scores, and the gradients that they lead to."""
    model.zero_grad()
    scores = model.train()(batch)
    (scores * torch.linspace(-1, 1, len(scores))).sum().backward()
    found = {name: weight.grad for name, weight in model.model.named_parameters() if weight.grad is not None}
    return scores.detach(), found


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by the number of texts whenever some are read alone."""
    counts: list[int] = []
    own = Late._read_alone

    def counted(self: Late, texts: Ragged, segment: int) -> Tensor:
        counts.append(len(texts))
        return own(self, texts, segment)

    monkeypatch.setattr(Late, "_read_alone", counted)
    return counts


def test_remembered_facts_teach_the_same(quiet: Backbone, facts: tuple[str, ...]) -> None:
    batch = batch_of(quiet, facts, [0, 2, -1, 2, 1])
    scores, gradients = learn(Late(quiet), batch)
    quiet.freeze(2)
    model = Late(quiet)
    for _ in range(2):  # facts are read the first time, and remembered the second
        ours, found = learn(model, batch)
        torch.testing.assert_close(ours, scores, atol=5e-3, rtol=5e-3)
        assert found.keys() == {name for name, weight in quiet.model.named_parameters() if weight.requires_grad}
        assert len(found) < len(gradients)
        for name, gradient in found.items():
            torch.testing.assert_close(gradient, gradients[name], atol=2e-2, rtol=2e-2)


def test_remembered_facts_in_mixed_precision(quiet: Backbone, facts: tuple[str, ...]) -> None:
    batch = batch_of(quiet, facts, [0, 2, -1, 2, 1])
    scores, _ = learn(Late(quiet), batch)
    quiet.freeze(2)
    model = Late(quiet)
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ours, found = learn(model, batch)
        assert found
        torch.testing.assert_close(ours.float(), scores, atol=0.1, rtol=0.1)


def test_a_fact_is_read_once(quiet: Backbone, facts: tuple[str, ...], read: list[int]) -> None:
    quiet.freeze(2)
    model = Late(quiet)
    learn(model, batch_of(quiet, facts, [0, 2, -1, 2, 1]))
    assert read == [2, 4]  # prefixes, facts
    learn(model, batch_of(quiet, facts, [1, 3, -1, 0]))
    assert read == [2, 4, 2, 1]
    learn(model, batch_of(quiet, facts, [1, 3, -1, 0]))
    assert read == [2, 4, 2, 1, 2]


def test_equal_texts_of_two_corpora_are_one(quiet: Backbone, facts: tuple[str, ...], read: list[int]) -> None:
    quiet.freeze(2)
    model = Late(quiet)
    learn(model, batch_of(quiet, facts, [0, 1, 2]))
    learn(model, batch_of(quiet, facts[::-1], [-2, -3, -4]))  # -1 is the stop sample
    assert read == [2, 3, 2]


def test_only_some_are_remembered(
    quiet: Backbone, facts: tuple[str, ...], read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late, "REMEMBERED", 2)
    quiet.freeze(2)
    model = Late(quiet)
    learn(model, batch_of(quiet, facts, [0, 1, 2]))
    learn(model, batch_of(quiet, facts, [0, 1, 2]))
    assert read == [2, 3, 2, 1]


@pytest.mark.parametrize(("frozen", "dropout"), [(0, 0.0), (1, 0.0), (2, 0.1)])
def test_what_may_change_is_not_remembered(
    tiny: Tiny, facts: tuple[str, ...], read: list[int], frozen: int, dropout: float
) -> None:
    backbone = tiny("bert").with_settings(ScorerSettings("late", read_ahead=2))
    backbone = replace(backbone, hidden_dropout=0.0, attention_dropout=dropout)
    backbone.freeze(frozen)
    learn(Late(backbone), batch_of(backbone, facts, [0, 1, 2]))
    assert read == []


def test_outside_of_training_nothing_is_remembered(quiet: Backbone, facts: tuple[str, ...], read: list[int]) -> None:
    quiet.freeze(2)
    Late(quiet).eval()(batch_of(quiet, facts, [0, 1, 2]))
    assert read == []
