"""Folders that travel."""

import errno
import os
from pathlib import Path

import pytest

from arcf.cluster import Folder, pack
from arcf.errors import InputError


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "onnx").mkdir(parents=True)
    (folder / "config.json").write_text('{"é": 1}', encoding="utf-8")
    (folder / "onnx" / "model.onnx").write_bytes(bytes(range(256)) * 10)
    (folder / "empty").touch()
    return folder


def test_what_is_unpacked_is_what_was_packed(folder: Path, models: Path) -> None:
    there = pack(folder).unpack(models)
    assert there != folder
    names = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    assert sorted(path.relative_to(there) for path in there.rglob("*")) == names
    for name in names:
        if (folder / name).is_file():
            assert (there / name).read_bytes() == (folder / name).read_bytes()


def test_it_is_written_once(folder: Path, models: Path) -> None:
    there = pack(folder).unpack(models)
    (there / "mark").touch()
    os.utime(there, (0, 0))
    assert (pack(folder).unpack(models) / "mark").exists()
    assert there.stat().st_mtime > 0  # as it was asked for again
    (folder / "config.json").write_text("{}")
    assert pack(folder).unpack(models) != there


def test_a_full_disk_leaves_nothing_behind(folder: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(folder)

    def full(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path), content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\); make room there"):
        packed.unpack(models)
    assert not list(models.iterdir())


def test_somebody_else_was_faster(folder: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(folder)
    write = Folder._write

    def late(self: Folder, there: Path) -> None:
        write(self, there)
        write(self, there)

    monkeypatch.setattr(Folder, "_write", late)
    assert (packed.unpack(models) / "config.json").read_bytes() == (folder / "config.json").read_bytes()
    assert len(list(models.iterdir())) == 1
