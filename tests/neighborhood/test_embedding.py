from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Embedding, EmbeddingDistance, embedding, smallest
from arcf.types import Fact

pytestmark = pytest.mark.usefixtures("plain_encoder")

WORDS = st.sampled_from(["ice", "Water", "heat", "bird", "é", "xunknown"])
TEXT = st.lists(WORDS, max_size=4).map(" ".join)
TEXTS = st.lists(TEXT, max_size=9)


def facts_of(*texts: str) -> list[Fact]:
    return [Fact(str(number), text) for number, text in enumerate(texts)]


def build(*texts: str, **settings: Any) -> EmbeddingDistance:
    return Embedding(model="plain", **settings).build(facts_of(*texts), ())


def test_distances_are_one_minus_cosine(plain_encoder: Any) -> None:
    texts = ["ice water", "bird", "", "heat ice", "xnone"]
    query, *vectors = plain_encoder.encode(["water bird", *texts]).astype(np.float64)
    found = build(*texts).distances("water bird")
    np.testing.assert_allclose(found, [1 - vector @ query for vector in vectors], atol=1e-6)
    assert found.tolist()[2] == found.tolist()[4] == 1.0


@given(TEXTS, TEXT, st.integers(-1, 12))
def test_nearest_to_a_text_equals_brute_force(texts: list[str], query: str, k: int) -> None:
    distance = build(*texts)
    related = [fact for fact in range(len(texts)) if distance.groups.of(fact) is not None]
    order = [fact for fact in smallest(distance.distances(query), len(texts)).tolist() if fact in related]
    known = any(not word.startswith("x") for word in query.split())
    assert distance.nearest(query, k).tolist() == (order[: max(k, 0)] if known else [])


@given(TEXTS, st.integers(0, 12))
def test_nearest_to_a_fact_is_that_to_its_text_without_itself(texts: list[str], k: int) -> None:
    distance = build(*texts)
    for fact, text in enumerate(texts):
        expected = [other for other in distance.nearest(text, k + 1).tolist() if other != fact][:k]
        assert distance.nearest(fact, k).tolist() == expected


@given(TEXTS)
def test_symmetric(texts: list[str]) -> None:
    distance = build(*texts)
    matrix = np.array([distance.distances(text) for text in texts]).reshape(len(texts), len(texts))
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-6)
    assert (matrix >= 0).all()


def test_equal_facts_see_each_other_first_and_by_id() -> None:
    distance = build("heat", "ice", "bird", "ICE", "ice", "water")
    assert distance.nearest(3, 2).tolist() == [1, 4]
    assert distance.nearest(1, 2).tolist() == [3, 4]
    assert distance.nearest("ice", 3).tolist() == [1, 3, 4]


@pytest.mark.parametrize("approximate", [False, True])
def test_small_corpora(approximate: bool) -> None:
    if approximate:
        pytest.importorskip("faiss")
    one, none = build("ice", approximate=approximate), build(approximate=approximate)
    assert one.nearest(0, 5).tolist() == []
    assert one.nearest("water", 5).tolist() == [0]
    assert none.size == 0
    assert none.nearest("ice", 5).tolist() == []
    assert none.distances("ice").tolist() == []
    assert build("", "xnone", approximate=approximate).nearest("ice", 5).tolist() == []


def test_texts_are_encoded_once(plain_encoder: Any) -> None:
    plain_encoder.encoded.clear()
    build("ice", "ice", "water", "ice")
    assert plain_encoder.encoded == ["ice", "water"]


@pytest.mark.parametrize("approximate", [False, True])
def test_restored_without_encoding(approximate: bool, plain_encoder: Any) -> None:
    if approximate:
        pytest.importorskip("faiss")
    distance = build("ice", "water heat", "", "ice", "bird", approximate=approximate)
    plain_encoder.encoded.clear()
    restored = Embedding("plain", approximate).restore(distance.state())
    assert [restored.nearest(fact, 3).tolist() for fact in range(5)] == [
        distance.nearest(fact, 3).tolist() for fact in range(5)
    ]
    assert plain_encoder.encoded == []
    assert np.array_equal(restored.distances("heat"), distance.distances("heat"))
    assert all(array.dtype != object for array in distance.state().values())


def test_approximate_search_agrees_where_its_graph_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    monkeypatch.setattr(embedding, "EXHAUSTIVE", 2.0)
    texts = [f"word{number} word{number % 7}" for number in range(60)] + ["word3 word3", "ice", "ice", ""]
    exact, approximate = build(*texts), build(*texts, approximate=True)
    assert approximate.graph is not None
    for source in (0, 3, 61, 62, 63, "ice word5", ""):
        assert approximate.nearest(source, 10).tolist() == exact.nearest(source, 10).tolist()


def test_with_a_real_encoder(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from arcf.sentences import load_encoder

    monkeypatch.setattr(embedding, "load_encoder", load_encoder)
    distance = Embedding(str(tiny_bert)).build(
        facts_of("ice is solid", "Ice is solid", "a tree", "漢字", "the ant"), ()
    )
    assert distance.nearest(0, 1).tolist() == [1]
    assert sorted(distance.nearest("heat", 9).tolist()) == [0, 1, 2, 4]
    assert distance.nearest("unheard", 9).tolist() == []
