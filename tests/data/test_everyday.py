"""The corpus in `benchmarks/everyday`: whole, and with gold that exists."""

from pathlib import Path

from arcf.data import load

FOLDER = Path(__file__).parents[2] / "benchmarks" / "everyday"


def test_every_question_has_an_answer_and_known_gold() -> None:
    dataset = load(FOLDER)
    questions = dataset.split("dev")
    assert len(dataset.facts) >= 100
    assert len(questions) == 30
    for question in questions:
        assert question.answer
        assert 2 <= len(dataset.gold_ids(question)) == len(question.gold)
    assert {question.id.partition("-")[0] for question in questions} == {"net", "cook", "law"}
    assert len({fact.text.casefold() for fact in dataset.facts}) == len(dataset.facts)
