import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from arcf.errors import MissingExtraError, SettingError
from arcf.neighborhood import Wmd, WmdDistance, smallest, wmd
from arcf.neighborhood.text import Analyzer
from arcf.neighborhood.wmd import WordAnalyzer
from arcf.types import Fact

pytestmark = pytest.mark.usefixtures("plain_encoder")

WORDS = st.sampled_from(["ice", "Water", "heat", "bird", "tree", "é", "xunknown", "the", "7"])
TEXT = st.lists(WORDS, max_size=5).map(" ".join)
TEXTS = st.lists(TEXT, max_size=7)


@pytest.fixture(autouse=True)
def _solver() -> None:
    pytest.importorskip("ot")


def build(*texts: str, **options: Any) -> WmdDistance:
    facts = [Fact(str(number), text) for number, text in enumerate(texts)]
    return Wmd(model="plain", **options).build(facts, ())


def brute(encoder: Any, text: str, other: str) -> float:
    """The transport problem as a linear program over all words, repeated ones as often as they occur."""
    sides = [encoder.encode(WordAnalyzer().terms(side)).astype(np.float64) for side in (text, other)]
    left, right = (side[side.any(axis=1)] for side in sides)
    if not len(left) or not len(right):
        return 2.0
    m, n = len(left), len(right)
    costs = np.linalg.norm(left[:, None] - right[None], axis=2)
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    shares = np.concatenate([np.full(m, 1 / m), np.full(n, 1 / n)])
    return float(linprog(costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=shares).fun)


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXT)
def test_distances_equal_a_linear_program(plain_encoder: Any, texts: list[str], query: str) -> None:
    expected = [brute(plain_encoder, query, text) for text in texts]
    np.testing.assert_allclose(build(*texts).distances(query), expected, atol=1e-7)


@settings(deadline=None)
@given(TEXTS, TEXT, st.integers(-1, 9), st.integers(1, 4))
def test_pruning_never_changes_the_nearest(texts: list[str], query: str, k: int, exact: int) -> None:
    distance = build(*texts)
    values = distance.distances(query)
    order = [fact for fact in smallest(values, len(texts)).tolist() if distance.groups.of(fact) is not None]
    related = any(WordAnalyzer().terms(query)) and not all(word.startswith("x") for word in WordAnalyzer().terms(query))
    assert distance.nearest(query, k).tolist() == (order[: max(k, 0)] if related else [])

    bounded = build(*texts, exact=exact).distances(query)
    assert (bounded <= values + 1e-8).all()
    assert smallest(bounded, exact).tolist() == smallest(values, exact).tolist()


@settings(deadline=None)
@given(TEXTS, st.integers(0, 9))
def test_nearest_to_a_fact_is_that_to_its_text_without_itself(texts: list[str], k: int) -> None:
    distance = build(*texts)
    for fact, text in enumerate(texts):
        expected = [other for other in distance.nearest(text, k + 1).tolist() if other != fact][:k]
        assert distance.nearest(fact, k).tolist() == expected


@settings(deadline=None)
@given(TEXTS)
def test_symmetric(texts: list[str]) -> None:
    distance = build(*texts)
    matrix = np.array([distance.distances(text) for text in texts]).reshape(len(texts), len(texts))
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-8)


def test_few_problems_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["ice", "water", "heat", "bird", "tree", "stone", "river", "wind"]
    texts = [f"{a} {b} {c}" for a in words for b in words for c in words if a < b < c]
    distance = build(*texts)
    solved: list[float] = []
    solve = wmd.transport_cost
    monkeypatch.setattr(wmd, "transport_cost", lambda *sides: solved.append(solve(*sides)) or solved[-1])
    distance.nearest("ice water heat", 3)
    assert 3 <= len(solved) < len(texts) / 2


def test_blocks_do_not_change_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    distance = build("ice water", "heat", "the", "bird tree ice heat", "water")
    expected = distance.distances("heat bird ice")
    monkeypatch.setattr(wmd, "BLOCK", 1)
    np.testing.assert_allclose(distance.distances("heat bird ice"), expected, atol=1e-12)


def test_equal_bags_see_each_other_first_and_by_id() -> None:
    distance = build("heat", "the ice water", "bird", "Water ICE", "ice ice water water")
    assert distance.nearest(3, 2).tolist() == [1, 4]
    assert distance.distances("a water and ice")[[1, 3, 4]].tolist() == [0.0, 0.0, 0.0]


def test_facts_and_texts_without_words() -> None:
    distance = build("the of", "ice", "xnone", "")
    assert distance.distances("water").tolist()[0] == 2.0
    assert distance.nearest("water", 9).tolist() == [1]
    assert distance.nearest(0, 9).tolist() == []
    assert distance.nearest("the 7 xnone", 9).tolist() == []
    assert distance.distances("").tolist() == [2.0] * 4
    assert build().nearest("ice", 3).tolist() == []
    assert build("xnone", "the").nearest("ice", 3).tolist() == []
    assert build("the").distances("ice").tolist() == [2.0]
    assert build("ice").nearest(0, 3).tolist() == []


def test_restored_without_encoding(plain_encoder: Any) -> None:
    distance = build("ice water é", "the", "heat", "water ice é", "bird heat")
    plain_encoder.encoded.clear()
    restored = Wmd("plain").restore(distance.state())
    assert [restored.nearest(fact, 4).tolist() for fact in range(5)] == [
        distance.nearest(fact, 4).tolist() for fact in range(5)
    ]
    restored.nearest("ice heat", 3)
    assert plain_encoder.encoded == []
    assert np.array_equal(restored.distances("ice tree"), distance.distances("ice tree"))
    assert all(array.dtype != object for array in distance.state().values())
    assert Wmd("plain").restore(build("the").state()).nearest("ice", 1).tolist() == []


def test_impossible_setting() -> None:
    with pytest.raises(SettingError, match="at least 1 fact, not 0"):
        Wmd(exact=0)


def test_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'arcf\[wmd\]'"):
        build("ice water", "heat bird").nearest(0, 1)


@pytest.mark.parametrize("text", ["cafe\u0301 melt\u00ading", "caf\u00e9 melt\u200bing", "हिमालय melting"])
def test_words_are_those_of_the_analyzer(text: str) -> None:
    assert len(WordAnalyzer().terms(text)) == len(Analyzer().terms(text)) == 2
