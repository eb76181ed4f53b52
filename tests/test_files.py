import errno
import fcntl
import io
import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.data import data_directory
from arcf.errors import InputError
from arcf.files import (
    atomic_write,
    check_writable,
    decode,
    locked,
    make_folder,
    read_input,
    read_json,
    read_text,
    usual_mode,
    write_text,
)
from arcf.kept.folder import cache_folder


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_decode_reads_back_any_text(text: str) -> None:
    assert decode(text.encode(), "x") == text.removeprefix("\ufeff")


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfmoss")
    assert read_text(tmp_path / "x") == "moss"


def test_input_is_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("moss")
    assert read_input(tmp_path / "x") == ("moss", str(tmp_path / "x"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("é".encode()), encoding="ascii"))
    assert read_input(Path("-")) == ("é", "standard input")


def test_not_utf8_names_the_line() -> None:
    with pytest.raises(InputError, match=r"^x\.txt:3: is not UTF-8 text"):
        decode(b"a\nb\nc\xff\nd\xff", "x.txt")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_other_encodings_of_plain_english_are_not_utf8(encoding: str) -> None:
    with pytest.raises(InputError, match=r"^x\.txt:1: is not UTF-8 text"):
        decode("moss is green\nherons wade\n".encode(encoding), "x.txt")


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match=r"^standard input: is closed\.$"):
        read_input(Path("-"))


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000])
def test_json_that_python_does_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match="is JSON that cannot be read: a number is too long, or it is nested too deep"):
        read_json(tmp_path / "x.json")


def test_somebody_without_a_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", nobody)
    for variable, folder in (("ARCF_DATA", data_directory), ("ARCF_CACHE", cache_folder)):
        monkeypatch.setenv(variable, "~/here")
        with pytest.raises(InputError, match=f"no home directory .* name a folder by the variable {variable}"):
            folder()


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: cannot be read \(No such file or directory\)\.$"):
        read_text(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_reads_back_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_text(path, "moss é\n")
    assert read_text(path) == "moss é\n"
    assert list(tmp_path.iterdir()) == [path]


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


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_text(tmp_path / "x.txt", "moss")
    assert raised.value.filename == str(tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o027, 0o640), (0o022, 0o644), (0o077, 0o600)])
def test_a_written_file_is_as_readable_as_any_other(tmp_path: Path, umask: int, mode: int) -> None:
    moved = tmp_path / "moved"
    moved.touch(mode=0o600)
    before = os.umask(umask)
    try:
        write_text(tmp_path / "x.txt", "moss")
        usual_mode(moved)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "x.txt") == mode
    assert mode_of(moved) == mode


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.touch()
    path.chmod(0o604)
    write_text(path, "moss")
    assert mode_of(path) == 0o604


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    write_text(tmp_path / ("x" * 255), "moss")
    with pytest.raises(InputError, match=r"cannot be written \(File name too long\)\.$"):
        write_text(tmp_path / ("x" * 256), "moss")


@pytest.mark.parametrize("exists", [False, True])
def test_a_link_stays_and_leads_to_the_new_content(tmp_path: Path, exists: bool) -> None:
    link, between, real = tmp_path / "link", tmp_path / "between", tmp_path / "folder" / "real.txt"
    real.parent.mkdir()
    if exists:
        real.write_text("old")
        real.chmod(0o640)
    between.symlink_to("folder/real.txt")
    link.symlink_to(between)
    check_writable(link)
    assert real.exists() == exists
    write_text(link, "new")
    assert (link.is_symlink(), between.is_symlink(), real.is_symlink()) == (True, True, False)
    assert real.read_text() == "new"
    assert not exists or mode_of(real) == 0o640
    assert list(real.parent.iterdir()) == [real]


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize(
    ("make", "kind"),
    [(Path.mkdir, "a folder"), (os.mkfifo, "a pipe"), (make_socket, "a socket"), (None, "a device")],
)
def test_only_files_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None] | None, kind: str, through_link: bool
) -> None:
    monkeypatch.chdir(tmp_path)  # The path of a socket must be short.
    there = Path("there") if make else Path("/dev/full")
    if make:
        make(there)
    path = there
    if through_link:
        path = Path("link")
        path.symlink_to(there)
    before = there.stat().st_mode
    for attempt in (check_writable, lambda path: write_text(path, "moss")):
        with pytest.raises(InputError, match=rf"^{path}: is {kind}; give the name of a file to write\.$"):
            attempt(path)
    assert there.stat().st_mode == before


def test_a_link_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(InputError, match=r"link: cannot be written \("):
        write_text(tmp_path / "link", "moss")
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("attempt", [check_writable, lambda path: write_text(path, "moss")])
def test_a_folder_that_does_not_exist_is_not_made(tmp_path: Path, attempt: Callable[[Path], None]) -> None:
    expected = rf"x\.txt: cannot be written: there is no folder {tmp_path / 'a'}; make it first\.$"
    with pytest.raises(InputError, match=expected):
        attempt(tmp_path / "a" / "x.txt")
    (tmp_path / "link").symlink_to("a/x.txt")
    with pytest.raises(InputError, match=rf"link: cannot be written: there is no folder {tmp_path / 'a'}; make"):
        attempt(tmp_path / "link")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"x\.txt: cannot be written \(Not a directory\)\.$"):
        attempt(tmp_path / "file" / "x.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_check_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    check_writable(tmp_path / "old.txt")
    check_writable(tmp_path / "new.txt")
    assert list(tmp_path.iterdir()) == [tmp_path / "old.txt"]
    assert read_text(tmp_path / "old.txt") == "old"


def test_folders_are_made_when_asked_for(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"file: cannot be made a folder \(File exists\)\.$"):
        make_folder(tmp_path / "file")


def test_one_command_at_a_time_has_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with locked(path), pytest.raises(InputError, match="x: is being written by another command; wait"), locked(path):
        pass
    with locked(path):
        path.write_text("moss")
    assert path.read_text() == "moss"


def test_a_lock_leaves_no_empty_file_behind_but_one_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    for name in ("there", "new"):
        with pytest.raises(KeyboardInterrupt), locked(tmp_path / name):
            raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_file_that_went_before_it_was_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, flock = tmp_path / "x", fcntl.flock

    def late(file: int, operation: int) -> None:
        path.unlink()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(InputError, match="another command"), locked(path):
        pass


@pytest.mark.parametrize("trouble", ["locks", "system"])
def test_without_locks_nobody_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    if trouble == "locks":
        monkeypatch.setattr(fcntl, "flock", refuse)
    else:
        monkeypatch.setitem(sys.modules, "fcntl", None)
    with locked(tmp_path / "x"), locked(tmp_path / "x"):
        done = True
    assert done


def test_a_file_that_cannot_be_locked(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"x: cannot be written \(No such file or directory\)"),
        locked(tmp_path / "no/x"),
    ):
        pass
