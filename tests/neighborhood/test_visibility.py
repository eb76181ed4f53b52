from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import SettingError
from arcf.neighborhood import DISTANCES, Lexical, Neighborhood
from arcf.types import Fact, SeenFrom

LEXICAL = sorted(name for name, recipe in DISTANCES.items() if isinstance(recipe, Lexical))
WORDS = ["ice", "water", "heat", "bird", "egg", "sun", "moss", "rain", "the"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=14)
K = st.integers(0, 16)
PICKS = st.lists(st.integers(0, 13), max_size=5)

every_lexical = pytest.mark.parametrize("name", LEXICAL)


def neighborhood(name: str, texts: list[str]) -> Neighborhood:
    facts = [Fact(str(index), text) for index, text in enumerate(texts)]
    return Neighborhood(facts, DISTANCES[name].build(facts, []))


def chain_of(picks: list[int], texts: list[str]) -> list[int]:
    return list(dict.fromkeys(pick % len(texts) for pick in picks))


@every_lexical
@given(CORPUS, TEXT, PICKS, K)
def test_visible_equals_brute_force(name: str, texts: list[str], query: str, picks: list[int], k: int) -> None:
    near, chain = neighborhood(name, texts), chain_of(picks, texts)
    seen: dict[int, None] = {}
    for source in (query, *chain):
        seen |= dict.fromkeys(near.distance.nearest(source, k).tolist())
    assert near.visible(query, chain, k).tolist() == [fact for fact in seen if fact not in chain]
    # Again, now that all is remembered and the scratch row holds what was.
    assert near.visible(query, chain, k).tolist() == [fact for fact in seen if fact not in chain]


@every_lexical
@given(CORPUS, TEXT, PICKS, K)
def test_visible_grows_with_k_and_with_the_chain(
    name: str, texts: list[str], query: str, picks: list[int], k: int
) -> None:
    near, chain = neighborhood(name, texts), chain_of(picks, texts)
    visible = near.visible(query, chain, k).tolist()
    assert len(set(visible)) == len(visible)
    assert not set(visible) & set(chain)
    assert set(visible) <= set(near.visible(query, chain, k + 1).tolist())
    shorter = near.visible(query, chain[:-1], k).tolist()
    assert set(shorter) - set(chain) <= set(visible)
    assert visible[: len(shorter)] == shorter or set(shorter) & set(chain[-1:])


@every_lexical
@given(CORPUS, TEXT, PICKS, K)
def test_seen_from_tells_why_a_fact_is_visible(
    name: str, texts: list[str], query: str, picks: list[int], k: int
) -> None:
    near, chain = neighborhood(name, texts), chain_of(picks, texts)
    visible = near.visible(query, chain, k).tolist()
    for fact in range(len(texts)):
        reasons = near.seen_from(fact, query, chain, k)
        assert bool(reasons) == (fact in visible) or fact in chain
        assert all(reason.words for reason in reasons)


def test_seen_from_names_source_and_words() -> None:
    near = neighborhood("tfidf", ["Melting ice needs heat", "heat comes from the sun", "a bird sings"])
    assert near.seen_from(0, "What melts?", [1], 5) == (SeenFrom(None, ("melting",)), SeenFrom(1, ("heat",)))
    assert near.seen_from(np.int64(0), "What melts?", np.array([1]), 5) == near.seen_from(0, "What melts?", [1], 5)
    assert near.seen_from(2, "What melts?", [1], 5) == ()


def test_shared_words_come_by_weight_and_light_ones_apart() -> None:
    near = neighborhood(
        "tfidf", ["moss is a kind of plant used by water birds", "water", "water plant", "a kind of egg"]
    )
    assert near.seen_from(0, "water plant moss kind", [3], 5) == (
        SeenFrom(None, ("moss", "plant", "water"), ("kind",)),
        SeenFrom(3, (), ("kind",)),
    )
    assert [seen.is_telling for seen in near.seen_from(0, "water plant moss kind", [3], 5)] == [True, False]
    assert SeenFrom(None, ()).is_telling  # near by meaning, not by words


@every_lexical
@given(CORPUS, TEXT, PICKS)
def test_overlap_is_a_share(name: str, texts: list[str], query: str, picks: list[int]) -> None:
    near, chain = neighborhood(name, texts), chain_of(picks, texts)
    for fact in range(len(texts)):
        familiar, covered = near.overlap(fact, query, chain)
        assert 0 <= familiar <= 1 + 1e-9
        assert 0 <= covered <= 1 + 1e-9
        assert near.overlap(fact, texts[fact], ())[0] in (0, pytest.approx(1))


