import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from arcf.errors import InputError, SettingError
from arcf.scorer import Prefix, load_scorer
from arcf.scorer.network.backbone import load_backbone
from arcf.training.averaging import average
from arcf.training.run import TrainedModel, train
from arcf.training.settings import TrainingSettings
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]
Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def trained(settings: Settings, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    wanted = settings(model={"prior": 2.0}, data={"held_out": 0}, optimisation={"epochs": 1.0})
    return train(wanted, dict.fromkeys(wanted.data.corpora, dataset), tmp_path_factory.mktemp("runs") / "one")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in load_backbone(folder).model.named_parameters()}


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0])
def test_every_weight_is_averaged_but_the_heads(
    weight: float, trained: TrainedModel, model_folder: Path, tmp_path: Path
) -> None:
    average(trained.folder, model_folder, tmp_path / "out", weight)
    one, other, found = (weights(folder) for folder in (trained.folder, model_folder, tmp_path / "out"))
    assert one.keys() == other.keys() == found.keys()
    for name, value in found.items():
        expected = one[name] if "classifier" in name else weight * one[name] + (1 - weight) * other[name]
        torch.testing.assert_close(value, expected, msg=name)
    assert any(not torch.equal(one[name], other[name]) for name in one if "classifier" not in name)


def test_the_result_is_a_model(trained: TrainedModel, model_folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    average(trained.folder.parent, model_folder, tmp_path / "out", 0.25)
    texts = [fact.text for fact in dataset.facts]
    scorer = load_scorer(tmp_path / "out", texts)
    assert scorer.settings == load_scorer(trained.folder, texts).settings
    assert scorer.score(Prefix("Which of these must the heron have?"), np.arange(5)).shape == (5,)
    card = (tmp_path / "out" / "README.md").read_text()
    assert card.startswith((trained.folder / "README.md").read_text())
    assert f"0.25 times those of the model that is described above, and 0.75 times those of {model_folder}" in card
    assert (tmp_path / "out" / "training.json").read_bytes() == (trained.folder / "training.json").read_bytes()


def test_weights_in_half_precision(trained: TrainedModel, model_folder: Path, tmp_path: Path) -> None:
    """Of whichever model: nothing is trained or averaged in it."""
    shutil.copytree(model_folder, tmp_path / "half")
    stored = {name: value.half() for name, value in load_file(model_folder / "model.safetensors").items()}
    save_file(stored, tmp_path / "half" / "model.safetensors", {"format": "pt"})
    found = load_backbone(tmp_path / "half").model
    assert {value.dtype for value in found.parameters()} == {torch.float32}
    for name, source in (("half", tmp_path / "half"), ("whole", model_folder)):
        average(trained.folder, source, tmp_path / f"with-{name}", 0.5)
    one, other = (weights(tmp_path / f"with-{name}") for name in ("half", "whole"))
    for name, value in one.items():
        torch.testing.assert_close(value, other[name], atol=1e-3, rtol=1e-2, msg=name)


def test_two_trained_models(trained: TrainedModel, tmp_path: Path) -> None:
    """Both have learnt a head: it is averaged like the rest, if both are run in the same way; precedents aside."""
    second = load_backbone(trained.folder)
    with torch.no_grad():
        second.head.bias.add_(1.0)
    second.with_settings(replace(second.settings, precedents=5.0)).save(tmp_path / "second")
    average(trained.folder, tmp_path / "second", tmp_path / "out")
    heads = [
        load_file(folder / "model.safetensors")["classifier.bias"] for folder in (trained.folder, tmp_path / "out")
    ]
    torch.testing.assert_close(heads[1], heads[0] + 0.5)
    second.with_settings(replace(second.settings, prior=9.0)).save(tmp_path / "third")
    with pytest.raises(InputError, match="third: was trained with other settings"):
        average(trained.folder, tmp_path / "third", tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_mistakes(trained: TrainedModel, model_folder: Path, other_model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"from 0 to 1, not 1\.5"):
        average(trained.folder, model_folder, tmp_path / "out", 1.5)
    with pytest.raises(InputError, match="the trained model is to be given first"):
        average(model_folder, trained.folder, tmp_path / "out")
    with pytest.raises(InputError, match="is of another architecture, or has other words"):
        average(trained.folder, other_model_folder, tmp_path / "out")
    with pytest.raises(InputError, match="There is no model folder"):
        average(tmp_path / "nowhere", model_folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="is not an empty folder"):
        average(trained.folder, model_folder, trained.folder)


def test_the_command(trained: TrainedModel, model_folder: Path, tmp_path: Path, arcf: Arcf, capsys: Capture) -> None:
    assert arcf("average", trained.folder, model_folder, "--weight", "0.5", "--output", tmp_path / "out") == 0
    assert f"The model is in {tmp_path / 'out'}" in capsys.readouterr().err
    assert arcf("average", trained.folder, model_folder, "--weight", "2", "--output", tmp_path / "more") == 2
    assert "from 0 to 1" in capsys.readouterr().err
