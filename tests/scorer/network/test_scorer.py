import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from arcf.errors import ArcfWarning, MissingExtraError, SettingError
from arcf.scorer import STOP, Prefix, Scorer, ScorerSettings, load_scorer
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.joint import pair
from arcf.scorer.network.scorer import ENCODINGS, TOKENS_PER_CALL, TorchScorer, find_device, make_model
from arcf.scorer.tokens import Batch

PREFIX = Prefix("What is ice (answer) a solid.", (1, 3))
IDS = np.array([4, STOP, 0, 6, 2, 4])


@pytest.fixture(params=ENCODINGS)
def scorer(request: pytest.FixtureRequest, backbone: Backbone, facts: tuple[str, ...]) -> TorchScorer:
    settings = ScorerSettings(request.param, read_ahead=2 if request.param == "late" else 0)
    return TorchScorer(make_model(backbone.with_settings(settings), request.param), backbone.tokenizer.facts(facts))


def test_is_the_models_forward_pass(scorer: TorchScorer) -> None:
    tokenizer = scorer.model.backbone.tokenizer
    batch = Batch.of([tokenizer.prefix(PREFIX.query, PREFIX.facts, scorer.facts)], [IDS], scorer.facts)
    with torch.no_grad():
        expected = scorer.model.eval()(batch).numpy()
    scores = scorer.score(PREFIX, IDS)
    assert scores.dtype == np.float32
    # What is read ahead is kept in half precision.
    np.testing.assert_allclose(scores, expected, atol=5e-4 if scorer.kept else 1e-5)


def test_in_mixed_precision(scorer: TorchScorer) -> None:
    """As validation computes in the middle of training, on machines that multiply in bfloat16."""
    expected = scorer.score(PREFIX, IDS)
    fresh = TorchScorer(scorer.model, scorer.facts)  # It has read no fact yet.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        np.testing.assert_allclose(fresh.score(PREFIX, IDS), expected, atol=0.3)


def test_calls_of_any_size_give_the_same(scorer: TorchScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scorer.score(PREFIX, IDS)
    monkeypatch.setitem(TOKENS_PER_CALL, "cpu", 10)
    np.testing.assert_allclose(scorer.score(PREFIX, IDS), whole, atol=1e-5)


def test_a_fact_is_read_when_it_is_first_scored_and_never_again(
    tiny: Callable[..., Backbone], facts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone = tiny("bert").with_settings(ScorerSettings("late", read_ahead=2))
    scorer = TorchScorer(make_model(backbone, "late"), backbone.tokenizer.facts(facts))
    read, prepare = [], scorer.model.prepare
    monkeypatch.setattr(scorer.model, "prepare", lambda rows: read.append(len(rows)) or prepare(rows))
    assert scorer.score(PREFIX, IDS).shape == (6,)
    assert read == [5]
    scorer.score(Prefix("What melts?", (2,)), np.array([4, 5, STOP]))
    scorer.score(PREFIX, IDS)
    assert read == [5, 1]


def test_calls_are_no_larger_than_asked(scorer: TorchScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The joint encoding reads the prefix with every candidate: that counts."""
    limit, sizes, score = 60, [], scorer.model.score
    form = scorer.model.backbone.tokenizer.form
    monkeypatch.setitem(TOKENS_PER_CALL, "cpu", limit)

    def counted(read: Any, rows: Any, counts: NDArray[np.int64]) -> torch.Tensor:
        computed = pair(read, rows, counts, form).rows if scorer.model.name == "joint" else rows
        sizes.append((int(computed.lengths.sum()), int(computed.lengths.max())))
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
    scorer = TorchScorer(make_model(backbone, "joint"), backbone.tokenizer.facts(facts))
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


class TestDevice:
    def test_of_its_name(self) -> None:
        assert find_device("cpu") == torch.device("cpu")
        assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")

    # Not built in, out of range, without numbers in it, another library's, and no device at all.
    @pytest.mark.parametrize("name", ["xpu", "cuda:99", "meta", "hpu", "gpu", "cuda:one", "CPU", ""])
    def test_none_that_torch_can_use_here(self, name: str) -> None:
        with pytest.raises(SettingError, match=f"The device {name} is none that torch can use here; take cpu or auto"):
            find_device(name)

    def test_is_checked_before_the_model_is_loaded(self, tmp_path: Path) -> None:
        with pytest.raises(SettingError, match="The device nowhere is none"):
            load_scorer(tmp_path, [], device="nowhere")


class TestLoad:
    def test_encoding_is_remembered(self, tmp_path: Path, backbone: Backbone, facts: tuple[str, ...]) -> None:
        backbone.with_settings(ScorerSettings(encoding="joint")).save(tmp_path)
        expected = TorchScorer(make_model(backbone, "joint"), backbone.tokenizer.facts(facts)).score(PREFIX, IDS)
        scorer: Scorer = load_scorer(tmp_path, facts)
        np.testing.assert_allclose(scorer.score(PREFIX, IDS), expected, atol=1e-5)

    def test_without_torch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("arcf.scorer.network.scorer")
        monkeypatch.delitem(sys.modules, "arcf.scorer.network.scorer")
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'arcf\[train\]'"):
            load_scorer(tmp_path, [])
