from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import SettingError, UnknownNameError
from arcf.neighborhood import DISTANCES, Embedding, Lexical, Overlap, TfIdf, Union, UnionDistance, recipe
from arcf.types import Fact

pytestmark = pytest.mark.usefixtures("plain_encoder")

PARTS = (Lexical(TfIdf()), Embedding("plain"), Lexical(Overlap()))
TEXT = st.lists(st.sampled_from(["ice", "water", "heat", "bird", "xunknown", "the"]), max_size=4).map(" ".join)


def facts_of(texts: Sequence[str]) -> list[Fact]:
    return [Fact(str(number), text) for number, text in enumerate(texts)]


def places(distance: UnionDistance, source: str | int) -> dict[int, tuple[int, int]]:
    """Best rank and the part that gives it, of every fact that a part relates to the source."""
    best: dict[int, tuple[int, int]] = {}
    for number, part in enumerate(distance.parts):
        for rank, fact in enumerate(part.nearest(source, distance.size).tolist()):
            best[fact] = min(best.get(fact, (rank, number)), (rank, number))
    return best


@given(st.lists(TEXT, max_size=8), TEXT, st.integers(-1, 10))
def test_facts_come_in_turns(texts: list[str], query: str, k: int) -> None:
    distance = Union(PARTS).build(facts_of(texts), ())
    for source in (query, *range(len(texts))):
        best = places(distance, source)
        assert distance.nearest(source, k).tolist() == sorted(best, key=lambda fact: best[fact])[: max(k, 0)]


@given(st.lists(TEXT, max_size=8), TEXT)
def test_distances_have_the_same_order(texts: list[str], query: str) -> None:
    distance = Union(PARTS).build(facts_of(texts), ())
    values = distance.distances(query)
    near = distance.nearest(query, len(texts)).tolist()
    assert np.argsort(values, kind="stable").tolist()[: len(near)] == near
    far = sorted(set(range(len(texts))) - set(near))
    assert values[far].tolist() == [3.0 * len(texts)] * len(far)


def test_a_union_of_one_is_that_one() -> None:
    facts = facts_of(["ice water", "heat", "ice", "bird", "water"])
    assert Union(PARTS[:1]).build(facts, ()).nearest("ice water", 9).tolist() == [0, 2, 4]


def test_restored() -> None:
    union = Union(PARTS)
    distance = union.build(facts_of(["ice water", "heat", "ice", "bird", "water"]), ())
    restored = union.restore(distance.state())
    assert all(restored.nearest(fact, 3).tolist() == distance.nearest(fact, 3).tolist() for fact in range(5))
    assert np.array_equal(restored.distances("ice bird"), distance.distances("ice bird"))


def test_no_parts() -> None:
    with pytest.raises(SettingError, match="at least one part"):
        Union(())


def test_names_of_unions() -> None:
    assert recipe("tfidf") is DISTANCES["tfidf"]
    assert recipe("tfidf+embedding") == Union((DISTANCES["tfidf"], DISTANCES["embedding"]))
    assert recipe("wmd + bm25+ overlap") == Union((DISTANCES["wmd"], DISTANCES["bm25"], DISTANCES["overlap"]))


@pytest.mark.parametrize("name", ["tfidff", "tfidf+nothing", "tfidf+", ""])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UnknownNameError, match="There is no distance named"):
        recipe(name)
