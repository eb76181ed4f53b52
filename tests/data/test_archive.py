import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import archive as module
from arcf.data import load
from arcf.data.archive import Limits, open_archive, unpack
from arcf.data.install import install
from arcf.errors import InputError

Pack = Callable[..., Path]
Make = Callable[[int], Path]


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


def packed(path: Path, *names: str | zipfile.ZipInfo, content: str = "moss is green\n") -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # Of names that are there twice.
        for name in names:
            archive.writestr(name, content)
    return path


def claim(path: Path, size: int) -> Path:
    """Let the list of an archive say that its first entry is of another size."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("after.txt", "so that the list is written again")
        archive.infolist()[0].file_size = size
    return path


def encrypted(path: Path) -> Path:
    content = packed(path, "facts.txt").read_bytes()
    start = content.index(b"PK\x01\x02") + 8  # Where the list keeps the flags of its first entry.
    path.write_bytes(content[:start] + b"\x01" + content[start + 1 :])
    return path


def test_plain_archives_are_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.zip", "sub/", "./sub/a.txt", "sub/b.txt", "sub/", "A.txt", "a.txt", "x" * 255)
    unpack(path, tmp_path / "content")
    found = sorted(file.relative_to(tmp_path / "content").as_posix() for file in (tmp_path / "content").rglob("*"))
    assert found == ["A.txt", "a.txt", "sub", "sub/a.txt", "sub/b.txt", "x" * 255]


def test_a_file_below_the_current_folder_is_read_by_its_name(tmp_path: Path) -> None:
    assert load(packed(tmp_path / "x.zip", "./facts.txt")).facts[0].text == "moss is green"


ADVICE = r"; if you trust it, unpack it yourself and give the folder\."


@pytest.mark.parametrize("read", [load, lambda path: unpack(path, path.parent / "content")])
def test_too_large_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]) -> None:
    path = packed(tmp_path / "x.zip", "facts.txt", "b.txt", content="moss is green\n" * 1000)
    problems = {
        Limits(entries=1): r"holds 2 entries, and 1 are allowed",
        Limits(unpacked=1_000): r"holds 0 MB when unpacked, and 0 MB are allowed",
        Limits(harmless=27_999, ratio=40): r"holds \d+ times its own size when unpacked, and 40 times are allowed",
    }
    for limits, problem in problems.items():
        monkeypatch.setattr(module, "LIMITS", limits)
        with pytest.raises(InputError, match=rf"^{path}: {problem}{ADVICE}$"):
            read(path)
    assert not (tmp_path / "content").exists()
    for limits in (Limits(entries=2), Limits(unpacked=28_000), Limits(harmless=28_000, ratio=40)):
        monkeypatch.setattr(module, "LIMITS", limits)
        read(path)


@pytest.mark.parametrize(
    ("size", "problem"),
    [(2 << 30, r"holds 2,147 MB when unpacked, and 1,000 MB are allowed"), (20_000_000, r"and 100 times are allowed")],
)
def test_large_by_its_own_list(tmp_path: Path, size: int, problem: str) -> None:
    path = claim(packed(tmp_path / "x.zip", "facts.txt"), size)
    with pytest.raises(InputError, match=problem):
        load(path)


def test_more_than_the_list_says_is_never_unpacked(tmp_path: Path) -> None:
    path = claim(packed(tmp_path / "x.zip", "facts.txt", content="moss is green\n" * 100_000), 14)
    with pytest.raises(InputError, match=r"x\.zip/facts\.txt: cannot be unpacked \(Bad CRC-32"):
        load(path)
    with pytest.raises(InputError, match=r"x\.zip: cannot be unpacked \(Bad CRC-32.*\); get it again\."):
        unpack(path, tmp_path / "content")
    assert (tmp_path / "content" / "facts.txt").stat().st_size <= 14


ODD = {
    "a file that would land outside of its folder": [
        *("../x.txt", "/x.txt", "a/../../x.txt", "..\\x.txt", "\\x.txt", "C:\\x.txt", "C:/x.txt"),
    ],
    "a file without a name": ["."],
    "a name that is too long": ["x" * 256, "é" * 128, "folder/" * 200 + "x.txt"],
    "a link": [entry("x.txt", stat.S_IFLNK | 0o777)],
    "what is no file": [entry("x.txt", stat.S_IFIFO | 0o644), entry("x.txt", stat.S_IFCHR | 0o644)],
}


@pytest.mark.parametrize(("oddity", "name"), [(oddity, name) for oddity, names in ODD.items() for name in names])
def test_odd_entries(tmp_path: Path, oddity: str, name: str | zipfile.ZipInfo) -> None:
    path = packed(tmp_path / "x.zip", "facts.txt", name)
    with pytest.raises(InputError, match=rf"^{path}: holds {oddity} \('.*'\); pack its files again, without that\.$"):
        load(path)


def test_an_encrypted_entry(tmp_path: Path) -> None:
    path = encrypted(tmp_path / "x.zip")
    with pytest.raises(InputError, match=rf"^{path}: holds an encrypted file \('facts\.txt'\); pack"):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_way_of_packing(tmp_path: Path, method: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("facts.txt", "moss")
    with pytest.raises(InputError, match=r"x\.zip: holds a file packed in another way than deflated \('facts\.txt'\)"):
        load(path)


@pytest.mark.parametrize(
    "names",
    [
        ("facts.txt", "facts.txt"),
        ("facts.txt", "./facts.txt"),
        ("a/x.txt", "a\\x.txt"),
        ("a", "b.txt", "a/x.txt"),
        ("a/b/c.txt", "a/b"),
        ("a", "a/"),
    ],
)
def test_names_that_clash(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = packed(tmp_path / "x.zip", *names)
    with pytest.raises(InputError, match=rf"^{path}: holds two entries that cannot lie beside each other \('"):
        load(path)


def test_a_name_that_is_not_utf8_though_it_says_so(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.zip", "é.txt")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    with pytest.raises(InputError, match=r"x\.zip: is not a zip archive, or is damaged"), open_archive(path):
        pass


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.zip", "facts.txt")
    (tmp_path / "content").write_text("in the way")
    with pytest.raises(InputError, match=rf"^{path}: cannot be unpacked \((File exists|Not a directory)\)\.$"):
        unpack(path, tmp_path / "content")


@pytest.mark.parametrize("name", ["../x.txt", "x" * 256, entry("link", stat.S_IFLNK), "questions"])
def test_installing_names_the_archive_and_unpacks_nothing(
    worldtree_like: Make, pack: Pack, tmp_path: Path, data_home: Path, name: str | zipfile.ZipInfo
) -> None:
    path = packed(pack(worldtree_like(2019), tmp_path / "x.zip"), name)
    with pytest.raises(InputError, match=rf"^{path}: holds ") as raised:
        install("worldtree-2019", path)
    assert str(data_home) not in str(raised.value)
    assert list(data_home.iterdir()) == []
