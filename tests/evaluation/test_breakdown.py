"""Breakdowns worked out by hand."""

import pytest

from arcf.evaluation.breakdown import FactGroups, Group, by_difficulty, by_fact, by_gold_size, by_role, by_training
from arcf.evaluation.judgement import Judgement, judge_ranking
from arcf.types import Gold, Question


def judgement(ranking: str, gold: str, name: str = "q", difficulty: str = "") -> Judgement:
    """A judgement; gold is written `uid:ROLE uid:ROLE`."""
    facts = tuple(Gold(*entry.split(":")) for entry in gold.split())
    return judge_ranking(Question(name, "Why?", difficulty=difficulty, gold=facts), ranking.split())


def test_role_takes_the_other_gold_out_of_gold_and_ranking() -> None:
    # Without the others: CENTRAL ranks x a d -> 2, 3; GROUNDING ranks x b -> 2; BACKGROUND is not reported.
    first = judgement("x a b c d", "a:CENTRAL b:GROUNDING d:CENTRAL c:BACKGROUND e:LEXGLUE")
    second = judgement("b y", "b:GROUNDING")
    assert by_role([first, second]) == (
        Group("CENTRAL", questions=1, facts=2, map=pytest.approx((1 / 2 + 2 / 3) / 2)),
        Group("GROUNDING", questions=2, facts=2, map=pytest.approx((1 / 2 + 1) / 2)),
        Group("LEXGLUE", questions=1, facts=1, map=0.0),
    )


def test_a_fact_annotated_in_two_roles_belongs_to_both() -> None:
    # CENTRAL: gold a, b; ranking x a b -> 2, 3. LEXGLUE: gold a; ranking x a -> 2.
    central, lexglue = by_role([judgement("x a b", "a:CENTRAL a:LEXGLUE b:CENTRAL")])
    assert central == Group("CENTRAL", 1, 2, pytest.approx((1 / 2 + 2 / 3) / 2))
    assert lexglue == Group("LEXGLUE", 1, 1, 1 / 2)


def test_role_in_any_case_and_uids_in_any_case() -> None:
    assert by_role([judgement("x a", "A:central")]) == (Group("CENTRAL", 1, 1, 1 / 2),)


def test_training_takes_the_other_gold_out_of_gold_and_ranking() -> None:
    # Seen: gold a, c; ranking x a c -> 2, 3. Unseen: gold b, d; ranking x b, and d is not ranked -> 2.
    first = judgement("x a b c", "A: b: c: d:")
    second = judgement("b y", "b:")
    learnt = [Question("t1", "?", gold=(Gold("a"), Gold("nowhere"))), Question("t2", "?", gold=(Gold("C"),))]
    assert by_training([first, second], learnt) == (
        Group("seen", questions=1, facts=2, map=pytest.approx((1 / 2 + 2 / 3) / 2)),
        Group("unseen", questions=2, facts=3, map=pytest.approx((1 / 2 / 2 + 1) / 2)),
    )
    assert [group.name for group in by_training([first], [])] == ["unseen"]


def test_difficulty_leaves_out_questions_without_one() -> None:
    judgements = [
        judgement("a", "a:", difficulty="Easy"),
        judgement("x a", "a:", difficulty="Easy"),
        judgement("x y", "a: b:", difficulty="Challenge"),
        judgement("a", "a:"),
    ]
    assert by_difficulty(judgements) == (Group("Challenge", 1, 2, 0.0), Group("Easy", 2, 2, 0.75))


def test_gold_size_goes_by_different_facts() -> None:
    sizes = {1: "1", 2: "2-3", 3: "2-3", 4: "4-6", 6: "4-6", 7: "7-10", 10: "7-10", 11: "11-15", 15: "11-15", 16: "16+"}
    for size, name in sizes.items():
        gold = " ".join(f"u{number}:" for number in range(size))
        assert [group.name for group in by_gold_size([judgement("", gold)])] == [name]
    assert by_gold_size([judgement("a", "a: a:")]) == (Group("1", 1, 2, 1 / 2),)


def test_groups_made_elsewhere() -> None:
    hops = FactGroups(("1", "2", "inf"), {"q1": {"a": "1", "b": "2"}, "q2": {"a": "2"}})
    judgements = [judgement("x b a", "a: b:", "q1"), judgement("a", "a: c:", "q2"), judgement("a", "a:", "q3")]
    assert by_fact(judgements, hops.names, hops.group) == (Group("1", 1, 1, 1 / 2), Group("2", 2, 2, 0.75))
