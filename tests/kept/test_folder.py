"""The cache as a whole: shown, pruned, bounded."""

import os
from pathlib import Path
from time import time

import numpy as np
import pytest

from arcf.kept import folder
from arcf.kept.arrays import read_arrays, write_arrays
from arcf.kept.folder import DAY, MODELS, cache_folder, entries, keep_bounded, kept_path, prune
from arcf.kept.head import About


def add(name: str, days: float, size: int = 1000) -> Path:
    path = kept_path("words", name)
    write_arrays(path, name, About("words", 3, "digest", name), {"bytes": np.zeros(size, np.uint8)})
    used = time() - days * DAY
    os.utime(path, (used, used))
    return path


def names() -> list[str]:
    return [entry.path.stem for entry in entries()]


def test_an_empty_cache(cache: Path) -> None:
    assert cache_folder() == cache
    assert entries() == prune(older_than=0) == prune(limit=0) == []
    keep_bounded()


def test_the_users_own_folder_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCF_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    assert cache_folder() == tmp_path / "arcf"


def test_what_else_is_in_the_named_folder_is_nobodys_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names a folder of theirs loses nothing, however old it is."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path))
    theirs = [tmp_path / name for name in ("project/.env", "photos/old.jpg", "models/mine/weights.bin")]
    for path in theirs:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"dear")
        for one in (path, path.parent):
            os.utime(one, (time() - 400 * DAY,) * 2)
    own = add("own", 1)
    keep_bounded()
    assert [entry.path for entry in prune(limit=0)] == [own]
    assert own.is_relative_to(tmp_path / "arcf-cache")
    assert all(path.exists() for path in theirs)


def test_the_last_used_first_and_what_they_are() -> None:
    for name, days in (("b", 5), ("a", 9), ("c", 1)):
        add(name, days)
    assert names() == ["c", "b", "a"]
    first = entries()[0]
    assert first.about == About("words", 3, "digest", "c")
    assert first.bytes == first.path.stat().st_size
    assert time() - first.used == pytest.approx(DAY, abs=60)


def test_using_a_file_renews_it() -> None:
    path = add("old", 50)
    add("new", 1)
    assert read_arrays(path, "old") is not None
    assert names() == ["old", "new"]


def test_prune_by_age_and_by_size() -> None:
    for name, days in (("a", 9), ("b", 5), ("c", 1)):
        add(name, days)
    assert [entry.path.stem for entry in prune(older_than=7)] == ["a"]
    assert names() == ["c", "b"]
    assert [entry.path.stem for entry in prune(limit=2 * 1000)] == ["b"]
    prune(limit=0)
    assert names() == []


def test_it_stays_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LIMIT_BYTES", 5000)
    add("unused", folder.LIMIT_DAYS + 1)
    for number in range(4):
        add(f"file-{number}", 4 - number)
    keep_bounded()
    assert names() == ["file-3", "file-2", "file-1"]
    add("large", 0, size=9000)
    keep_bounded()
    assert names() == ["large"]


def add_model(name: str, days: float) -> Path:
    folder = cache_folder() / MODELS / name
    (folder / "onnx").mkdir(parents=True)
    (folder / "config.json").write_bytes(b"{}")
    (folder / "onnx" / "model.onnx").write_bytes(bytes(1000))
    os.utime(folder, (time(), time() - days * DAY))  # To list a folder is not to use the model.
    return folder


def test_models_of_other_machines_are_shown_and_pruned() -> None:
    add("file", 3)
    for name, days in (("old", 9), ("new", 1), (".half", 2)):
        add_model(name, days)
    assert [(entry.path.name, entry.bytes) for entry in entries() if entry.path.parent.name == MODELS] == [
        ("new", 1002),
        (".half", 1002),
        ("old", 1002),
    ]
    assert [entry.about for entry in entries()[:2]] == [About("model", 0, "", model="new"), None]
    assert [entry.path.name for entry in prune(older_than=7)] == [".half", "old"]
    assert names() == ["new", "file"]
    assert len(prune(limit=0)) == 2
    assert list((cache_folder() / MODELS).iterdir()) == []


def test_other_folders_are_left_alone(cache: Path) -> None:
    (cache / "words" / "folder").mkdir(parents=True)
    assert entries() == prune(limit=0) == []
    assert (cache / "words" / "folder").is_dir()


def test_leftovers_and_files_of_others_are_shown_and_pruned(cache: Path) -> None:
    add("own", 1)
    add_dotted(".own.kept.1234", days=2)
    (cache / "neighborhoods").mkdir()
    (cache / "neighborhoods" / "old.npz").write_bytes(b"PK")
    assert {entry.path.name: entry.about is None for entry in entries()} == {
        "own.kept": False,
        ".own.kept.1234": True,
        "old.npz": True,
    }
    assert len(prune(limit=0)) == 3


def add_dotted(name: str, days: float, size: int = 1000) -> Path:
    path = cache_folder() / "words" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (time() - days * DAY,) * 2)
    return path


def test_what_others_are_writing_is_neither_counted_nor_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LIMIT_BYTES", 3000)
    add("large", 0.5, size=9000)
    under_way = [add_dotted(".new.kept.12ab", 0, size=9000), add_dotted(".mark.lock", 0, size=0), add_model(".xyz", 0)]
    keep_bounded()
    assert names() == ["large"]
    assert len(prune(older_than=0)) == 1
    assert entries() == prune(limit=0) == []
    assert all(path.exists() for path in under_way)


def test_leftovers_go_and_the_file_that_was_used_last_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LIMIT_BYTES", 3000)
    add("large", 9, size=9000)
    leftovers = [add_dotted(".mark.lock", 2, size=0), add_dotted(".new.kept.12ab", 3), add_model(".xyz", 4)]
    keep_bounded()
    assert names() == ["large"]
    assert not any(path.exists() for path in leftovers)
