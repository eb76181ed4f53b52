"""Fusing rankings, against the formulas by hand, and ensembles of rankers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import SettingError, UnknownNameError
from arcf.rankers import FUSIONS, EnsembleSettings, RankerSettings, build_ranker, fuse
from arcf.scorer import packaged_model
from arcf.types import Dataset, Fact, Question, Ranking

DATASET = Dataset(
    "d", tuple(Fact(str(place), text) for place, text in enumerate(["moss is green", "ice melts", "ice", "the sun"]))
)


def ranking(scores: dict[int, float]) -> Ranking:
    facts = sorted(scores, key=lambda fact: (-scores[fact], fact))
    return Ranking("q", np.array(facts, dtype=np.int64), np.array([scores[fact] for fact in facts], dtype=np.float64))


RANKINGS = st.dictionaries(st.integers(0, 9), st.floats(-50, 50), min_size=1).map(ranking)


def test_scores_run_from_0_to_1_and_are_added() -> None:
    fused = fuse([ranking({0: 4.0, 1: 2.0, 2: 0.0}), ranking({1: 10.0, 2: 5.0})], (0.25, 0.75))
    assert fused.facts.tolist() == [1, 0, 2]
    assert fused.scores.tolist() == pytest.approx([0.25 * 0.5 + 0.75, 0.25, 0.0])


def test_reciprocal_ranks_are_those_of_cormack_et_al() -> None:
    fused = fuse([ranking({0: 4.0, 1: 2.0}), ranking({2: 10.0, 1: 5.0})], method="reciprocal-rank")
    assert fused.facts.tolist() == [1, 0, 2]
    assert fused.scores.tolist() == pytest.approx([2 / 62, 1 / 61, 1 / 61])


@pytest.mark.parametrize("method", sorted(FUSIONS))
@given(one=RANKINGS, other=RANKINGS)
def test_every_fact_once_and_scores_that_fall(method: str, one: Ranking, other: Ranking) -> None:
    fused = fuse([one, other], method=method)
    assert sorted(fused.facts.tolist()) == sorted({*one.facts.tolist(), *other.facts.tolist()})
    pairs = list(zip((-fused.scores).tolist(), fused.facts.tolist(), strict=True))
    assert pairs == sorted(pairs)
    # One alone, or with all the weight, keeps its order.
    alone = fuse([one], method=method)
    both = fuse([one, other], (1.0, 0.0), method).facts
    kept = [fact for fact in both.tolist() if fact in set(one.facts.tolist())]
    assert kept == alone.facts.tolist()


def test_equal_scores_and_nothing_ranked() -> None:
    assert fuse([ranking({1: 3.0, 0: 3.0})]).scores.tolist() == [1.0, 1.0]
    empty = Ranking("q", np.empty(0, np.int64), np.empty(0))
    assert fuse([empty, empty]).facts.tolist() == []
    with pytest.raises(SettingError, match="no ranking to fuse"):
        fuse([])


def test_an_ensemble_fuses_its_members() -> None:
    question = Question("q", "Why does ice melt?")
    members = [build_ranker(RankerSettings(kind), DATASET).rank(question) for kind in ("tfidf", "bm25")]
    settings = EnsembleSettings(("tfidf", "bm25"), (0.7, 0.3))
    found = build_ranker(RankerSettings("ensemble", ensemble=settings), DATASET).rank(question)
    expected = fuse(members, (0.7, 0.3))
    assert found.facts.tolist() == expected.facts.tolist()
    assert found.scores.tolist() == expected.scores.tolist()


def test_a_member_may_have_a_model_of_its_own_which_is_part_of_its_identity() -> None:
    named = EnsembleSettings(("tfidf", f"single-fact:{packaged_model()}"))
    question = Question("q", "Why does ice melt?")
    rankings = [
        build_ranker(RankerSettings("ensemble", ensemble=settings), DATASET).rank(question)
        for settings in (named, EnsembleSettings(("tfidf", "single-fact")))
    ]
    assert rankings[0].facts.tolist() == rankings[1].facts.tolist()
    assert len(RankerSettings("ensemble", ensemble=named).identity()["members"]) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "An ensemble has members"),
        ({"members": ("tfidf:model",)}, "tfidf has no use for the model model"),
        ({"members": ("ensemble",)}, "no member of an ensemble"),
        ({"members": ("tfidf", "bm25"), "weights": (1.0,)}, "give 2 of them, not 1"),
        ({"members": ("tfidf", "bm25"), "weights": (1.0, -1.0)}, "at least 0"),
        ({"members": ("tfidf", "bm25"), "weights": (0.0, 0.0)}, "not all of them 0"),
    ],
)
def test_ensembles_that_cannot_be(settings: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        build_ranker(RankerSettings("ensemble", ensemble=EnsembleSettings(**settings)), DATASET)  # type: ignore[arg-type]


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="way to fuse"):
        EnsembleSettings(("tfidf",), method="votes")
    with pytest.raises(UnknownNameError, match="Did you mean 'bm25'"):
        build_ranker(RankerSettings("ensemble", ensemble=EnsembleSettings(("bm52",))), DATASET)


def test_members_come_from_toml_and_from_the_command_line() -> None:
    values = {"kind": "ensemble", "ensemble": {"members": ["tfidf", "bm25"], "weights": [1, 0.5]}}
    assert RankerSettings.from_dict(values).ensemble == EnsembleSettings(("tfidf", "bm25"), (1.0, 0.5))
    with pytest.raises(SettingError, match=r"'ensemble\.weights\[1\]' takes a number"):
        RankerSettings.from_dict({"ensemble": {"members": ["tfidf", "bm25"], "weights": [1, "x"]}})
    with pytest.raises(SettingError, match="takes a list, each entry a text"):
        RankerSettings.from_dict({"ensemble": {"members": "tfidf"}})
