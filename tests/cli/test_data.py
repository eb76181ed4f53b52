import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arcf.data.releases import RELEASES

Arcf = Callable[..., int]
Make = Callable[[int], Path]
Pack = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


def left_behind(data_home: Path) -> list[Path]:
    return sorted(data_home.iterdir()) if data_home.exists() else []


def test_install_prints_where_and_the_licence(
    arcf: Arcf,
    worldtree_like: Make,
    pack: Pack,
    tmp_path: Path,
    data_home: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = pack(worldtree_like(2020), tmp_path / "x.zip")
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    release = replace(RELEASES["worldtree-2020"], url=archive.as_uri(), sha256=checksum)
    monkeypatch.setitem(RELEASES, "worldtree-2020", release)
    for arguments in ((), ("--from", archive)):
        assert arcf("data", "install", "worldtree-2020", *arguments) == 0
        output = capsys.readouterr()
        assert output.out == f"worldtree-2020 is installed in {data_home / 'worldtree-2020'}\n"
        for words in ("research use only, not commercial", "CC BY-SA 4.0", "Xie et al. (2020)"):
            assert words in output.err


def test_list(arcf: Arcf, worldtree_like: Make, data_home: Path, capsys: Capture) -> None:
    assert arcf("data", "install", "worldtree-2019", "--from", worldtree_like(2019)) == 0
    (data_home / "broken [x]").mkdir()
    capsys.readouterr()
    assert arcf("data", "list", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["directory"] == str(data_home)
    science, broken, worldtree = found["datasets"]
    assert science["name"] == "science"
    assert "holds no dataset" in broken["problem"]
    expected = {"path": str(data_home / "worldtree-2019"), "facts": 5, "questions": {"train": 1, "dev": 1, "test": 1}}
    assert worldtree == {"name": "worldtree-2019", **expected}
    assert arcf("data", "list") == 0
    output = capsys.readouterr().out
    for words in ("science", "worldtree-2019", "train 1, dev 1", "broken [x]"):
        assert words in output


def test_show(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "f.txt"
    path.write_text("moss is green\n")
    assert arcf("data", "show", path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"name": "f", "path": str(path), "facts": 1, "questions": {}}
    assert arcf("data", "show", path) == 0
    assert "dataset" in capsys.readouterr().out


@pytest.mark.parametrize("piped", [False, True])
def test_show_standard_input(tmp_path: Path, piped: bool) -> None:
    path = tmp_path / "f.txt"
    path.write_text("moss is green\nherons wade\n")
    command = [sys.executable, "-m", "arcf", "data", "show", "/dev/stdin", "--json"]
    with path.open() as file:
        given: dict[str, Any] = {"input": file.read()} if piped else {"stdin": file}
        result = subprocess.run(command, capture_output=True, text=True, check=True, **given)
    assert json.loads(result.stdout) == {"name": "stdin", "path": "/dev/stdin", "facts": 2, "questions": {}}


def test_warnings_are_one_line(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "facts.txt").write_text("moss is green\n")
    (tmp_path / "questions.jsonl").write_text('{"stem": "?", "gold": ["x"]}')
    assert arcf("data", "show", tmp_path) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["install"], ["list"], ["show"]])
def test_help_has_an_example(arcf: Arcf, command: list[str], capsys: Capture) -> None:
    assert arcf("data", *command, "--help") == 0
    output = capsys.readouterr().out
    assert not command or "Example: arcf data" in output


def break_zip(root: Path, pack: Pack) -> Path:
    archive = pack(root, root.parent / "x.zip")
    archive.write_bytes(archive.read_bytes()[:100])
    return archive


def drop_column(root: Path, pack: Pack) -> Path:
    del pack
    path = root / "questions" / "ARC-Elementary+EXPL-Dev.tsv"
    path.write_text(path.read_text().replace("explanation", "why"))
    return root


def empty_tables(root: Path, pack: Pack) -> Path:
    del pack
    for path in root.glob("annotation/*/tables/*.tsv"):
        path.write_text("WHAT\t[SKIP] UID\n")
    return root


def use_latin_1(root: Path, pack: Pack) -> Path:
    path = root / "questions" / "ARC-Elementary+EXPL-Dev.tsv"
    path.write_bytes(path.read_text().replace("moss", "café").encode("latin-1"))
    return pack(root, root.parent / "x.zip")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (break_zip, "x.zip: is not a zip archive, or is damaged; get it again."),
        (drop_column, "Dev.tsv:1: has no column 'explanation'; it has"),
        (empty_tables, "made-up-2019: holds no facts; there must be at least one."),
        (use_latin_1, "Dev.tsv:2: is not UTF-8 text; save it as UTF-8 and try again."),
    ],
)
def test_bad_input_installs_nothing(
    arcf: Arcf,
    worldtree_like: Make,
    pack: Pack,
    data_home: Path,
    capsys: Capture,
    damage: Callable[[Path, Pack], Path],
    complaint: str,
) -> None:
    origin = damage(worldtree_like(2019), pack)
    assert arcf("data", "install", "worldtree-2019", "--from", origin) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {origin}")
    assert complaint in err
    assert err.count("\n") == 1
    assert left_behind(data_home) == []


def test_a_wrong_checksum_installs_nothing(
    arcf: Arcf, worldtree_like: Make, pack: Pack, tmp_path: Path, data_home: Path, capsys: Capture
) -> None:
    archive = pack(worldtree_like(2020), tmp_path / "x.zip")
    assert arcf("data", "install", "worldtree-2020", "--from", archive) == 2
    assert "is not the official archive of worldtree-2020: its sha256 is" in capsys.readouterr().err
    assert left_behind(data_home) == []


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("f.csv", b"uid,sentence\n1,moss\n", "f.csv:1: has no column 'text'"),
        ("f.csv", b"uid,text\n1,moss\n1,rain\n", "f.csv:3: uid '1' already stands for another text in line 2"),
        ("f.txt", b"", "f.txt: holds no facts"),
        ("f.txt", b"moss\ncaf\xe9\n", "f.txt:2: is not UTF-8"),
        ("f.zip", b"PK", "f.zip: is not a zip archive"),
    ],
)
def test_bad_files_of_ones_own(
    arcf: Arcf, tmp_path: Path, capsys: Capture, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert arcf("data", "show", tmp_path / name) == 2
    output = capsys.readouterr()
    assert complaint in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_a_dataset_that_is_not_installed_from_a_real_shell(data_home: Path) -> None:
    command = [sys.executable, "-m", "arcf", "data", "show", "worldtree-2020"]
    result = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "ARCF_DATA": str(data_home)}, check=False
    )
    assert result.returncode == 2
    assert (
        result.stderr == "error: The dataset worldtree-2020 is not installed; run: arcf data install worldtree-2020\n"
    )
    assert result.stdout == ""


def test_the_command_module_loads_nothing_heavy() -> None:
    script = "import sys, arcf.cli.data; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"arcf.data", "urllib.request", "rich.progress"} & set(result.stdout.split())
