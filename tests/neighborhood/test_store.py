import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcf.errors import ArcfWarning, InputError
from arcf.neighborhood import DISTANCES, Distance, Lexical, SparseDistance, TfIdf, store
from arcf.neighborhood.base import State
from arcf.neighborhood.store import fingerprint, load, load_or_build, save
from arcf.types import Fact, Question

LEXICAL = sorted(name for name, recipe in DISTANCES.items() if isinstance(recipe, Lexical))
FACTS = (Fact("a", "ice melts"), Fact("b", "ice is solid water"), Fact("c", "水 flows"), Fact("d", ""))
QUESTIONS = (Question("q", "What melts?", answer="ice"),)
TFIDF = Lexical(TfIdf())


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
def test_round_trip(name: str, tmp_path: Path) -> None:
    recipe = DISTANCES[name]
    built = recipe.build(FACTS, QUESTIONS)
    save(built, tmp_path / "new" / "one.npz", "mark")
    assert same(load(recipe, tmp_path / "new" / "one.npz", "mark"), built)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one.npz"]


def test_an_empty_corpus_survives_too(tmp_path: Path) -> None:
    save(TFIDF.build([], []), tmp_path / "none.npz", "mark")
    assert load(TFIDF, tmp_path / "none.npz", "mark").size == 0


def test_files_hold_no_objects(tmp_path: Path) -> None:
    save(TFIDF.build(FACTS, QUESTIONS), tmp_path / "one.npz", "mark")
    with np.load(tmp_path / "one.npz", allow_pickle=False) as file:
        assert not any(array.dtype.hasobject for array in file.values())


def test_objects_in_a_file_are_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    save(TFIDF.build(FACTS, QUESTIONS), path, "mark")
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"vocabulary": np.array([{"an": "object"}], dtype=object)}))
    with pytest.raises(InputError, match=r"one\.npz: cannot be read as a saved neighborhood"):
        load(TFIDF, path, "mark")


def test_objects_are_never_written(tmp_path: Path) -> None:
    class Odd(SparseDistance):
        def state(self) -> State:
            return {"odd": np.array([object()], dtype=object)}

    built = TFIDF.build(FACTS, ())
    with pytest.raises(ValueError, match="pickle"):
        save(Odd(built.counts, built.weighting, built.analyzer), tmp_path / "one.npz", "mark")
    assert list(tmp_path.iterdir()) == []


def test_another_fingerprint_or_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.npz"
    save(TFIDF.build(FACTS, QUESTIONS), path, "mark")
    with pytest.raises(InputError, match=r"one\.npz: was made from other facts, questions or settings"):
        load(TFIDF, path, "another")
    monkeypatch.setattr(store, "FORMAT", 999)
    with pytest.raises(InputError, match="was made from other"):
        load(TFIDF, path, "mark")


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all" * 99])
def test_something_else(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged, or something else"):
        load(TFIDF, path, "mark")


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="damaged, or something else"):
        load(TFIDF, path, "mark")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.npz: is not there"):
        load(TFIDF, tmp_path / "none.npz", "mark")
    with pytest.raises(InputError, match="damaged, or something else"):
        load(TFIDF, tmp_path, "mark")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(data=st.data())
def test_damage_is_found_or_harmless(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    built = TFIDF.build(FACTS, QUESTIONS)
    save(built, path, "mark")
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans(), label="cut"):
        content = content[: data.draw(st.integers(0, len(content) - 1), label="length")]
    else:
        content[data.draw(st.integers(0, len(content) - 1), label="place")] ^= data.draw(
            st.integers(1, 255), label="flip"
        )
    path.write_bytes(content)
    try:
        loaded = load(TFIDF, path, "mark")
    except InputError:
        return
    assert same(loaded, built)


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


def test_what_took_long_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WORTH_SECONDS", 0.0)
    recipe = Counting([])
    first = load_or_build(recipe, FACTS, QUESTIONS, tmp_path)
    second = load_or_build(recipe, FACTS, QUESTIONS, tmp_path)
    assert same(first, second)
    assert len(recipe.builds) == 1
    load_or_build(recipe, FACTS[:-1], QUESTIONS, tmp_path)
    assert len(recipe.builds) == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_what_was_quick_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WORTH_SECONDS", 3600.0)
    assert load_or_build(TFIDF, FACTS, QUESTIONS, tmp_path).size == len(FACTS)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WORTH_SECONDS", 0.0)
    recipe = Counting([])
    load_or_build(recipe, FACTS, QUESTIONS, tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(ArcfWarning, match="It is built again now"):
        again = load_or_build(recipe, FACTS, QUESTIONS, tmp_path)
    assert same(again, TFIDF.build(FACTS, QUESTIONS))
    assert same(load_or_build(recipe, FACTS, QUESTIONS, tmp_path), again)
    assert len(recipe.builds) == 2


def test_a_cache_that_cannot_be_written_costs_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WORTH_SECONDS", 0.0)
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    with pytest.warns(ArcfWarning) as raised:
        distance = load_or_build(TFIDF, FACTS, QUESTIONS, folder)
    assert "The neighborhood is not kept for next time" in str(raised[-1].message)
    assert same(distance, TFIDF.build(FACTS, QUESTIONS))


def test_the_cache_is_the_users_own_unless_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    load_or_build(TFIDF, FACTS, QUESTIONS)
    name = fingerprint(TFIDF, FACTS, QUESTIONS)
    assert [path.name for path in (tmp_path / "arcf" / "neighborhoods").iterdir()] == [f"{name}.npz"]
