"""Exact against approximate search of dense vectors: python studies/ann.py [--size 10000 --size 1000000].

The vectors are made up: clusters of Zipf-like sizes, each a cloud of 48 dimensions turned into 384, plus a little noise
in all of them. Queries are drawn as the vectors are. Memory is that of the vectors, and what the graph adds to them.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from arcf.neighborhood.ann import build_graph
from arcf.neighborhood.search import Exact, Index, recall
from arcf.sentences import Vectors

DIMENSION = 384
CLOUD = 48
NEAREST = 290
QUERIES = 100


@dataclass(frozen=True)
class Measured:
    """What searching one number of vectors costs, in seconds, milliseconds per query and megabytes."""

    size: int
    build_seconds: float
    exact_milliseconds: float
    graph_milliseconds: float
    recall: float
    vectors_megabytes: float
    graph_megabytes: float


def clustered(size: int, seed: int = 0) -> Vectors:
    """Unit vectors in clusters, (size, 384)."""
    random = np.random.default_rng(seed)
    clusters = max(10, size // 500)
    popularity = 1.0 / np.arange(1, clusters + 1)
    centers = random.standard_normal((clusters, DIMENSION), dtype=np.float32)
    turn = random.standard_normal((CLOUD, DIMENSION), dtype=np.float32) / np.float32(CLOUD**0.5)
    vectors = np.empty((size, DIMENSION), dtype=np.float32)
    for start in range(0, size, 50_000):
        block = vectors[start : start + 50_000]
        cluster = random.choice(clusters, size=len(block), p=popularity / popularity.sum())
        block[:] = centers[cluster] + random.standard_normal((len(block), CLOUD), dtype=np.float32) @ turn
        block += np.float32(0.2) * random.standard_normal(block.shape, dtype=np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    return vectors


def measure(size: int) -> Measured:
    """Build and search both ways over `size` vectors."""
    drawn = clustered(size + QUERIES)
    vectors, queries = drawn[:size], drawn[size:]
    start = perf_counter()
    graph = build_graph(vectors)
    build_seconds = perf_counter() - start
    return Measured(
        size=size,
        build_seconds=build_seconds,
        exact_milliseconds=_milliseconds(Exact(vectors), queries),
        graph_milliseconds=_milliseconds(graph, queries),
        recall=recall(graph, vectors, queries, NEAREST),
        vectors_megabytes=vectors.nbytes / 1e6,
        graph_megabytes=graph.to_array().nbytes / 1e6,
    )


def _milliseconds(index: Index, queries: Vectors) -> float:
    """The mean time of one query at a time, as chains ask."""
    index.search(queries[:1], NEAREST)
    start = perf_counter()
    for query in queries:
        index.search(query[None], NEAREST)
    return (perf_counter() - start) * 1e3 / len(queries)


def main(size: Annotated[list[int], typer.Option(help="Numbers of vectors.")] = [10_000, 30_000, 100_000]) -> None:  # noqa: B006
    """Print a table of exact and approximate search."""
    table = Table("vectors", "build s", "exact ms", "graph ms", f"recall@{NEAREST}", "vectors MB", "graph MB")
    for column in table.columns:
        column.justify = "right"
    for number in size:
        row = measure(number)
        table.add_row(
            f"{row.size:,}",
            f"{row.build_seconds:.1f}",
            f"{row.exact_milliseconds:.2f}",
            f"{row.graph_milliseconds:.2f}",
            f"{row.recall:.4f}",
            f"{row.vectors_megabytes:.0f}",
            f"{row.graph_megabytes:.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
