"""Torch weights from exported models."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

pytest.importorskip("torch")

from arcf.errors import InputError
from arcf.pretrained.architectures import ARCHITECTURES
from arcf.scorer import Prefix, ScorerSettings, load_scorer, packaged_model
from arcf.scorer.export import export
from arcf.scorer.exported.precision import PRECISIONS
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.restore import restore

SHARED = ScorerSettings(encoding="shared_prefix", similarity=2.0)
LATE = ScorerSettings("late", read_ahead=2)
FACTS = ["ice is solid water", "the sun is hot", "water melts"]

Tiny = Callable[..., Backbone]


def scores(folder: Path) -> np.ndarray:
    """Of all facts and the stop sample, after two prefixes."""
    scorer = load_scorer(folder, FACTS)
    candidates = np.array([0, 1, 2, -1])
    return np.array([scorer.score(Prefix("what melts ice", facts), candidates) for facts in ((), (1,))])


@pytest.mark.parametrize("settings", [SHARED, LATE], ids=lambda settings: settings.encoding)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_whole_weights_score_alike(tiny: Tiny, tmp_path: Path, name: str, settings: ScorerSettings) -> None:
    tiny(name).with_settings(settings).save(tmp_path / "trained")
    export(tmp_path / "trained", tmp_path / "exported")
    restore(tmp_path / "exported", tmp_path / "restored")
    # Readings of a late model are kept in half precision: what differs in its last digit may be rounded the other way.
    np.testing.assert_allclose(scores(tmp_path / "restored"), scores(tmp_path / "trained"), atol=1e-3)
    assert np.ptp(scores(tmp_path / "trained")) > 0.1


@pytest.mark.parametrize("settings", [SHARED, LATE], ids=lambda settings: settings.encoding)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_export_of_what_is_restored_is_the_same_again(
    tiny: Tiny, tmp_path: Path, precision: str, settings: ScorerSettings
) -> None:
    tiny("bert").with_settings(settings).save(tmp_path / "trained")
    export(tmp_path / "trained", tmp_path / "exported", precision)
    restore(tmp_path / "exported", tmp_path / "restored")
    export(tmp_path / "restored", tmp_path / "again", precision)
    # To rounding: the same integers, at scales that may differ in their last digit, which may tip an activation over.
    np.testing.assert_allclose(scores(tmp_path / "again"), scores(tmp_path / "exported"), atol=0.1)


def test_the_packaged_model(tmp_path: Path) -> None:
    restore(packaged_model(), tmp_path / "restored")
    config = json.loads((tmp_path / "restored" / "config.json").read_text())
    assert config["arcf_encoding"] == "late"
    assert {"README.md", "training.json", "calibration.json", "model.safetensors"} <= {
        path.name for path in (tmp_path / "restored").iterdir()
    }


class TestRefused:
    def test_a_model_of_torch_weights(self, tiny: Tiny, tmp_path: Path) -> None:
        tiny("bert").with_settings(SHARED).save(tmp_path / "trained")
        with pytest.raises(InputError, match="is no exported model; one of torch weights can be used as it is"):
            restore(tmp_path / "trained", tmp_path / "out")

    def test_a_folder_with_something_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(InputError, match="is not an empty folder"):
            restore(packaged_model(), tmp_path)

    def test_a_damaged_export(self, tmp_path: Path) -> None:
        shutil.copytree(packaged_model(), tmp_path / "model")
        (tmp_path / "model" / "model.onnx").write_bytes(b"half")
        with pytest.raises(InputError, match="the file is damaged"):
            restore(tmp_path / "model", tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("change", ["fewer", "wider"])
    def test_a_graph_of_another_model(self, tiny: Tiny, tmp_path: Path, change: str) -> None:
        tiny("bert").with_settings(SHARED).save(tmp_path / "trained")
        manifest = export(tmp_path / "trained", tmp_path / "exported")
        path = tmp_path / "exported" / "model.onnx"
        graph = onnx.load(path)
        if change == "fewer":
            del graph.graph.node[len(graph.graph.node) // 2 :]
        else:
            config = json.loads((tmp_path / "exported" / "config.json").read_text())
            config["intermediate_size"] += 2
            (tmp_path / "exported" / "config.json").write_text(json.dumps(config))
        onnx.save(graph, path)
        for name in ("model.onnx", "config.json"):
            manifest = manifest.with_file(tmp_path / "exported" / name)
        manifest.write(tmp_path / "exported")
        with pytest.raises(InputError, match="export it again"):
            restore(tmp_path / "exported", tmp_path / "out")
