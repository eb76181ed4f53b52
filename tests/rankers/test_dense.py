"""Sentence encoders as rankers, with an encoder made up for the test."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Bm25Cosine, Lexical, embedding
from arcf.rankers import RankerSettings, build_ranker
from arcf.sentences import Vectors
from arcf.types import Dataset, Fact, Question

WORDS = ("ice", "water", "heat", "bird", "egg")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


class BagEncoder:
    """A dimension for each word: the cosine of two texts is that of their counts."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)

    def keys(self, texts: Sequence[str]) -> list[bytes]:
        return [row.tobytes() if row.any() else b"" for row in self.encode(texts)]


@pytest.fixture(autouse=True, scope="module")
def bag() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "load_encoder", lambda *_: BagEncoder())
        patch.setattr(embedding, "model_stamp", str)
        yield


def corpus(texts: Sequence[str]) -> Dataset:
    return Dataset("made up", tuple(Fact(str(place), text) for place, text in enumerate(texts)))


def cosine(text: str, other: str) -> float:
    first, second = BagEncoder().encode([text, other])
    return float(first @ second)


@given(st.lists(TEXT, max_size=8), TEXT)
def test_the_best_fact_joins_the_query(texts: list[str], stem: str) -> None:
    """Nine times, by plain re-statement."""
    ranking = build_ranker(RankerSettings("embedding-iterated"), corpus(texts)).rank(Question("q", stem))
    assert sorted(ranking.facts.tolist()) == list(range(len(texts)))
    query = stem
    for place, fact in enumerate(ranking.facts[:9].tolist()):
        left = ranking.facts[place:].tolist()
        assert cosine(query, texts[fact]) >= max(cosine(query, texts[other]) for other in left) - 1e-6
        query = f"{query} {texts[fact]}"


@given(st.lists(TEXT, max_size=8), TEXT)
def test_the_sum_of_words_and_meaning(texts: list[str], stem: str) -> None:
    dataset = corpus(texts)
    ranking = build_ranker(RankerSettings("bm25-embedding"), dataset).rank(Question("q", stem))
    lexical = 1 - Lexical(Bm25Cosine()).build(dataset.facts, ()).distances(stem)
    expected = [lexical[fact] + cosine(stem, texts[fact]) for fact in ranking.facts.tolist()]
    assert ranking.scores == pytest.approx(expected, abs=1e-6)


def test_the_encoder_is_the_model_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(embedding, "load_encoder", lambda name, _: asked.append(name) or BagEncoder())
    for kind in ("embedding", "embedding-iterated", "bm25-embedding"):
        build_ranker(RankerSettings(kind, str(tmp_path)), corpus(["ice"])).rank(Question("q", "ice"))
    assert set(asked) == {str(tmp_path)}
