import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arcf.data.source import Archive, Folder, SingleFile, places
from arcf.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("b.tsv", "a.tsv", "._a.tsv", "sub/c.tsv", "sub/deep/d.tsv", "__MACOSX/a.tsv"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name} é", encoding="utf-8")
    return root


@pytest.mark.parametrize("packed", [False, True])
def test_files_are_found_by_pattern_in_order_without_hidden_ones(
    folder: Path, tmp_path: Path, pack: Callable[..., Path], packed: bool
) -> None:
    path = pack(folder, tmp_path / "x.zip") if packed else folder
    with closing(places(path)) as sources:
        source = next(sources)
        assert isinstance(source, Archive if packed else Folder)
        assert source.names("*.tsv") == ["a.tsv", "b.tsv"]
        assert source.names("sub/*.tsv") == ["sub/c.tsv"]
        assert source.names("*/*.tsv") == ["sub/c.tsv"]
        assert source.names("*.txt") == []
        assert source.text("sub/c.tsv") == "text of sub/c.tsv é"
        assert source.at("a.tsv") == f"{path}/a.tsv"


def test_places_go_from_the_folder_to_its_archive_to_its_only_folder(
    folder: Path, tmp_path: Path, pack: Callable[..., Path]
) -> None:
    home = tmp_path / "home"
    pack(folder, home / "only.zip", top="top/")
    (home / "inner").mkdir()
    (home / ".hidden").mkdir()
    shown = [source.place for source in places(home)]
    assert shown == [str(home), str(home / "only.zip"), str(home / "only.zip" / "top"), str(home / "inner")]


def test_two_archives_or_two_folders_are_not_guessed_from(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        zipfile.ZipFile(tmp_path / name, "w").close()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert len(list(places(tmp_path))) == 1


def test_an_archive_without_the_suffix_is_told_by_its_content(
    folder: Path, tmp_path: Path, pack: Callable[..., Path]
) -> None:
    with closing(places(pack(folder, tmp_path / "download"))) as sources:
        assert isinstance(next(sources), Archive)


def test_a_single_file_holds_no_named_files(folder: Path) -> None:
    (source,) = places(folder / "a.tsv")
    assert isinstance(source, SingleFile)
    assert source.names("*") == []
    assert source.text("a.tsv") == "text of a.tsv é"
    assert source.at("a.tsv") == str(folder / "a.tsv")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: does not exist\."):
        list(places(tmp_path / "nowhere"))


def test_a_device_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: is a device; give a folder, a file or a pipe\.$"):
        list(places(Path("/dev/zero")))
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(InputError, match=r"link: cannot be read \("):
        list(places(tmp_path / "link"))


def test_not_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(InputError, match=r"x\.zip: is not a zip archive, or is damaged"):
        list(places(path))


def test_folders_may_be_separated_as_on_windows(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    entry = zipfile.ZipInfo("top/facts.txt")
    entry.filename = "top\\facts.txt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, "herons wade")
    with closing(places(path)) as sources:
        assert [source.text("facts.txt") for source in sources if source.names("facts.txt")] == ["herons wade"]


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.tsv", "herons wade")
    path.write_bytes(path.read_bytes().replace(b"herons", b"HERONS"))
    with closing(places(path)) as sources, pytest.raises(InputError, match=r"x\.zip/a\.tsv: cannot be unpacked"):
        next(sources).text("a.tsv")


def test_a_member_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.tsv", b"fine\nca\xe9")
    with closing(places(path)) as sources, pytest.raises(InputError, match=r"a\.tsv:2: is not UTF-8"):
        next(sources).text("a.tsv")
