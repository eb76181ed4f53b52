"""What every lexical distance of the registry must keep to, against brute force on random small corpora."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import SettingError
from arcf.neighborhood import DISTANCES, Analyzer, Lexical, SparseDistance, TfIdf
from arcf.neighborhood.sparse import _largest
from arcf.types import Fact, Question

LEXICAL = sorted(name for name, recipe in DISTANCES.items() if isinstance(recipe, Lexical))
ANALYZER = Analyzer()
WORDS = ["ice", "water", "heat", "bird", "egg", "sun", "moss", "rain", "rock", "fire", "the", "7"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=12)

every_lexical = pytest.mark.parametrize("name", LEXICAL)


def build(name: str, texts: list[str]) -> SparseDistance:
    facts = [Fact(str(index), text) for index, text in enumerate(texts)]
    distance = DISTANCES[name].build(facts, [Question("q", "which sun heats rocks")])
    assert isinstance(distance, SparseDistance)
    return distance


def related(text: str, other: str) -> bool:
    return bool(set(ANALYZER.terms(text)) & set(ANALYZER.terms(other)))


@every_lexical
@given(CORPUS, TEXT, st.integers(0, 14))
def test_nearest_to_a_text_equals_a_full_sort(name: str, texts: list[str], query: str, k: int) -> None:
    distance = build(name, texts)
    distances = distance.distances(query)
    order = np.lexsort((np.arange(len(texts)), distances)).tolist()
    assert distance.nearest(query, k).tolist() == [fact for fact in order if related(query, texts[fact])][:k]
    dot_products = distance.vectors.toarray()[:, distance.vector(query).terms] @ distance.vector(query).values
    np.testing.assert_allclose(distances, distance.limit - dot_products, atol=1e-12)


@every_lexical
@given(CORPUS, st.integers(0, 14), st.data())
def test_nearest_to_a_fact_is_as_to_its_text_without_itself(
    name: str, texts: list[str], k: int, data: st.DataObject
) -> None:
    distance = build(name, texts)
    fact = data.draw(st.integers(0, len(texts) - 1))
    similarity = distance.vectors.toarray()[:, distance.vector(fact).terms] @ distance.vector(fact).values
    found = distance.nearest(fact, k).tolist()
    others = [other for other in range(len(texts)) if other != fact and related(texts[fact], texts[other])]
    assert len(found) == min(k, len(others))
    assert set(found) <= set(others)
    assert np.all(np.diff(similarity[found]) <= 1e-12)
    left = sorted(set(others) - set(found))
    assert not found or not left or similarity[left].max() <= similarity[found[-1]] + 1e-12


@every_lexical
@given(CORPUS, TEXT, st.integers(0, 12))
def test_the_k_nearest_are_the_first_of_more(name: str, texts: list[str], query: str, k: int) -> None:
    distance = build(name, texts)
    for source in (query, 0):
        assert distance.nearest(source, k).tolist() == distance.nearest(source, k + 1)[:k].tolist()


@every_lexical
@given(CORPUS)
def test_symmetric_distances_are_equal_to_the_bit_in_both_directions(name: str, texts: list[str]) -> None:
    distance = build(name, texts)
    if not distance.symmetric:
        return
    rows = []
    for fact in range(len(texts)):
        similarity = np.zeros(len(texts))
        distance._accumulate(distance.vector(fact), similarity)
        rows.append(similarity)
    assert np.array_equal(np.array(rows), np.array(rows).T)


@every_lexical
@given(CORPUS, TEXT.filter(ANALYZER.terms))
def test_facts_with_equal_text_see_each_other_first_and_never_themselves(
    name: str, texts: list[str], twin: str
) -> None:
    distance = build(name, [twin, *texts, twin])
    last = len(texts) + 1
    for query in (twin, *texts):
        distances = distance.distances(query)
        assert distances[0] == distances[last]
    for fact, other in ((0, last), (last, 0)):
        found = distance.nearest(fact, last + 1).tolist()
        assert fact not in found
        assert other in found
        if distance.symmetric:
            assert distance.distances(twin)[other] <= distance.distances(twin)[found].min() + 1e-12


@every_lexical
@pytest.mark.parametrize("query", ["", "the", "zebra", "1984", "🦩"])
def test_a_text_without_a_known_word_is_near_to_nothing(name: str, query: str) -> None:
    distance = build(name, ["ice melts", "water flows"])
    assert distance.nearest(query, 5).tolist() == []
    assert distance.distances(query).tolist() == [distance.limit] * 2


@every_lexical
def test_a_corpus_of_nothing_of_one_fact_and_of_facts_without_words(name: str) -> None:
    nothing = build(name, [])
    assert (nothing.size, nothing.nearest("ice", 3).tolist(), nothing.distances("ice").tolist()) == (0, [], [])
    one = build(name, ["ice melts"])
    assert one.nearest("ice", 3).tolist() == [0]
    assert one.nearest(0, 3).tolist() == []
    wordless = build(name, ["the", "", "7"])
    assert wordless.nearest(0, 3).tolist() == wordless.nearest("ice", 3).tolist() == []


@every_lexical
def test_fact_ids_may_be_numpy_integers(name: str) -> None:
    distance = build(name, ["ice melts", "ice water", "water flows"])
    for kind in (np.int64, np.int32, np.uint8):
        assert distance.nearest(kind(1), 3).tolist() == distance.nearest(1, 3).tolist()


@pytest.mark.parametrize("fact", [-1, 3, np.int64(3)])
def test_a_fact_id_that_no_fact_has(fact: int) -> None:
    distance = build("tfidf", ["ice melts", "ice water", "water flows"])
    with pytest.raises(SettingError, match=f"There is no fact {fact}: the corpus has 3 facts"):
        distance.nearest(fact, 3)


def test_an_interrupted_search_leaves_no_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    distance = build("tfidf", ["ice melts", "ice water", "water flows"])
    expected = distance.nearest("water", 3).tolist()

    with monkeypatch.context() as patch:
        patch.setattr(distance, "_starts", distance._starts[:-1])  # the search breaks off at the last term
        with pytest.raises(IndexError):
            distance.nearest("ice water flows", 3)
    assert distance.nearest("water", 3).tolist() == expected


@given(st.lists(st.sampled_from([0.25, 0.5, 0.5000001, 1.0]), max_size=40), st.integers(-1, 45), st.integers(0, 99))
def test_largest_equals_a_full_sort_in_whatever_order_facts_come(values: list[float], k: int, seed: int) -> None:
    facts = np.arange(len(values)) * 3
    shuffled = np.random.default_rng(seed).permutation(len(values))
    array = np.array(values, dtype=np.float64)
    expected = facts[np.lexsort((facts, -array))][: max(k, 0)]
    assert np.array_equal(_largest(array[shuffled], facts[shuffled], k), expected)


def test_the_size_of_the_index_is_that_of_its_arrays() -> None:
    small, large = build("tfidf", WORDS), build("tfidf", WORDS * 50)
    assert 0 < small.nbytes < large.nbytes < 100 * small.nbytes


def test_core_twice_counts_what_is_not_filler_twice() -> None:
    facts = [Fact("a", "ice is a kind of solid", core="ice solid"), Fact("b", "ice melts")]
    distance = Lexical(TfIdf(), core_twice=True).build(facts, [])
    row = slice(*distance.rows.starts[:2])
    terms = [distance.vocabulary[term] for term in distance.rows.terms[row]]
    counts = dict(zip(terms, distance.state()["counts"][row].tolist(), strict=True))
    assert counts == {"ic": 2, "kind": 1, "solid": 2}
