import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import InputError, UnknownNameError
from arcf.evaluation.reachability import Reachability, hop_labels, hops, reachabilities, reachability
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.neighborhood.text import Analyzer
from arcf.types import Dataset, Fact, Gold, Question

# A path of words: each fact shares one word with the next.
PATH = ["sun heat", "heat ice", "ice water", "water rain", "moss"]
WORDS = ["ice", "water", "heat", "bird", "egg", "sun", "moss", "rain"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)


def dataset(texts: list[str], *questions: Question) -> Dataset:
    facts = tuple(Fact(f"uid-{index}", text) for index, text in enumerate(texts))
    return Dataset("made up", facts, {"train": questions, "other": questions})


def neighborhood(corpus: Dataset, name: str = "tfidf") -> Neighborhood:
    return Neighborhood(corpus.facts, DISTANCES[name].build(corpus.facts, ()))


def gold(*facts: int) -> tuple[Gold, ...]:
    return tuple(Gold(f"uid-{fact}") for fact in facts)


def test_hops_along_a_path() -> None:
    near = neighborhood(dataset(PATH))
    assert hops(near, "sun", range(5), 5) == {0: 1, 1: 2, 2: 3, 3: 4}
    assert hops(near, "sun", [0, 2, 3], 5) == {0: 1}
    assert hops(near, "zebra", range(5), 5) == {}
    assert hops(near, "sun", [], 5) == {}
    assert hops(near, "sun", range(5), 0) == {}


@given(st.lists(TEXT, min_size=1, max_size=10), TEXT, st.sets(st.integers(0, 9)), st.integers(0, 5), st.integers(0, 8))
def test_hops_equal_a_search_over_the_whole_graph(
    texts: list[str], query: str, picks: set[int], k: int, deepest: int
) -> None:
    near = neighborhood(dataset(texts))
    chosen = sorted({pick % len(texts) for pick in picks})
    sees = {source: set(near.nearest(source, k).tolist()) for source in (query, *chosen)}
    expected: dict[int, int] = {}
    for hop in range(1, len(texts) + 1):
        sources = [query] if hop == 1 else [fact for fact, at in expected.items() if at == hop - 1]
        for fact in chosen:
            if fact not in expected and any(fact in sees[source] for source in sources):
                expected[fact] = hop
    assert hops(near, query, chosen, k) == expected
    assert hops(near, query, chosen, k, deepest) == expected
    assert set(expected) <= set(hops(near, query, chosen, k + 1))


def test_the_fraction_is_a_mean_over_questions() -> None:
    questions = (
        Question("a", "sun", gold=gold(0, 1, 4)),
        Question("b", "moss", gold=gold(4)),
        Question("c", "without gold"),
        Question("d", "its gold exists nowhere", gold=(Gold("nowhere"),)),
        Question("e", "zebra", gold=(*gold(1), *gold(1), Gold("nowhere"))),
    )
    corpus = dataset(PATH, *questions)
    calls: list[int] = []
    reach = reachability(neighborhood(corpus), corpus, questions, 5, lambda: calls.append(1))
    assert reach == Reachability(5, pytest.approx((2 / 3 + 1 + 0) / 3), (2, 1), 2, 3)
    assert reach.histogram == {"1": 2, "2": 1, "inf": 2}
    assert len(calls) == 5


def test_hop_labels_by_question_and_uid() -> None:
    questions = (Question("a", "sun", gold=(*gold(0, 1, 4), Gold("nowhere"))), Question("b", "moss"))
    corpus = dataset(PATH, *questions)
    assert hop_labels(neighborhood(corpus), corpus, questions, 5) == {
        "a": {"uid-0": "1", "uid-1": "2", "uid-4": "inf"},
        "b": {},
    }


def test_several_distances_and_k() -> None:
    corpus = dataset(PATH, Question("a", "sun", gold=gold(0, 1, 4)))
    recipes = {name: DISTANCES[name] for name in ("overlap", "tfidf")}
    results = reachabilities(corpus, "other", recipes, [5, 1, 0])
    assert list(results) == ["overlap", "tfidf"]
    for name, reaches in results.items():
        near = Neighborhood(corpus.facts, DISTANCES[name].build(corpus.facts, corpus.split("train")))
        expected = tuple(reachability(near, corpus, corpus.split("other"), k) for k in (5, 1, 0))
        assert reaches == expected


def test_nothing_to_reach() -> None:
    corpus = dataset(PATH, Question("a", "sun"))
    with pytest.raises(InputError, match="have no gold facts in made up"):
        reachability(neighborhood(corpus), corpus, corpus.split("train"), 5)
    with pytest.raises(UnknownNameError, match="no split of made up named 'dev'"):
        reachabilities(corpus, "dev", {}, [5])


KS = (90, 130, 180, 290)


def fractions(corpus: Dataset) -> list[float]:
    return [reach.fraction for reach in reachabilities(corpus, "train", {"tfidf": DISTANCES["tfidf"]}, KS)["tfidf"]]


@pytest.mark.worldtree
def test_the_reference_on_worldtree_with_its_stop_words(
    worldtree_2020: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference took scikit-learn's stop words, the one thing in which our default differs."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    for module in ("text", "sparse", "store"):
        monkeypatch.setattr(f"arcf.neighborhood.{module}.stop_words", lambda: ENGLISH_STOP_WORDS)
    monkeypatch.setattr("arcf.neighborhood.sparse.analyzer", Analyzer)
    np.testing.assert_allclose(fractions(worldtree_2020), [0.934, 0.964, 0.979, 0.990], atol=0.002)


@pytest.mark.worldtree
def test_our_figures_on_worldtree(worldtree_2020: Dataset) -> None:
    """Above the reference and the paper: our stop words leave out "something" and its like, and keep "around"."""
    np.testing.assert_allclose(fractions(worldtree_2020), [0.936, 0.967, 0.983, 0.993], atol=0.002)
