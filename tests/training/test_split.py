from collections import Counter

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from arcf.errors import InputError
from arcf.training.settings import CorpusSettings
from arcf.training.split import split_questions
from arcf.types import Dataset, Fact, Gold, Question


def test_held_out_questions_are_never_learnt_from(dataset: Dataset) -> None:
    split = split_questions(dataset, CorpusSettings(held_out=5))
    assert len(split.held_out) == 5
    learnt, held_out = ({question.id for question in part} for part in (split.learnt, split.held_out))
    assert not learnt & held_out
    assert learnt | held_out == {question.id for question in dataset.split("train")} - {"bare"}
    assert split_questions(dataset, CorpusSettings(held_out=5, weight=2.0)) == split


@given(
    gold=st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=3), min_size=2, max_size=12),
    texts=st.lists(st.sampled_from("abcdefgh"), min_size=10, max_size=10),
    count=st.integers(1, 4),
)
def test_held_out_facts_are_in_no_learnt_explanation(gold: list[set[int]], texts: list[str], count: int) -> None:
    facts = tuple(Fact(f"u{number}", text) for number, text in enumerate(texts))
    questions = tuple(
        Question(f"q{number}", "?", gold=tuple(Gold(f"u{fact}") for fact in sorted(own)))
        for number, own in enumerate(gold)
    )
    dataset = Dataset("made-up", facts, {"train": questions})
    plain = split_questions(dataset, CorpusSettings(held_out=1))
    wanted = CorpusSettings(held_out=1, held_out_facts=count)
    try:
        split = split_questions(dataset, wanted)
    except InputError:
        reject()  # every question is explained by a held-out fact
    assert split == split_questions(dataset, wanted)
    assert split.held_out == plain.held_out
    assert sorted((*split.learnt, *split.new), key=lambda q: q.id) == sorted(plain.learnt, key=lambda q: q.id)
    shown = {fact.text for fact in split.shown.facts}
    hidden = {fact.text for fact in facts} - shown
    assert not hidden & {fact.text for fact in split.shown.facts}  # whichever uid has the text
    explained = [{facts[fact].text for fact in own} for own in gold]
    texts_of = dict(zip((question.id for question in questions), explained, strict=True))
    assert all(texts_of[question.id] <= shown for question in split.learnt)
    assert all(texts_of[question.id] & hidden for question in split.new)
    uses = Counter(text for question in plain.learnt for text in texts_of[question.id])
    assert len(hidden) == min(count, len(uses))
    assert max(uses[text] for text in hidden) <= min((uses[text] for text in shown & set(uses)), default=99)


def test_nothing_is_left_to_learn_from(dataset: Dataset) -> None:
    with pytest.raises(InputError, match="has 14 facts in learnt explanations; without 14 of them, nothing is left"):
        split_questions(dataset, CorpusSettings(held_out=2, held_out_facts=14))
