import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from arcf.errors import UnknownNameError
from arcf.types import Candidate, Chain, Dataset, Fact, Gold, Option, Question, RankedFact, Ranking, Step

QUESTION = Question("q", "What wades?", (Option("A", "a heron"), Option("B", "moss")), "a heron")


def test_core_falls_back_to_the_text() -> None:
    assert Fact("1", "moss is green").core == "moss is green"
    assert Fact("1", "moss is green", core="moss green").core == "moss green"


def test_query_forms() -> None:
    assert QUESTION.query() == QUESTION.asked("answer").query() == "What wades? (answer) a heron"
    assert QUESTION.asked("stem").query() == QUESTION.asked("stem").text == "What wades?"
    assert QUESTION.asked("options").query() == QUESTION.asked("options").text == "What wades? (A) a heron (B) moss"
    assert Question("q", "What wades?").query() == "What wades?"
    assert Question("q", "What wades?").asked("options").query() == "What wades?"


def test_a_ranking_by_name() -> None:
    facts = (Fact("a", "x"), Fact("b", "y"), Fact("c", "z"))
    ranking = Ranking("q", np.array([2, 0, 1]), np.array([3.0, 2.0, 1.0]))
    assert ranking.top(2).named(facts) == (RankedFact("c", "z", 3.0), RankedFact("a", "x", 2.0))
    assert ranking.top(None).facts.tolist() == [2, 0, 1]


def test_datasets_map_uids_to_positions_and_cannot_be_changed() -> None:
    dataset = Dataset("d", (Fact("a", "x"), Fact("b", "y")), {"dev": (QUESTION,)})
    assert dict(dataset.ids) == {"a": 0, "b": 1}
    assert dataset.split("dev") == (QUESTION,)
    with pytest.raises(TypeError):
        dataset.splits["dev"] = ()  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        dataset.name = "e"  # type: ignore[misc]
    with pytest.raises(UnknownNameError, match="no split of d named 'test'; choose one of: dev"):
        dataset.split("test")


def test_gold_ids_are_known_and_unique_in_annotated_order() -> None:
    dataset = Dataset("d", (Fact("a", "x"), Fact("b", "y")))
    gold = (Gold("b"), Gold("nowhere"), Gold("a", "CENTRAL"), Gold("b", "ROLE"))
    assert dataset.gold_ids(Question("q", "?", gold=gold)) == (1, 0)


def test_a_chain_lists_its_facts_in_order() -> None:
    steps = (Step(Candidate(5, 0.9), ()), Step(Candidate(2, 0.7), ()))
    assert Chain(QUESTION, steps, stopped=True).facts == (5, 2)


def test_a_dataset_travels() -> None:
    dataset = Dataset("d", (Fact("a", "x"),), {"train": (QUESTION,)}, (QUESTION, QUESTION))
    assert dict(dataset.ids) == {"a": 0}
    for copied in (pickle.loads(pickle.dumps(dataset)), copy.deepcopy(dataset)):  # noqa: S301
        assert copied == dataset
        assert copied.ids == dataset.ids