def test_overlap_by_weight() -> None:
    near = neighborhood("overlap", ["ice melts", "ice water"])
    assert near.overlap(0, "ice cold water", ()) == (0.5, pytest.approx(1 / 3))
    assert near.overlap(0, "ice cold water", (1,)) == (0.5, pytest.approx(2 / 3))
    assert near.overlap(0, "cold", ()) == near.overlap(0, "", ()) == (0.0, 0.0)


def test_a_word_that_no_fact_has_weighs_like_the_rarest() -> None:
    near = neighborhood("tfidf", ["ice melts", "ice water", "ice"])
    weight = near.distance.term_weight
    assert weight("zebra") == weight("melt") > weight("ic")
    assert neighborhood("tfidf", []).distance.term_weight("zebra") == 0.0


def test_chains_may_be_numpy_arrays_or_tuples() -> None:
    near = neighborhood("tfidf", ["ice melts", "ice water", "water flows", "rain water"])
    expected = near.visible("ice", [1], 3).tolist()
    assert expected
    assert near.visible("ice", (1,), 3).tolist() == expected
    assert near.visible("ice", np.array([1]), 3).tolist() == expected
    assert neighborhood("tfidf", [fact.text for fact in near.facts]).nearest(np.int32(1), 3).tolist() == [0, 2, 3]


def test_first_sight_decides_the_order() -> None:
    near = neighborhood("overlap", ["rain", "ice water", "ice", "water rain"])
    assert near.visible("ice", [], 5).tolist() == [2, 1]
    assert near.visible("ice", [1], 5).tolist() == [2, 3]
    assert near.visible("ice", [1, 3], 5).tolist() == [2, 0]


def test_a_question_without_a_known_word_sees_only_what_the_chain_sees() -> None:
    near = neighborhood("tfidf", ["ice melts", "ice water"])
    assert near.visible("zebra", [], 5).tolist() == []
    assert near.visible("zebra", [0], 5).tolist() == [1]


def test_an_empty_corpus() -> None:
    near = neighborhood("tfidf", [])
    assert near.visible("ice", [], 5).tolist() == near.distances("ice").tolist() == []


def test_what_is_remembered_cannot_be_changed_from_outside() -> None:
    near = neighborhood("tfidf", ["ice melts", "ice water"])
    with pytest.raises(ValueError, match="read-only"):
        near.nearest("ice", 5)[0] = 7


def test_k_cannot_be_negative() -> None:
    near = neighborhood("tfidf", ["ice melts"])
    for _ in range(2):
        with pytest.raises(SettingError, match="it cannot be -1"):
            near.visible("ice", [], -1)


@pytest.mark.parametrize("fact", [-1, 2, np.int64(2)])
def test_a_fact_id_that_no_fact_has(fact: int) -> None:
    near = neighborhood("tfidf", ["ice melts", "ice water"])
    message = f"There is no fact {fact}: the corpus has 2 facts, numbered from 0"
    with pytest.raises(SettingError, match=message):
        near.nearest(fact, 3)
    with pytest.raises(SettingError, match=message):
        near.visible("ice", [0, fact], 3)
    with pytest.raises(SettingError, match=message):
        near.seen_from(fact, "ice", [], 3)


def test_threads_share_a_neighborhood() -> None:
    texts = [f"{first} {second} {third}" for first in WORDS for second in WORDS for third in WORDS]
    generator = np.random.default_rng(0)
    asked = [(texts[fact], generator.integers(0, len(texts), 6).tolist()) for fact in range(0, len(texts), 9)]
    expected = [neighborhood("tfidf", texts).visible(query, chain, 50).tolist() for query, chain in asked[:20]]
    shared = neighborhood("tfidf", texts)
    start = Barrier(4)

    def look(shift: int) -> list[list[int]]:
        start.wait()
        answers = {
            place: shared.visible(*asked[place], 50).tolist() for place in np.roll(np.arange(20), shift).tolist()
        }
        return [answers[place] for place in range(20)]

    with ThreadPoolExecutor(4) as pool:
        assert all(answers == expected for answers in pool.map(look, range(4)))
