"""Folders that travel."""

import errno
from pathlib import Path

import pytest

from arcf.cluster import Folder, pack
from arcf.errors import InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    (folder / "onnx").mkdir(parents=True)
    (folder / "config.json").write_text('{"é": 1}', encoding="utf-8")
    (folder / "onnx" / "model.onnx").write_bytes(bytes(range(256)) * 10)
    (folder / "empty").touch()
    return folder


def test_what_is_unpacked_is_what_was_packed(folder: Path) -> None:
    there = pack(folder).unpack()
    assert there != folder
    names = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    assert sorted(path.relative_to(there) for path in there.rglob("*")) == names
    for name in names:
        if (folder / name).is_file():
            assert (there / name).read_bytes() == (folder / name).read_bytes()


def test_it_is_written_once(folder: Path) -> None:
    there = pack(folder).unpack()
    (there / "mark").touch()
    assert (pack(folder).unpack() / "mark").exists()
    (folder / "config.json").write_text("{}")
    assert pack(folder).unpack() != there


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(folder)

    def full(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path), content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\); make room there"):
        packed.unpack()
    assert not list((folder.parent / "cache" / "arcf" / "models").iterdir())


def test_somebody_else_was_faster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(folder)
    write = Folder._write

    def late(self: Folder, there: Path) -> None:
        write(self, there)
        write(self, there)

    monkeypatch.setattr(Folder, "_write", late)
    assert (packed.unpack() / "config.json").read_bytes() == (folder / "config.json").read_bytes()
    assert len(list((folder.parent / "cache" / "arcf" / "models").iterdir())) == 1
