"""Approximate top-k search over dense vectors: a graph of near neighbors (HNSW, Malkov and Yashunin), with faiss.

Searching the graph looks at a few thousand rows whatever their number; exact search looks at all. Up to about ten
thousand rows exact search is as fast and there is no reason for this one (`studies/ann.py` measures both).

faiss rather than usearch: over 100,000 rows at half precision and equal settings both found the same share of the 290
nearest, usearch in 2.7 milliseconds after 65 seconds of building, faiss in 1.0 after 42.
"""

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import MissingExtraError
from arcf.neighborhood.search import Matches
from arcf.sentences.base import Vectors

#: Links of a row per level, and rows that are compared to choose them.
LINKS = 32
BUILD_WIDTH = 100

#: Rows that are kept while searching, as a multiple of k, and at least.
SEARCH_WIDTH = 3
SEARCH_LEAST = 64


class NeighborGraph:
    """A graph of near neighbors over vectors at half precision (2 bytes a number, plus about 270 bytes a row).

    `content` is the memory that the index lies in, if it is not its own.
    """

    def __init__(self, index: Any, content: NDArray[np.uint8] | None = None) -> None:
        self._index = index
        self._content = content

    def search(self, queries: Vectors, k: int) -> Matches:
        """About the k nearest rows to every query. Rows that the graph does not reach are -1, at the end."""
        faiss = _faiss()
        k = max(0, min(k, int(self._index.ntotal)))
        if not k or not len(queries):
            empty = (len(queries), k)
            return Matches(np.empty(empty, dtype=np.int64), np.empty(empty, dtype=np.float32))
        width = faiss.SearchParametersHNSW(efSearch=max(SEARCH_LEAST, SEARCH_WIDTH * k))
        similarities, rows = self._index.search(np.ascontiguousarray(queries), k, params=width)
        return Matches(rows, similarities)

    def to_array(self) -> NDArray[np.uint8]:
        """The whole graph as plain bytes: those of a file that is deleted already, as memory would hold it twice."""
        with TemporaryDirectory() as folder:
            path = f"{folder}/graph"
            _faiss().write_index(self._index, path)
            return np.asarray(np.memmap(path, np.uint8, "r"))


def build_graph(vectors: Vectors) -> NeighborGraph:
    """Link every row to its near neighbors. Takes about a minute per 100,000 rows on two cores.

    Raises:
        MissingExtraError: faiss is not installed.
    """
    faiss = _faiss()
    dimension = vectors.shape[1]
    half = faiss.ScalarQuantizer.QT_fp16
    index = faiss.IndexHNSWSQ(dimension, half, LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = BUILD_WIDTH
    index.train(vectors[:1])  # Half precision learns nothing, but wants to have been asked.
    index.add(np.ascontiguousarray(vectors))
    return NeighborGraph(index)


def graph_from_array(array: NDArray[np.uint8]) -> NeighborGraph:
    """The graph that `NeighborGraph.to_array` wrote down: it stays in the array, which may be a file that is mapped."""
    faiss = _faiss()
    reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(array), array.nbytes)
    return NeighborGraph(faiss.read_index(reader), array)


def _faiss() -> Any:
    try:
        import faiss
    except ModuleNotFoundError as error:
        raise MissingExtraError("Approximate search over embeddings", "ann") from error
    return faiss
