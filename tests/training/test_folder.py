from pathlib import Path

import pytest

from arcf.training.folder import whole_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_there_before_the_end(tmp_path: Path) -> None:
    wanted = tmp_path / "runs" / "model"
    with whole_folder(wanted) as folder:
        (folder / "a").write_text("1")
        assert not wanted.exists()
    assert names(wanted) == ["a"]
    assert names(wanted.parent) == ["model"]


def test_files_are_replaced(tmp_path: Path) -> None:
    for value in ("1", "2"):
        with whole_folder(tmp_path / "model") as folder:
            (folder / "a").write_text(value)
    assert (tmp_path / "model" / "a").read_text() == "2"
    assert names(tmp_path) == ["model"]


def fail_in(path: Path) -> None:
    with whole_folder(path) as folder:
        (folder / "a").write_text("2")
        raise OSError("full")


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
    for path in (tmp_path / "model", tmp_path / "new"):
        with pytest.raises(OSError, match="full"):
            fail_in(path)
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "a").read_text() == "1"


def test_what_a_kill_left_behind_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".model.partial").mkdir()
    (tmp_path / ".model.partial" / "half").write_text("")
    with whole_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["a"]
