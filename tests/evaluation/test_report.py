"""The evaluation of a run as a whole, by hand."""

import json
from math import log2

import pytest

from arcf.errors import ArcfWarning
from arcf.evaluation import FactGroups, Group, evaluate
from arcf.runs.files import Run
from arcf.types import Dataset, Fact, Gold, Question

DATASET = Dataset(
    "tiny",
    tuple(Fact(uid, uid) for uid in "abcdef"),
    {
        "dev": (
            Question("Q1", "?", difficulty="Easy", gold=(Gold("a", "CENTRAL"), Gold("b", "LEXGLUE")), flags="SUCCESS"),
            Question("Q2", "?", difficulty="Easy", gold=(Gold("c", "CENTRAL"),), flags="to do"),
        )
    },
)
RUN = Run("mine", {"Q1": ("a", "c", "d", "e", "f", "b"), "Q2": ("a", "b", "d")})


def test_everything_by_hand() -> None:
    result = evaluate(RUN, DATASET, "dev")
    first = (1 + 2 / 6) / 2
    assert (result.run, result.dataset, result.split) == ("mine", "tiny", "dev")
    assert result.map_official == pytest.approx(first)
    assert result.map_all == pytest.approx(first / 2)
    assert result.map_2019 == pytest.approx(first / 2)
    assert (result.questions_official, result.questions_all, result.questions_2019) == (1, 2, 2)
    assert result.precision == pytest.approx({1: 1 / 2, 5: 1 / 10, 10: 2 / 20, 20: 2 / 40})
    assert result.recall == pytest.approx({1: 1 / 4, 5: 1 / 4, 10: 1 / 2, 20: 1 / 2})
    assert result.ndcg == pytest.approx((1 + 1 / log2(7)) / (1 + 1 / log2(3)) / 2)
    assert result.breakdowns["role"] == (Group("CENTRAL", 2, 2, 0.5), Group("LEXGLUE", 1, 1, pytest.approx(1 / 5)))
    assert result.breakdowns["difficulty"] == (Group("Easy", 2, 3, pytest.approx(first / 2)),)
    assert [group.name for group in result.breakdowns["gold_facts"]] == ["1", "2-3"]


def test_questions_one_by_one() -> None:
    first, second = evaluate(RUN, DATASET, "dev").questions
    assert (first.id, first.official, first.gold, first.found, first.first) == ("Q1", True, 2, 2, 1)
    assert (second.id, second.official, second.gold, second.found, second.first) == ("Q2", False, 1, 0, None)
    assert (second.average_precision, second.ndcg, second.predicted) == (0, 0, True)


def test_breakdowns_can_be_added() -> None:
    hops = FactGroups(("1", "2"), {"Q1": {"a": "1", "b": "2"}})
    result = evaluate(RUN, DATASET, "dev", {"hops": hops})
    assert result.breakdowns["hops"] == (Group("1", 1, 1, 1.0), Group("2", 1, 1, pytest.approx(1 / 5)))


def test_gold_that_training_uses_is_told_from_the_rest() -> None:
    """Where there is a training split with gold, and another one is scored."""
    assert "in_training" not in evaluate(RUN, DATASET, "dev").breakdowns
    learnt = (Question("T1", "?", gold=(Gold("a"),)), Question("T2", "?"))
    dataset = Dataset("tiny", DATASET.facts, {"train": learnt, **DATASET.splits})
    assert evaluate(RUN, dataset, "dev").breakdowns["in_training"] == (
        Group("seen", 1, 1, 1.0),
        Group("unseen", 2, 2, pytest.approx((1 / 5 + 0) / 2)),
    )
    with pytest.warns(ArcfWarning):
        own = evaluate(Run("mine", {"T1": ("a",), "Q1": ("a",)}), dataset, "train")
    assert "in_training" not in own.breakdowns
    masked = Dataset("tiny", DATASET.facts, {"train": learnt[1:], **DATASET.splits})
    assert "in_training" not in evaluate(RUN, masked, "dev").breakdowns


def test_json_holds_plain_values() -> None:
    result = evaluate(RUN, DATASET, "dev")
    record = json.loads(json.dumps(result.to_dict(per_question=True)))
    assert record["map_official"] == result.map_official
    assert record["precision"]["10"] == result.precision[10]
    assert record["breakdowns"]["role"][1]["map"] == pytest.approx(1 / 5)
    assert [entry["id"] for entry in record["per_question"]] == ["Q1", "Q2"]
    assert "per_question" not in result.to_dict()
