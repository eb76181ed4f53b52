import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import READERS, data_directory, load
from arcf.data.loading import is_name, locate
from arcf.errors import InputError, UnknownNameError


@pytest.fixture
def facts(data_home: Path) -> Path:
    path = data_home / "ponds" / "facts.txt"
    path.parent.mkdir(parents=True)
    path.write_text("moss is green\n")
    return path


def test_an_installed_dataset_by_name(facts: Path) -> None:
    assert load("ponds").name == "ponds"
    assert locate("ponds") == facts.parent


def test_a_path_as_text_or_path(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(str(facts)).name == "facts"
    assert load(facts.parent).name == "ponds"
    monkeypatch.chdir(facts.parent)
    assert load("facts.txt").name == "facts"
    assert load(".").name == "ponds"
    monkeypatch.setenv("HOME", str(facts.parent))
    assert load("~/facts.txt").name == "facts"


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    program = "from arcf.data import load; print([fact.text for fact in load('-').facts])"
    given = {"input": "moss is green\nherons wade\n", "capture_output": True, "text": True, "check": True}
    found = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, **given)
    assert found.stdout == "['moss is green', 'herons wade']\n"
    (tmp_path / "-").write_text("salt dissolves\n")
    found = subprocess.run([sys.executable, "-c", program.replace("'-'", "'./-'")], cwd=tmp_path, **given)
    assert found.stdout == "['salt dissolves']\n"


@pytest.mark.usefixtures("facts")
def test_names_go_before_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here" / "ponds" / "facts.txt"
    here.parent.mkdir(parents=True)
    here.write_text("herons wade\n")
    monkeypatch.chdir(tmp_path / "here")
    assert load("ponds").facts[0].text == "moss is green"
    assert load("./ponds").facts[0].text == "herons wade"


def test_a_linked_folder_keeps_its_name(facts: Path, data_home: Path) -> None:
    (data_home / "pools").symlink_to(facts.parent)
    assert load("pools").name == "pools"


@pytest.mark.parametrize("name", ["worldtree-2020", "worldtree-2019"])
@pytest.mark.usefixtures("data_home")
def test_a_known_dataset_that_is_not_installed(name: str) -> None:
    with pytest.raises(InputError, match=rf"^The dataset {name} is not installed; run: arcf data install {name}$"):
        load(name)


@pytest.mark.usefixtures("facts")
def test_an_unknown_name_lists_the_known_ones() -> None:
    expected = r"named 'pond'; choose one of: ponds, science, worldtree-2019, worldtree-2020\. Did you mean 'ponds'\?"
    with pytest.raises(UnknownNameError, match=expected):
        load("pond")


@pytest.mark.parametrize("path", ["nowhere/facts.jsonl", "facts.jsonl", "nowhere.zip", "./nowhere", "../nowhere"])
@pytest.mark.usefixtures("data_home")
def test_a_path_that_does_not_exist(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load(path)


@pytest.mark.parametrize("path", ["x" * 300, "folder/" + "x" * 300 + ".txt", "~nobody-of-this-name/facts.txt"])
@pytest.mark.usefixtures("data_home")
def test_a_path_that_cannot_be(path: str) -> None:
    with pytest.raises(InputError, match=r"cannot be (looked for|read) \(|does not exist"):
        load(path)


def test_a_folder_of_no_known_format_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(
        InputError, match=r"holds no dataset that arcf can read: WorldTree .*; an own corpus .*; a BEIR"
    ):
        load(tmp_path)


def test_no_format_takes_an_empty_folder_for_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no dataset"):
        load(tmp_path)
    assert set(READERS) == {"worldtree", "corpus", "beir", "facts"}


@pytest.mark.parametrize("text", ["worldtree-2020", "my.corpus"])
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["", ".", "..", ".hidden", "a/b", "a/", "~", "facts.csv", "a.zip"])
def test_paths_are_no_names(text: str) -> None:
    assert not is_name(text)


def test_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARCF_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ARCF_DATA", "~/x")
    assert data_directory() == tmp_path / "x"
    monkeypatch.delenv("ARCF_DATA")
    assert data_directory().name == "arcf"


def test_worldtree_in_the_data_directory(
    worldtree_like: Callable[[int], Path], pack: Callable[..., Path], data_home: Path
) -> None:
    pack(worldtree_like(2020), data_home / "worldtree-2020" / "any.zip")
    assert load("worldtree-2020").name == "worldtree-2020"
