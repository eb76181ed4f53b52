import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcf.neighborhood import search
from arcf.neighborhood.search import Exact, Matches, recall
from arcf.sentences import Vectors

SMALL = st.integers(-2, 2).map(float)


@given(st.integers(0, 9), st.integers(0, 4), st.integers(-1, 12), st.data())
def test_exact_equals_a_full_sort(rows: int, queries: int, k: int, data: st.DataObject) -> None:
    vectors = data.draw(arrays(np.float32, (rows, 3), elements=SMALL))
    asked = data.draw(arrays(np.float32, (queries, 3), elements=SMALL))
    found = Exact(vectors).search(asked, k)
    for query, ids, similarities in zip(asked, found.rows, found.similarities, strict=True):
        products = (vectors @ query).tolist()
        expected = sorted((-product, row) for row, product in enumerate(products))[: max(k, 0)]
        assert ids.tolist() == [row for _, row in expected]
        assert similarities.tolist() == [-product for product, _ in expected]


def test_blocks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(3).integers(-3, 4, (50, 4)).astype(np.float32)
    whole = Exact(vectors).search(vectors, 7)
    monkeypatch.setattr(search, "BLOCK", 120)
    assert np.array_equal(Exact(vectors).search(vectors, 7).rows, whole.rows)


class Half:
    """Finds the better half of what is asked for."""

    def __init__(self, vectors: Vectors) -> None:
        self.exact = Exact(vectors)

    def search(self, queries: Vectors, k: int) -> Matches:
        return self.exact.search(queries, k // 2)


def test_recall() -> None:
    vectors = np.random.default_rng(4).standard_normal((40, 5)).astype(np.float32)
    assert recall(Exact(vectors), vectors, vectors, 10) == 1.0
    assert recall(Half(vectors), vectors, vectors, 10) == 0.5
    assert recall(Exact(vectors[:0]), vectors[:0], vectors, 10) == 1.0
