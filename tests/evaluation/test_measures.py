"""Measures against ir-measures on random rankings, and against numbers worked out by hand."""

from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P, R, nDCG

from arcf.evaluation.measures import average_precision, gold_ranks, graded_ndcg, ndcg, precision, recall

UIDS = [f"u{number}" for number in range(12)]

rankings = st.lists(st.sampled_from(UIDS), unique=True, min_size=1)
golds = st.lists(st.sampled_from([*UIDS, "nowhere"]), unique=True, min_size=1)


def reference(measure: ir_measures.Measure, ranking: list[str], relevance: dict[str, int]) -> float:
    run = {"q": {uid: float(-place) for place, uid in enumerate(ranking)}}
    value: float = ir_measures.calc_aggregate([measure], {"q": relevance}, run)[measure]
    return value


@given(rankings, golds, st.sampled_from([1, 5, 10, 20]))
def test_equal_to_ir_measures(ranking: list[str], gold: list[str], cutoff: int) -> None:
    ranks = gold_ranks(ranking, gold).values()
    relevance = dict.fromkeys(gold, 1)
    assert average_precision(ranks, len(gold)) == pytest.approx(reference(AP, ranking, relevance))
    assert precision(ranks, cutoff) == pytest.approx(reference(P @ cutoff, ranking, relevance))
    assert recall(ranks, len(gold), cutoff) == pytest.approx(reference(R @ cutoff, ranking, relevance))
    assert ndcg(ranks, len(gold)) == pytest.approx(reference(nDCG, ranking, relevance))


@given(st.permutations(UIDS), st.dictionaries(st.sampled_from(UIDS), st.integers(1, 6), min_size=1))
def test_graded_ndcg_of_complete_rankings_equals_ir_measures(ranking: list[str], relevance: dict[str, int]) -> None:
    gains = {uid: 2**grade - 1 for uid, grade in relevance.items()}
    assert graded_ndcg(ranking, relevance) == pytest.approx(reference(nDCG, ranking, gains))


def test_gold_ranks_count_a_repeated_fact_once() -> None:
    assert gold_ranks(["a", "b", "a", "c", "b", "d"], ["d", "c", "x", "c"]) == {"c": 3, "d": 4}


def test_average_precision_by_hand() -> None:
    assert average_precision([2, 3, 10], 4) == pytest.approx((1 / 2 + 2 / 3 + 3 / 10) / 4)
    assert average_precision([], 4) == 0


def test_precision_of_a_short_ranking_divides_by_the_cutoff() -> None:
    assert precision([1, 2], 20) == 0.1


def test_graded_ndcg_by_hand() -> None:
    # Ranking b, x, a; grades a 2 (gain 3), b 1 (gain 1): b at rank 1, a at rank 3; ideal a at 1, b at 2.
    expected = (1 / log2(2) + 3 / log2(4)) / (3 / log2(2) + 1 / log2(3))
    assert graded_ndcg(["b", "x", "b", "a"], {"a": 2, "b": 1}) == pytest.approx(expected)


def test_graded_ndcg_puts_missing_facts_far_below() -> None:
    # One ranked fact; the first missing one at rank 1 + 10^6, the second one above it.
    found = 1 / log2(2) + 3 / log2(10**6 + 2) + 1 / log2(10**6 + 1)
    assert graded_ndcg(["a"], {"a": 1, "b": 2, "c": 1}) == pytest.approx(found / (3 + 1 / log2(3) + 1 / log2(4)))


def test_graded_ndcg_without_relevance() -> None:
    assert graded_ndcg(["a"], {}) == 1
    assert graded_ndcg(["a"], {"a": 0, "b": 0}) == 0
