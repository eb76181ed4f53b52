"""How long neighborhoods take, and how they grow: building, searching, walking along a chain, memory.

Times are wall-clock. Each is the best of a few repetitions, which leaves out what the rest of the machine did in
between, and a search is one of many from which median and 95th percentile are taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np

from arcf.bench.corpus import make_corpus
from arcf.bench.memory import apart, peak_bytes
from arcf.neighborhood import Distance, FactIds, Neighborhood, Recipe, SparseDistance, recipe
from arcf.types import Fact, Question

K = 290
CHAIN_LENGTH = 9
SEARCHES = 200
REPETITIONS = 3
SEED = 0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that one search takes."""

    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class Walk:
    """A corpus at work: `visible` of a question and 9 chosen facts at k = 290.

    `cold` finds all ten neighborhoods; `warm` remembers them. A chain pays for one new neighborhood at a time.
    """

    facts: int
    build_seconds: float
    cold: Latency
    warm: Latency


@dataclass(frozen=True, slots=True)
class Growth:
    """One corpus size: `nearest` at k = 290 of questions and of facts, and memory in bytes.

    `index_bytes` are the arrays of the index. `peak_bytes` is the most that the whole process ever held, corpus and
    building included; None where the system does not tell.
    """

    facts: int
    build_seconds: float
    question: Latency
    fact: Latency
    index_bytes: int
    peak_bytes: int | None


def measure_walk(
    recipe: Recipe, facts: Sequence[Fact], training: Sequence[Question], asked: Sequence[Question]
) -> Walk:
    """Build, and look along random chains, one for each of up to 200 of the asked questions."""
    builds = [_timed(lambda: recipe.build(facts, training)) for _ in range(REPETITIONS)]
    distance = builds[0][1]
    generator = np.random.default_rng(SEED)
    length = min(CHAIN_LENGTH, len(facts))
    chains = [generator.choice(len(facts), length, replace=False).tolist() for _ in asked[:SEARCHES]]

    def look(neighborhood: Neighborhood, query: str, chain: list[int]) -> float:
        return _timed(lambda: neighborhood.visible(query, chain, K))[0]

    cold, warm = [], []
    for question, chain in zip(asked, chains, strict=False):
        fresh = [Neighborhood(facts, distance) for _ in range(REPETITIONS)]
        cold.append(min(look(neighborhood, question.text, chain) for neighborhood in fresh))
        warm.append(min(look(fresh[0], question.text, chain) for _ in range(REPETITIONS)))
    return Walk(len(facts), min(seconds for seconds, _ in builds), _latency(cold), _latency(warm))


def _bytes(distance: Distance) -> int:
    """Memory of an index: of a lexical one all its arrays, of others what would be stored of them."""
    if isinstance(distance, SparseDistance):
        return distance.nbytes
    return sum(array.nbytes for array in distance.state().values())


def measure_growth(distance: str, size: int) -> Growth:
    """Build a made-up corpus of that size in this process, and search it."""
    corpus = make_corpus(size, SEARCHES, SEED)
    seconds, built = _timed(lambda: recipe(distance).build(corpus.facts, ()))
    facts = np.linspace(0, size - 1, min(size, SEARCHES)).astype(int).tolist()
    return Growth(
        facts=size,
        build_seconds=seconds,
        question=_latency([_search(built, question.text) for question in corpus.questions]),
        fact=_latency([_search(built, fact) for fact in facts]),
        index_bytes=_bytes(built),
        peak_bytes=peak_bytes(),
    )


def measure_growth_apart(distance: str, size: int) -> Growth:
    """`measure_growth` in a process of its own, so that its peak of memory is that of nothing else."""
    return apart(measure_growth, distance, size)


def _search(distance: Distance, source: str | int) -> float:
    def search() -> FactIds:
        return distance.nearest(source, K)

    return min(_timed(search)[0] for _ in range(REPETITIONS))


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def _latency(seconds: Sequence[float]) -> Latency:
    median, p95 = (1000 * np.quantile(seconds, [0.5, 0.95])).tolist()
    return Latency(median, p95)
