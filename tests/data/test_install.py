import hashlib
import urllib.error
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arcf.data import install as module
from arcf.data import load
from arcf.data.install import install, installed, summary
from arcf.data.releases import RELEASES
from arcf.errors import InputError, UnknownNameError

Make = Callable[[int], Path]
Pack = Callable[..., Path]


@pytest.fixture
def archive(worldtree_like: Make, pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up archive that, for this test, is the official one of 2020."""
    path = pack(worldtree_like(2020), tmp_path / "download" / "official.zip")
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    release = replace(RELEASES["worldtree-2020"], url=path.as_uri(), sha256=checksum)
    monkeypatch.setitem(RELEASES, "worldtree-2020", release)
    return path


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_download(archive: Path, data_home: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    path = install("worldtree-2020", progress=lambda done, total: steps.append((done, total)))
    assert path == data_home / "worldtree-2020"
    assert contents(data_home) == ["worldtree-2020"]
    assert contents(path) == ["questions.dev.tsv", "questions.test.tsv", "questions.train.tsv", "tables"]
    assert steps[-1] == (archive.stat().st_size, archive.stat().st_size)
    assert load("worldtree-2020").facts == load(archive).facts


def test_a_local_archive(archive: Path, data_home: Path) -> None:
    install("worldtree-2020", archive)
    assert contents(data_home) == ["worldtree-2020"]
    assert archive.exists()


def test_no_network(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(module.urllib.request, "urlopen", unreachable)
    expected = (
        r"tg2020task-dataset\.zip cannot be downloaded \(no route to host\); check the network, or .* --from FILE"
    )
    with pytest.raises(InputError, match=expected):
        install("worldtree-2020")
    assert contents(data_home) == []


@pytest.mark.usefixtures("archive")
def test_a_download_with_another_checksum_is_called_by_its_address(
    data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RELEASES, "worldtree-2020", replace(RELEASES["worldtree-2020"], sha256="0" * 64))
    with pytest.raises(
        InputError, match=rf"^file://.*official\.zip: is not the official archive .* expected {'0' * 64}\."
    ):
        install("worldtree-2020")
    assert contents(data_home) == []


def test_a_failed_install_leaves_the_earlier_one(archive: Path, data_home: Path) -> None:
    path = install("worldtree-2020", archive)
    (path / "mine.txt").write_text("still here")
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(InputError, match="is not the official archive"):
        install("worldtree-2020", archive)
    assert (path / "mine.txt").exists()
    assert contents(data_home) == ["worldtree-2020"]


def test_a_new_install_replaces_the_earlier_one(archive: Path, data_home: Path) -> None:
    path = install("worldtree-2020", archive)
    (path / "mine.txt").write_text("gone after")
    install("worldtree-2020", archive)
    assert not (path / "mine.txt").exists()
    assert contents(data_home) == ["worldtree-2020"]


def test_when_the_last_step_fails_the_earlier_install_comes_back(
    archive: Path, data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = install("worldtree-2020", archive)
    (path / "mine.txt").write_text("still here")
    rename = Path.rename

    def fail_for_content(self: Path, target: Path) -> Path:
        if self.name == "content":
            raise OSError("disk trouble")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_content)
    with pytest.raises(OSError, match="disk trouble"):
        install("worldtree-2020", archive)
    assert (path / "mine.txt").exists()
    assert contents(data_home) == ["worldtree-2020"]


def test_2020_is_not_taken_from_a_folder(worldtree_like: Make, data_home: Path) -> None:
    with pytest.raises(InputError, match="is a folder, but worldtree-2020 is known by the checksum"):
        install("worldtree-2020", worldtree_like(2020))
    assert contents(data_home) == []


@pytest.mark.parametrize("top", [None, "", "release/"])
def test_2019_from_folder_or_archive(
    worldtree_like: Make, pack: Pack, tmp_path: Path, data_home: Path, top: str | None
) -> None:
    root = worldtree_like(2019)
    install("worldtree-2019", root if top is None else pack(root, tmp_path / "x.zip", top))
    assert contents(data_home) == ["worldtree-2019"]
    assert load("worldtree-2019").splits == load(root).splits


def test_a_read_only_folder_is_copied_writable(worldtree_like: Make, data_home: Path) -> None:
    root = worldtree_like(2019)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    install("worldtree-2019", root)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert (data_home / "worldtree-2019" / "questions").stat().st_mode & 0o200


def test_2019_has_no_download(data_home: Path) -> None:
    with pytest.raises(InputError, match="No download address is known for worldtree-2019; run: arcf data install"):
        install("worldtree-2019")
    assert not data_home.exists()


@pytest.mark.parametrize(
    ("year", "missing", "complaint"),
    [
        (2020, "", r"is not laid out as worldtree-2019: it has no questions/ARC-Elementary"),
        (2019, "questions/ARC-Elementary+EXPL-Dev.tsv", "lacks the questions of dev"),
        (2019, "annotation/expl-tablestore-export/tables", "no tables of facts"),
    ],
)
def test_2019_in_another_layout(
    worldtree_like: Make, tmp_path: Path, data_home: Path, year: int, missing: str, complaint: str
) -> None:
    root = worldtree_like(year)
    if missing:
        (root / missing).rename(tmp_path / "away")
    with pytest.raises(InputError, match=rf"^{root}.*{complaint}"):
        install("worldtree-2019", root)
    assert contents(data_home) == []


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "a/../../outside.txt", "..\\outside.txt"])
def test_an_archive_may_not_reach_out_of_its_folder(
    worldtree_like: Make, pack: Pack, tmp_path: Path, data_home: Path, name: str
) -> None:
    path = pack(worldtree_like(2019), tmp_path / "x.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "out")
    with pytest.raises(InputError, match=r"x\.zip: holds a file that would land outside of its folder"):
        install("worldtree-2019", path)
    assert contents(data_home) == []
    assert not list(tmp_path.rglob("outside.txt"))


def test_a_damaged_member(worldtree_like: Make, pack: Pack, tmp_path: Path, data_home: Path) -> None:
    path = pack(worldtree_like(2019), tmp_path / "x.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("README.txt", "herons wade")
    path.write_bytes(path.read_bytes().replace(b"herons", b"HERONS"))
    with pytest.raises(InputError, match=r"x\.zip: cannot be unpacked \(Bad CRC-32"):
        install("worldtree-2019", path)
    assert contents(data_home) == []


@pytest.mark.usefixtures("data_home")
def test_an_unknown_dataset() -> None:
    with pytest.raises(UnknownNameError, match=r"no dataset to install named 'worldtree'.* Did you mean 'worldtree-20"):
        install("worldtree")


def test_a_data_directory_that_cannot_be_made(tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ARCF_DATA", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"file: cannot be written \(.*\); set ARCF_DATA"):
        install("worldtree-2020", archive)


def test_installed(archive: Path, data_home: Path) -> None:
    assert [entry.name for entry in installed()] == ["science"]
    install("worldtree-2020", archive)
    (data_home / "broken").mkdir()
    (data_home / ".hidden").mkdir()
    (data_home / "file").write_text("x")
    science, broken, worldtree = installed()
    assert science.facts > 0
    assert "holds no dataset" in broken.problem
    assert (worldtree.name, worldtree.path) == ("worldtree-2020", data_home / "worldtree-2020")
    assert (worldtree.facts, worldtree.questions) == (5, {"train": 1, "dev": 1, "test": 1})


def test_summary_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("moss\n")
    found = summary(str(tmp_path / "f.txt"))
    assert (found.name, found.facts, found.questions) == ("f", 1, {})


@pytest.mark.worldtree
@pytest.mark.usefixtures("worldtree_2020")
def test_the_official_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archives = sorted(module.locate("worldtree-2020").glob("*.zip"))
    if not archives:
        pytest.skip("installed unpacked; the archive is needed")
    monkeypatch.setenv("ARCF_DATA", str(tmp_path))
    install("worldtree-2020", archives[0])
    assert installed()[-1].facts == 9_720
