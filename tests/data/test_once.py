"""A large corpus is read once, and again whenever its files change."""

import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from arcf.data import load, once
from arcf.errors import ArcfWarning, InputError
from arcf.kept.facts import KeptFacts
from arcf.types import Dataset


@pytest.fixture(autouse=True)
def cache(empty_cache: Path) -> Path:
    return empty_cache


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "facts.csv").write_text("uid,text,table,core\na,ice is solid,KINDOF,ice solid\nb,größe,,\n")
    (folder / "questions.jsonl").write_text(
        '{"id": "q1", "question": "What?", "options": ["ice", "fire"], "answer": "A", "gold": ["a", "zz"]}\n'
    )
    return folder


def content(dataset: Dataset) -> tuple[object, ...]:
    return dataset.name, tuple(dataset.facts), dict(dataset.splits)


def fresh(path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    with monkeypatch.context() as patch:
        patch.setattr(once, "WORTH_FACTS", 10**9)
        patch.setenv("ARCF_CACHE", str(path.parent / "another"))
        return load(path)


@pytest.mark.filterwarnings("ignore:.*gold uids belong to no fact")
def test_what_is_kept_is_what_was_read(corpus: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fresh(corpus, monkeypatch)
    first = load(corpus)
    with monkeypatch.context() as patch:
        patch.setattr("arcf.data.source.Folder.text", lambda *_: pytest.fail("read again"))
        second = load(corpus)
    assert content(first) == content(second) == content(expected)
    assert isinstance(second.facts, KeptFacts)
    assert len(list((cache / "corpora").iterdir())) == 1


def test_warnings_are_given_again(corpus: Path) -> None:
    for _ in range(2):
        with pytest.warns(ArcfWarning, match=r"corpus: 1 gold uids belong to no fact \(zz\)"):
            load(corpus)


@pytest.mark.filterwarnings("ignore:.*gold uids belong to no fact")
@pytest.mark.parametrize("changed", ["facts.csv", "questions.jsonl", "questions.dev.jsonl"])
def test_a_changed_file_is_read_again(corpus: Path, changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(corpus)
    line = "c,fire is hot,,\n" if changed == "facts.csv" else '{"id": "q2", "question": "Why?"}\n'
    with (corpus / changed).open("a") as file:
        file.write(line)
    assert content(load(corpus)) == content(fresh(corpus, monkeypatch))


def test_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "packed.zip"
    for text in ("ice is solid", "ice is cold"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("top/facts.txt", text)
        assert [fact.text for fact in load(path).facts] == [text]
        assert content(load(path)) == content(fresh(path, monkeypatch))


def test_the_same_content_in_another_format_or_under_another_name(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "a.tsv"):
        (tmp_path / name).write_text("text\tuid\nice\tx\n")
        assert load(tmp_path / name).name == name[0]
    assert [fact.uid for fact in load(tmp_path / "a.txt").facts] == ["line-1", "line-2"]
    assert [fact.uid for fact in load(tmp_path / "a.tsv").facts] == ["x"]


def test_worldtree_is_kept_too(worldtree_like: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = worldtree_like(2020)
    expected = content(fresh(folder, monkeypatch))
    assert content(load(folder)) == content(load(folder)) == expected
    (folder / "tables" / "MORE.tsv").write_text("WHAT\t[SKIP] UID\nfrost is cold\tnew-1\n")
    assert load(folder).ids["new-1"] == len(load(folder).facts) - 1


def test_what_others_warn_of_meanwhile_is_not_the_corpus_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings belong to the process: whoever catches them while it reads has other threads' as well."""
    path = tmp_path / "facts.txt"
    path.write_text("ice\n")

    def warn_meanwhile(*_: object) -> str:
        other = Thread(target=lambda: warnings.warn("a question is too long", ArcfWarning, stacklevel=1))
        other.start()
        other.join()
        warnings.warn("this way of reading is out of date", DeprecationWarning, stacklevel=1)
        return "ice\n"

    monkeypatch.setattr("arcf.data.source.SingleFile.text", warn_meanwhile)
    with pytest.warns() as told:
        load(path)
    assert [warning.category for warning in told] == [ArcfWarning, DeprecationWarning]
    assert isinstance(load(path).facts, KeptFacts)  # without a warning


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "facts.txt"
    path.write_text("ice\n")

    def write_meanwhile(*_: object) -> str:
        path.write_text("fire\n")
        return "ice\n"

    monkeypatch.setattr("arcf.data.source.SingleFile.text", write_meanwhile)
    assert [fact.text for fact in load(path).facts] == ["ice"]
    assert not cache.exists()


def test_mistakes_are_not_kept(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"text": ""}\n')
    for _ in range(2):
        with pytest.raises(InputError, match="has no 'text'"):
            load(path)
    assert not cache.exists()


def test_small_corpora_are_not_kept(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "WORTH_FACTS", 2)
    (tmp_path / "facts.txt").write_text("ice\n")
    assert load(tmp_path / "facts.txt").facts == load(tmp_path / "facts.txt").facts
    assert not cache.exists()


@pytest.mark.parametrize("damage", [b"", b"damaged"])
def test_damage_is_repaired(tmp_path: Path, cache: Path, damage: bytes) -> None:
    (tmp_path / "facts.txt").write_text("ice\n")
    expected = content(load(tmp_path / "facts.txt"))
    (path,) = (cache / "corpora").iterdir()
    path.write_bytes(damage)
    with pytest.warns(ArcfWarning, match="It is made again now"):
        assert content(load(tmp_path / "facts.txt")) == expected
    assert content(load(tmp_path / "facts.txt")) == expected
