"""Measures against ir-measures on random rankings, and against numbers worked out by hand."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P, R, nDCG

from arcf.evaluation.measures import average_precision, gold_ranks, ndcg, precision, recall

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


def test_gold_ranks_count_a_repeated_fact_once() -> None:
    assert gold_ranks(["a", "b", "a", "c", "b", "d"], ["d", "c", "x", "c"]) == {"c": 3, "d": 4}


def test_average_precision_by_hand() -> None:
    assert average_precision([2, 3, 10], 4) == pytest.approx((1 / 2 + 2 / 3 + 3 / 10) / 4)
    assert average_precision([], 4) == 0


def test_precision_of_a_short_ranking_divides_by_the_cutoff() -> None:
    assert precision([1, 2], 20) == 0.1
