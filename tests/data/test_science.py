"""The packaged corpus: large enough, well formed, and with chains that need more than the question's own words."""

from collections import Counter

import pytest

from arcf.data import load
from arcf.neighborhood import Analyzer
from arcf.types import Dataset, Question


@pytest.fixture(scope="module")
def science() -> Dataset:
    return load()


@pytest.fixture(scope="module")
def questions(science: Dataset) -> tuple[Question, ...]:
    return tuple(question for split in science.splits.values() for question in split)


def test_it_is_the_default_and_large_enough(science: Dataset, questions: tuple[Question, ...]) -> None:
    assert science.name == "science"
    assert len(science.facts) >= 500
    assert len(questions) >= 60
    assert set(science.splits) == {"train", "dev"}


def test_facts_differ_and_have_a_table_and_a_core(science: Dataset) -> None:
    assert len({fact.text for fact in science.facts}) == len(science.facts)
    assert all(fact.table and fact.core for fact in science.facts)
    assert {"KINDOF", "MEANS", "CAUSE", "IFTHEN", "PROPERTY", "SYNONYM"} <= {fact.table for fact in science.facts}


def test_questions_have_options_an_answer_and_two_to_eight_gold_facts(questions: tuple[Question, ...]) -> None:
    for question in questions:
        assert question.answer in {option.text for option in question.options}
        assert 2 <= len(question.gold) <= 8
        assert {gold.role for gold in question.gold} <= {"CENTRAL", "GROUNDING", "LEXGLUE", "BACKGROUND"}
    assert len({question.id for question in questions}) == len(questions)
    assert Counter(len(question.gold) for question in questions).keys() == set(range(2, 9))


def test_every_gold_fact_is_connected_and_many_are_only_reached_through_others(
    science: Dataset, questions: tuple[Question, ...]
) -> None:
    analyzer = Analyzer()
    multi_hop = 0
    for question in questions:
        asked = set(analyzer.terms(question.text))
        gold = [set(analyzer.terms(science.facts[fact].text)) for fact in science.gold_ids(question)]
        assert len(gold) == len(question.gold)
        reached, rest = asked, gold
        while near := [terms for terms in rest if terms & reached]:
            rest = [terms for terms in rest if not terms & reached]
            reached = reached.union(*near)
        assert not rest, question.id
        multi_hop += any(not terms & asked for terms in gold)
    assert multi_hop >= 0.45 * len(questions)
