"""Exact against approximate search of dense vectors: python studies/ann.py [--size 10000 --size 1000000].

The vectors are made up: clusters of Zipf-like sizes, each a cloud of 48 dimensions turned into 384, plus a little noise
in all of them. Queries are drawn as the vectors are. Memory is that of the vectors, and what the graph adds to them.

    arcf index --facts facts.txt --distance embedding-ann
    python studies/ann.py --facts facts.txt

searches the vectors of real facts instead, by the encoder of the packaged model, as they lie in the cache; queries are
facts too, as in chains. Given before the first command, it builds them, and tells how long that takes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, cast

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from arcf.bench.memory import held
from arcf.data import load
from arcf.neighborhood import make_distance
from arcf.neighborhood.ann import NeighborGraph, build_graph
from arcf.neighborhood.embedding import EmbeddingDistance
from arcf.neighborhood.search import Exact, Index, recall
from arcf.scorer import packaged_model
from arcf.scorer.exported.folder import UNTRAINED
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


def measure_facts(path: Path) -> dict[str, float]:
    """Search the embeddings of a file of facts both ways. Seconds and milliseconds are those of the processor."""
    dataset, encoder = load(path), str(packaged_model() / UNTRAINED)
    start = process_time()
    exact = cast("EmbeddingDistance", make_distance(dataset, "embedding", encoder))
    encoded = process_time()
    approximate = cast("EmbeddingDistance", make_distance(dataset, "embedding-ann", encoder))
    linked = process_time()
    facts = np.random.default_rng(0).choice(exact.size, QUERIES, replace=False).tolist()
    found = [set(distance.nearest(fact, NEAREST).tolist()) for distance in (exact, approximate) for fact in facts]
    queries = exact.vectors[exact.groups.of_fact[facts]]
    return {
        "facts": exact.size,
        "vectors": len(exact.vectors),
        "load or encode, s": encoded - start,
        "load or link, s": linked - encoded,
        "exact, ms": _milliseconds(Exact(exact.vectors), queries, process_time),
        "graph, ms": _milliseconds(cast("NeighborGraph", approximate.graph), queries, process_time),
        f"recall@{NEAREST}": float(
            np.mean([len(true & near) / len(true) for true, near in zip(found[:QUERIES], found[QUERIES:], strict=True)])
        ),
        "own memory, MB": own.own / 1e6 if (own := held()) else float("nan"),
    }


def _milliseconds(index: Index, queries: Vectors, clock: Callable[[], float] = perf_counter) -> float:
    """The mean time of one query at a time, as chains ask."""
    index.search(queries[:1], NEAREST)
    start = clock()
    for query in queries:
        index.search(query[None], NEAREST)
    return (clock() - start) * 1e3 / len(queries)


def main(
    size: Annotated[list[int], typer.Option(help="Numbers of vectors.")] = [10_000, 30_000, 100_000],  # noqa: B006
    facts: Annotated[Path | None, typer.Option(help="Search the embeddings of these facts instead.")] = None,
) -> None:
    """Print a table of exact and approximate search."""
    if facts is not None:
        for name, value in measure_facts(facts).items():
            print(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value:,.4f}")
        return
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
