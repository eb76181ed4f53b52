"""Facts as arrays: the same facts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.kept.facts import KeptFacts, TextFacts
from arcf.types import Dataset, Fact, Gold, Question, cores_of, number_texts, texts_of

WORDS = st.sampled_from(["ice", "水", "", "a b"])
FACTS = st.lists(st.tuples(WORDS, st.sampled_from(["", "KINDOF", "USED"]), WORDS), max_size=8)


@given(FACTS)
def test_as_a_tuple_of_facts(rows: list[tuple[str, str, str]]) -> None:
    facts = tuple(Fact(f"uid-{place}", text, table, core) for place, (text, table, core) in enumerate(rows))
    kept = KeptFacts(KeptFacts.arrays(facts))
    assert tuple(kept) == facts == kept[:] == tuple(KeptFacts(KeptFacts.arrays(kept)))
    assert [kept[place] for place in range(-len(facts), len(facts))] == [*facts, *facts]
    assert list(texts_of(kept)) == list(texts_of(facts))
    assert list(cores_of(kept)) == list(cores_of(facts))
    assert dict(kept.ids) == {fact.uid: place for place, fact in enumerate(facts)}
    np.testing.assert_array_equal(number_texts(kept), number_texts(facts))
    with pytest.raises(IndexError):
        kept[len(facts)]


def test_in_a_dataset() -> None:
    facts = (Fact("a", "ice melts"), Fact("b", "ice melts"), Fact("c", "heat"))
    question = Question("q", "what?", gold=(Gold("c"), Gold("nowhere"), Gold("a")))
    plain, kept = Dataset("plain", facts), Dataset("kept", KeptFacts(KeptFacts.arrays(facts)))
    assert list(plain.texts) == list(kept.texts)
    assert plain.gold_ids(question) == kept.gold_ids(question) == (2, 0)
    assert "nowhere" not in kept.ids


def test_texts_as_facts() -> None:
    facts = TextFacts(["ice", "heat", "ice"])
    assert tuple(facts) == facts[:] == (Fact("", "ice"), Fact("", "heat"), Fact("", "ice"))
    assert facts[1] == Fact("", "heat")
    assert number_texts(facts).tolist() == [0, 1, 0]
    assert (len(facts), dict(facts.ids), list(facts.cores)) == (3, {}, [])


def test_equal_facts_are_equal() -> None:
    facts = (Fact("a", "ice melts", "KINDOF", "ice"), Fact("b", "heat", "USED"))
    first, second = (KeptFacts(KeptFacts.arrays(facts)) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    for changed in (
        Fact("c", "heat", "USED"),
        Fact("b", "cold", "USED"),
        Fact("b", "heat", "KINDOF"),
        Fact("b", "heat", "MADE"),
        Fact("b", "heat", "USED", "he"),
    ):
        assert KeptFacts(KeptFacts.arrays((facts[0], changed))) != first
