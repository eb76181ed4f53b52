import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import InputError
from arcf.files import atomic_write, decode, read_text, write_text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decode_reads_back_any_text(text: str) -> None:
    assert decode(text.encode(), "x") == text.removeprefix("\ufeff")


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfmoss")
    assert read_text(tmp_path / "x") == "moss"


def test_not_utf8_names_the_line() -> None:
    with pytest.raises(InputError, match=r"^x\.txt:3: is not UTF-8 text"):
        decode(b"a\nb\nc\xff\nd\xff", "x.txt")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: cannot be read \(No such file or directory\)\.$"):
        read_text(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)


def test_write_makes_the_folders_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.txt"
    write_text(path, "moss é\n")
    assert read_text(path) == "moss é\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_text(path, "old")

    def fail_half_way() -> None:
        with atomic_write(path) as file:
            file.write(b"new")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    assert read_text(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x.txt", "moss")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"x\.txt: cannot be written"):
        write_text(tmp_path / "file" / "x.txt", "moss")
