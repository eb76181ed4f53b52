import gc
import sys
from pathlib import Path

import numpy as np
import pytest

from arcf.errors import MissingExtraError
from arcf.neighborhood.ann import _faiss, build_graph, graph_from_array
from arcf.neighborhood.search import recall
from arcf.sentences import Vectors


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    pytest.importorskip("faiss")
    rows = np.random.default_rng(5).standard_normal((3_000, 16)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_recall_is_high(vectors: Vectors) -> None:
    assert recall(build_graph(vectors), vectors, vectors[:100], 50) > 0.95


def test_bytes_and_back(vectors: Vectors) -> None:
    graph = build_graph(vectors)
    array = graph.to_array()
    assert array.dtype == np.uint8
    again = graph_from_array(array).search(vectors[:20], 10)
    assert np.array_equal(again.rows, graph.search(vectors[:20], 10).rows)


def test_a_graph_lies_in_the_file_that_it_is_mapped_from(vectors: Vectors, tmp_path: Path) -> None:
    built = build_graph(vectors)
    built.to_array().tofile(tmp_path / "graph")
    graph = graph_from_array(np.asarray(np.memmap(tmp_path / "graph", np.uint8, "r")))
    (tmp_path / "graph").unlink()
    gc.collect()
    assert np.array_equal(graph.search(vectors[:20], 10).rows, built.search(vectors[:20], 10).rows)
    assert not _faiss().downcast_index(graph._index.storage).codes.is_owned


@pytest.mark.parametrize("k", [0, -1, 3, 10])
def test_small_and_large_k(vectors: Vectors, k: int) -> None:
    found = build_graph(vectors[:5]).search(vectors[:2], k)
    assert found.rows.shape == found.similarities.shape == (2, max(0, min(k, 5)))
    assert build_graph(vectors[:5]).search(vectors[:0], k).rows.shape[0] == 0


def test_without_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'arcf\[ann\]'"):
        build_graph(np.eye(3, dtype=np.float32))
