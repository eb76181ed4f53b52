import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from arcf.errors import ArcfWarning, MissingExtraError
from arcf.scorer import STOP, Prefix, Scorer, load_scorer
from arcf.scorer.network import scorer as scorer_module
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.joint import pair
from arcf.scorer.network.scorer import ENCODINGS, TorchScorer, make_model
from arcf.scorer.ragged import Ragged
from arcf.scorer.tokens import Batch

PREFIX = Prefix("What is ice (answer) a solid.", (1, 3))
IDS = np.array([4, STOP, 0, 6, 2, 4])


@pytest.fixture(params=ENCODINGS)
def scorer(request: pytest.FixtureRequest, backbone: Backbone, facts: tuple[str, ...]) -> TorchScorer:
    return TorchScorer(make_model(backbone, request.param), backbone.encoder.facts(facts))


def test_is_the_models_forward_pass(scorer: TorchScorer) -> None:
    encoder = scorer.model.backbone.encoder
    batch = Batch.of([encoder.prefix(PREFIX.query, PREFIX.facts, scorer.facts)], [IDS], scorer.facts)
    with torch.no_grad():
        expected = scorer.model.eval()(batch).numpy()
    scores = scorer.score(PREFIX, IDS)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_calls_of_any_size_give_the_same(scorer: TorchScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scorer.score(PREFIX, IDS)
    monkeypatch.setattr(scorer_module, "TOKENS_PER_CALL", 10)
    np.testing.assert_allclose(scorer.score(PREFIX, IDS), whole, atol=1e-5)


def test_calls_are_no_larger_than_asked(scorer: TorchScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The joint encoding reads the prefix with every candidate: that counts."""
    limit, sizes, score = 60, [], scorer.model.score
    monkeypatch.setattr(scorer_module, "TOKENS_PER_CALL", limit)

    def counted(read: Any, rows: Ragged, counts: NDArray[np.int64]) -> torch.Tensor:
        computed = (
            pair(read, rows, counts, scorer.model.backbone.encoder.form).rows if scorer.model.name == "joint" else rows
        )
        sizes.append((len(computed.tokens), int(computed.lengths.max())))
        return score(read, rows, counts)

    monkeypatch.setattr(scorer.model, "score", counted)
    scorer.score(PREFIX, np.arange(len(scorer.facts.candidates)))
    assert len(sizes) > 1
    assert all(total < limit + largest for total, largest in sizes)


def test_mode_is_restored_and_dropout_off(scorer: TorchScorer) -> None:
    scorer.model.train()
    np.testing.assert_array_equal(scorer.score(PREFIX, IDS), scorer.score(PREFIX, IDS))
    assert scorer.model.training


def test_no_candidates(scorer: TorchScorer) -> None:
    assert scorer.score(PREFIX, np.empty(0, np.int64)).shape == (0,)


@pytest.mark.filterwarnings("ignore:Some facts are longer")
def test_shortenings_are_counted_and_told_once(tiny: Callable[..., Backbone], facts: tuple[str, ...]) -> None:
    backbone = tiny("bert", positions=32)
    scorer = TorchScorer(make_model(backbone, "joint"), backbone.encoder.facts(facts))
    at_first = scorer.shortening.total
    with pytest.warns(ArcfWarning) as told:
        scorer.score(Prefix("heat " * 30, (0, 1)), IDS)
    scorer.score(Prefix("heat " * 31, (0, 1)), IDS)  # is not told again
    assert [str(one.message).partition(":")[0] for one in told] == [
        "A chain is longer than the model can read",
        "A question is longer than the model can read",
    ]
    assert scorer.shortening.total.facts_dropped == at_first.facts_dropped + 4
    assert scorer.shortening.total.questions_cut == at_first.questions_cut + 2


class TestLoad:
    def test_encoding_is_remembered(self, tmp_path: Path, backbone: Backbone, facts: tuple[str, ...]) -> None:
        backbone.save(tmp_path, "joint")
        expected = TorchScorer(make_model(backbone, "joint"), backbone.encoder.facts(facts)).score(PREFIX, IDS)
        scorer: Scorer = load_scorer(tmp_path, facts)
        np.testing.assert_allclose(scorer.score(PREFIX, IDS), expected, atol=1e-5)

    def test_without_torch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("arcf.scorer.network.scorer")
        monkeypatch.delitem(sys.modules, "arcf.scorer.network.scorer")
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'arcf\[train\]'"):
            load_scorer(tmp_path, [])
