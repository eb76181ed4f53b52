from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arcf.errors import ArcfWarning
from arcf.kept import keeping
from arcf.kept.facts import KeptFacts, TextFacts
from arcf.neighborhood import DISTANCES, Distance, Embedding, EmbeddingDistance, Lexical, SparseDistance, TfIdf
from arcf.neighborhood.base import State
from arcf.neighborhood.store import find_embedding, fingerprint, load_or_build
from arcf.sentences import Encoder, Vectors, many
from arcf.types import Fact, Question

LEXICAL = sorted(name for name, recipe in DISTANCES.items() if isinstance(recipe, Lexical))
FACTS = (Fact("a", "ice melts"), Fact("b", "ice is solid water"), Fact("c", "水 flows"), Fact("d", ""))
QUESTIONS = (Question("q", "What melts?", answer="ice"),)
TFIDF = Lexical(TfIdf())


@pytest.fixture(autouse=True)
def cache(empty_cache: Path) -> Path:
    return empty_cache


@dataclass(frozen=True)
class Counting:
    """A recipe that notes how often it was built."""

    builds: list[int]

    def build(self, facts: Sequence[Fact], questions: Sequence[Question]) -> SparseDistance:
        self.builds.append(1)
        return TFIDF.build(facts, questions)

    def restore(self, state: State) -> SparseDistance:
        return TFIDF.restore(state)

    def identity(self) -> str:
        return "counting"


def same(one: Distance, other: Distance) -> bool:
    answers = [np.array_equal(one.distances(text), other.distances(text)) for text in ("ice water", "水", "zebra")]
    return all(answers) and all(np.array_equal(one.nearest(fact, 9), other.nearest(fact, 9)) for fact in range(4))


@pytest.mark.parametrize("name", LEXICAL)
def test_round_trip(name: str) -> None:
    recipe = DISTANCES[name]
    built = recipe.build(FACTS, QUESTIONS)
    assert same(load_or_build(recipe, FACTS, QUESTIONS), built)
    assert same(load_or_build(recipe, FACTS, QUESTIONS), built)
    assert not any(array.dtype.hasobject for array in built.state().values())


def test_an_empty_corpus_survives_too() -> None:
    assert load_or_build(TFIDF, [], []).size == load_or_build(TFIDF, [], []).size == 0


def test_words_are_counted_once_for_all_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {name: DISTANCES[name].build(FACTS, QUESTIONS) for name in LEXICAL}
    load_or_build(TFIDF, FACTS, ())
    monkeypatch.setattr(Lexical, "count", lambda *_: pytest.fail("counted again"))
    for name in LEXICAL:
        assert same(load_or_build(DISTANCES[name], FACTS, QUESTIONS), expected[name])
    load_or_build(TFIDF, TextFacts([fact.text for fact in FACTS]), ())
    with pytest.raises(pytest.fail.Exception, match="counted again"):
        load_or_build(Lexical(TfIdf(), core_twice=True), FACTS, ())


def test_fingerprints_tell_contents_apart() -> None:
    variants = [
        fingerprint(TFIDF, FACTS, QUESTIONS),
        fingerprint(Lexical(TfIdf(sublinear=True)), FACTS, QUESTIONS),
        fingerprint(TFIDF, FACTS[::-1], QUESTIONS),
        fingerprint(TFIDF, FACTS[:-1], QUESTIONS),
        fingerprint(TFIDF, FACTS, ()),
        fingerprint(TFIDF, [*FACTS, Fact("e", "What melts? ice")], ()),
        fingerprint(TFIDF, [Fact("a", "ice melts", core="ice"), *FACTS[1:]], QUESTIONS),
        fingerprint(TFIDF, [Fact("a", "ab"), Fact("b", "c")], ()),
        fingerprint(TFIDF, [Fact("a", "a"), Fact("b", "bc")], ()),
        fingerprint(TFIDF, [Fact("a", "\ud800")], ()),
    ]
    assert len(set(variants)) == len(variants)
    assert all(len(mark) == 64 for mark in variants)
    assert fingerprint(Lexical(TfIdf()), list(FACTS), list(QUESTIONS)) == variants[0]
    assert fingerprint(TFIDF, KeptFacts(KeptFacts.arrays(FACTS)), QUESTIONS) == variants[0]


