"""Arrays on disk: as they were written, or not believed."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.kept.arrays import read_arrays, write_arrays, writing
from arcf.kept.head import ALIGNMENT, About, Head, Slot

ABOUT = About("words", 3, "digest", "größe", "model")
ARRAYS: dict[str, NDArray[Any]] = {
    "numbers": np.arange(5, dtype=np.int32),
    "none": np.empty((0, 3), dtype=np.float64),
    "one": np.array(7),
    "rows": np.arange(6.0).reshape(2, 3).T,
}
DTYPES = st.sampled_from([np.dtype(kind) for kind in ("<i4", "<i8", "<f2", "<f8", "u1", "?")])


def write(path: Path) -> None:
    write_arrays(path, "mark", ABOUT, ARRAYS)


def read(path: Path, mark: str = "mark") -> dict[str, NDArray[Any]]:
    arrays = read_arrays(path, mark)
    assert arrays is not None
    return dict(arrays)


def assert_equal(found: dict[str, NDArray[Any]], expected: dict[str, NDArray[Any]]) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.dictionaries(st.text(max_size=5), DTYPES.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_side=0))))
)
def test_round_trip(tmp_path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    write_arrays(tmp_path / "new" / "one.kept", "mark", ABOUT, arrays)
    found = read(tmp_path / "new" / "one.kept")
    assert all(array.ctypes.data % ALIGNMENT == 0 for array in found.values())
    assert all(not array.flags.writeable for array in found.values())
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()  # nan is nan


def test_only_complete_files_appear(tmp_path: Path) -> None:
    write(tmp_path / "one.kept")
    assert [path.name for path in tmp_path.iterdir()] == ["one.kept"]
    head = Head("mark", ABOUT, 0, {"states": Slot("<f2", (4, 2))})
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "two.kept", head):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["one.kept"]


def test_objects_are_never_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="only plain numbers"):
        write_arrays(tmp_path / "one.kept", "mark", ABOUT, {"odd": np.array([object()], dtype=object)})
    assert list(tmp_path.iterdir()) == []


def test_nothing_there(tmp_path: Path) -> None:
    assert read_arrays(tmp_path / "none.kept", "mark") is None
    assert read_arrays(tmp_path / "no folder" / "none.kept", "mark") is None
    (tmp_path / "file").touch()
    assert read_arrays(tmp_path / "file" / "none.kept", "mark") is None


def test_another_mark(tmp_path: Path) -> None:
    write(tmp_path / "one.kept")
    with pytest.raises(InputError, match=r"one\.kept: is damaged, or something else"):
        read_arrays(tmp_path / "one.kept", "another")


@pytest.mark.parametrize("content", [b"", b"PK", b"arcf kept 1 99999999999999999999", b"no file of ours" * 99, b"\n"])
def test_something_else(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "one.kept").write_bytes(content)
    with pytest.raises(InputError, match=r"one\.kept: is"):
        read_arrays(tmp_path / "one.kept", "mark")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_arrays(tmp_path, "mark")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_damage_is_found_or_harmless(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "one.kept"
    write(path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans(), label="cut"):
        content = content[: data.draw(st.integers(0, len(content) - 1), label="length")]
    else:
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= data.draw(st.integers(1, 255), label="flip")
    path.write_bytes(content)
    try:
        found = read(path)
    except InputError:
        return
    assert_equal(found, ARRAYS)


def test_a_copy_is_checked_once_and_then_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "one.kept")
    copy = tmp_path / "copy.kept"
    copy.write_bytes((tmp_path / "one.kept").read_bytes())
    checked: list[object] = []
    monkeypatch.setattr("arcf.kept.arrays._check", lambda *found: checked.append(found))
    for _ in range(3):
        assert_equal(read(copy), ARRAYS)
    assert len(checked) == 1


def test_an_array_without_checksum_is_not_believed_after_a_change(tmp_path: Path) -> None:
    path = tmp_path / "one.kept"
    with writing(path, Head("mark", ABOUT, 0, {"states": Slot("<f2", (4, 2))})) as (file, starts):
        file.seek(starts["states"])
        file.write(np.ones((4, 2), "<f2").tobytes())
    assert read(path)["states"].sum() == 8
    path.write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"one\.kept: is damaged"):
        read_arrays(path, "mark")


def test_what_was_read_stays_when_the_file_is_replaced_or_deleted(tmp_path: Path) -> None:
    path = tmp_path / "one.kept"
    write(path)
    found = read(path)
    write_arrays(path, "mark", ABOUT, {"numbers": np.zeros(1)})
    path.unlink()
    assert_equal(found, ARRAYS)


def test_a_folder_that_cannot_be_written_to_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "one.kept")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "utime", refuse)
    assert_equal(read(tmp_path / "one.kept"), ARRAYS)
