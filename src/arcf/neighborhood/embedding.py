"""Sentence embeddings: 1 - cosine of the vectors of a pretrained encoder.

d(a, b) = 1 - v(a) . v(b) with unit vectors v, from 0 to 2. A text without a token that the model knows (an empty one)
has no vector: it is near nothing, nothing is near it, and its distance is 1, that of unrelated texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice

import numpy as np

from arcf.kept.texts import digest_of
from arcf.neighborhood.ann import NeighborGraph, build_graph, graph_from_array
from arcf.neighborhood.base import Distance, FactIds, State
from arcf.neighborhood.groups import Floats, Groups, group
from arcf.pretrained.location import MINILM, model_stamp
from arcf.sentences import Encoder, Vectors, encode_many, load_encoder
from arcf.types import Fact, Question, texts_of

#: The distance of a text without a vector: the cosine with nothing is 0.
UNRELATED = 1.0

#: The share of the corpus from which on an approximate search is no longer the faster one.
EXHAUSTIVE = 0.1

#: Texts that are tokenised at a time.
TOGETHER = 8192


class EmbeddingDistance(Distance):
    """1 - cosine over one dense vector per group of equal facts.

    A search is one matrix-vector product over the corpus, or a walk through a graph of near neighbors. The encoder is
    loaded when the first new text arrives, never for facts, and stays the one that it was then.
    """

    symmetric = True  # to the round-off of float32, about 1e-7

    def __init__(
        self, recipe: "Embedding", groups: Groups, vectors: Vectors, graph: NeighborGraph | None = None
    ) -> None:
        self.recipe = recipe
        self.groups = groups
        self.vectors = vectors  # (groups, dimension)
        self.graph = graph

    @property
    def size(self) -> int:
        """The number of facts."""
        return len(self.groups.of_fact)

    def distances(self, text: str) -> Floats:
        """The distance of every fact; exact also where `nearest` is approximate."""
        vector = self._vector(text)
        if vector is None:
            return np.full(self.size, UNRELATED)
        return self.groups.spread(self._distances(vector), UNRELATED)

    def nearest(self, source: str | int, k: int) -> FactIds:
        """The k nearest facts among those that have a vector; none for a source without one."""
        vector = self._vector(source)
        if vector is None or k <= 0:
            return np.empty(0, dtype=np.int64)
        if self.graph is None or k >= EXHAUSTIVE * len(self.vectors):
            return self.groups.nearest(self._distances(vector), source, k)
        rows = self.graph.search(vector[None], k + 1).rows[0]  # one more: a fact's own group may hold no other fact
        rows = rows[rows >= 0]
        return self.groups.nearest_among(rows, _to_distances(self.vectors[rows] @ vector), source, k)

    def state(self) -> State:
        """The vectors and, where search is approximate, the graph."""
        state: State = {"groups": self.groups.of_fact, "vectors": self.vectors}
        return state if self.graph is None else {**state, "graph": self.graph.to_array()}

    def _vector(self, source: str | int) -> Vectors | None:
        if isinstance(source, int):
            number = self.groups.of(source)
            return None if number is None else self.vectors[number]
        if not len(self.vectors):
            return None
        vector: Vectors = self._encoder.encode([source])[0]
        return vector if vector.any() else None

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self.recipe.model, self.recipe.threads)

    def _distances(self, vector: Vectors) -> Floats:
        return _to_distances(self.vectors @ vector)


@dataclass(frozen=True)
class Embedding:
    """The recipe of the embedding distance.

    `model` is a folder or a name on the Hugging Face hub. `approximate` makes `nearest` search a graph (extra `ann`):
    worth it from about a hundred thousand facts on. `threads` are those of the encoder, which change no vector.
    """

    model: str = MINILM
    approximate: bool = False
    threads: int | None = field(default=None, repr=False, compare=False)

    def identity(self) -> str:
        """The settings, and the model's files as they are now."""
        return f"{self!r} {model_stamp(self.model)}"

    def blocks(self, texts: Sequence[str]) -> str:
        """What the blocks are called in which these texts are encoded; see `encode_many`."""
        return sha256(f"{self.identity()} {digest_of(texts)}".encode()).hexdigest()[:32]

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> EmbeddingDistance:
        """Encode every text that the encoder can tell from others once. Questions teach it nothing."""
        del questions
        texts = texts_of(facts)
        if not texts:
            return self._distance(group(()), np.empty((0, 0), dtype=np.float32))
        encoder = load_encoder(self.model, self.threads)
        groups = group(key or None for key in _keys(encoder, texts))
        return self._distance(groups, encode_many(encoder, texts, groups.first, self.blocks(texts)))

    def restore(self, state: State) -> EmbeddingDistance:
        """Take the vectors as they are; only new texts will need the model."""
        graph = graph_from_array(state["graph"]) if self.approximate and "graph" in state else None
        return EmbeddingDistance(self, Groups(state["groups"]), state["vectors"], graph)

    def _distance(self, groups: Groups, vectors: Vectors) -> EmbeddingDistance:
        graph = build_graph(vectors) if self.approximate and len(vectors) else None
        return EmbeddingDistance(self, groups, vectors, graph)


def _keys(encoder: Encoder, texts: Sequence[str]) -> Iterator[bytes]:
    """The encoder's keys of all texts; never the tokens of many at a time."""
    left = iter(texts)
    while block := list(islice(left, TOGETHER)):
        yield from encoder.keys(block)


def _to_distances(similarities: Vectors) -> Floats:
    """1 - cosine; never below 0, where round-off would put it."""
    distances: Floats = np.maximum(1.0 - similarities.astype(np.float64), 0.0)
    return distances