def test_what_took_long_is_built_once(cache: Path) -> None:
    recipe = Counting([])
    first = load_or_build(recipe, FACTS, QUESTIONS)
    second = load_or_build(recipe, FACTS, QUESTIONS)
    assert same(first, second)
    assert len(recipe.builds) == 1
    load_or_build(recipe, FACTS[:-1], QUESTIONS)
    assert len(recipe.builds) == 2
    assert len(list((cache / "distances").iterdir())) == 2


def test_what_was_quick_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "WORTH_SECONDS", 3600.0)
    assert load_or_build(TFIDF, FACTS, QUESTIONS).size == len(FACTS)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_damaged_cache_is_replaced(cache: Path) -> None:
    recipe = Counting([])
    load_or_build(recipe, FACTS, QUESTIONS)
    (path,) = (cache / "distances").iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(ArcfWarning, match="It is made again now"):
        again = load_or_build(recipe, FACTS, QUESTIONS)
    assert same(again, TFIDF.build(FACTS, QUESTIONS))
    assert same(load_or_build(recipe, FACTS, QUESTIONS), again)
    assert len(recipe.builds) == 2


@pytest.fixture
def three_blocks(monkeypatch: pytest.MonkeyPatch, plain_encoder: Any) -> list[str]:
    """Texts that are encoded in blocks of two, and what was encoded so far."""
    monkeypatch.setattr(many, "BLOCK", 2)
    plain_encoder.encoded.clear()
    return plain_encoder.encoded  # type: ignore[no-any-return]


TEXTS = TextFacts(["ice", "water", "ICE", "heat", "", "bird", "ant"])


def test_vectors_are_encoded_once_for_both_searches(cache: Path, three_blocks: list[str]) -> None:
    pytest.importorskip("faiss")
    exact, approximate = (load_or_build(Embedding("plain", way), TEXTS, ()) for way in (False, True))
    assert three_blocks == ["ice", "water", "heat", "bird", "ant"]
    assert isinstance(approximate, EmbeddingDistance)
    assert approximate.graph is not None
    assert same(exact, approximate)
    assert sorted(path.parent.name for path in cache.rglob("*.kept")) == ["distances", "graphs"]


def test_a_kill_costs_one_block(cache: Path, three_blocks: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Embedding("plain").build(TEXTS, ())
    (cache / "vectors").rename(cache / "elsewhere")
    three_blocks.clear()
    encode = many._block

    def killed(encoder: Encoder, texts: Sequence[str], mark: str) -> Vectors:
        if "heat" in texts:
            raise KeyboardInterrupt
        return encode(encoder, texts, mark)

    monkeypatch.setattr(many, "_block", killed)
    with pytest.raises(KeyboardInterrupt):
        load_or_build(Embedding("plain"), TEXTS, ())
    monkeypatch.setattr(many, "_block", encode)
    found = load_or_build(Embedding("plain"), TEXTS, ())
    assert three_blocks == ["ice", "water", "heat", "bird", "ant"]
    assert same(found, whole)
    assert list((cache / "vectors").iterdir()) == []


def test_blocks_stay_until_all_is_kept(cache: Path, three_blocks: list[str]) -> None:
    cache.mkdir(parents=True)
    (cache / "distances").write_text("a file where the folder should be")
    load_or_build(Embedding("plain"), TEXTS, ())
    assert len(list((cache / "vectors").iterdir())) == 2
    load_or_build(Embedding("plain"), TEXTS, ())
    assert three_blocks == ["ice", "water", "heat", "bird", "ant", "ant"]


@pytest.mark.usefixtures("three_blocks")
def test_a_cache_that_cannot_be_looked_into_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied() -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("arcf.neighborhood.store.kept_path", lambda *_: SimpleNamespace(exists=denied))
    found = load_or_build(Embedding("plain", approximate=False), TEXTS, ())
    assert same(found, Embedding("plain").build(TEXTS, ()))


def test_vectors_that_are_there(three_blocks: list[str]) -> None:
    assert find_embedding("plain", TEXTS.texts) is None
    load_or_build(Embedding("plain", approximate=False), TEXTS, ())
    three_blocks.clear()
    found = find_embedding("plain", TEXTS.texts)
    assert found is not None
    assert found.vectors.shape[0] == 5
    assert three_blocks == []
    assert find_embedding("plain", TEXTS.texts[:-1]) is None
