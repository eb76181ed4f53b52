import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from transformers.utils import logging

from arcf.errors import InputError
from arcf.pretrained.torch_model import TorchStates, load_classifier, quiet

both = pytest.mark.parametrize("load", [load_classifier, TorchStates])
Load = Callable[[Path], object]


@pytest.fixture
def folder(tiny_bert: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return shutil.copytree(tiny_bert, tmp_path / "model")


def change(folder: Path, **values: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def test_states_are_those_of_transformers(tiny_bert: Path) -> None:
    ids = np.array([[2, 7, 8, 3]])
    model = transformers.BertModel.from_pretrained(tiny_bert).eval()
    with torch.no_grad():
        expected = model(torch.from_numpy(ids)).last_hidden_state.numpy()
    np.testing.assert_allclose(TorchStates(tiny_bert).states(ids, np.ones_like(ids)), expected, atol=1e-6)


def test_half_precision_is_computed_in_full(folder: Path) -> None:
    transformers.BertModel.from_pretrained(folder).half().save_pretrained(folder)
    assert TorchStates(folder).states(np.array([[2, 3]]), np.ones((1, 2), np.int64)).dtype == np.float32


def test_a_classifier_has_one_label_and_the_changes(tiny_bert: Path) -> None:
    model = load_classifier(tiny_bert, hidden_dropout_prob=0.25)
    assert model.config.num_labels == 1
    assert model.config.hidden_dropout_prob == 0.25
    assert model.get_submodule("classifier").weight.shape == (1, 32)


@both
def test_damaged_weights(folder: Path, load: Load) -> None:
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"model that transformers can load \(Error"):
        load(folder)


@both
def test_weights_that_are_missing_are_not_made_up(folder: Path, load: Load) -> None:
    change(folder, num_hidden_layers=3)
    with pytest.raises(InputError, match=r"lacks \d+ of its weights, the first being (bert\.)?encoder\.layer\.2"):
        load(folder)


@both
@pytest.mark.parametrize("values", [{"intermediate_size": 40}, {"model_type": "nonesuch"}, {"hidden_size": "wide"}])
def test_another_config(folder: Path, load: Load, values: dict[str, object]) -> None:
    change(folder, **values)
    with pytest.raises(InputError, match="model that transformers can load"):
        load(folder)


def test_a_missing_pooler_is_not_missed(folder: Path) -> None:
    transformers.BertModel(transformers.BertConfig.from_pretrained(folder), add_pooling_layer=False).save_pretrained(
        folder
    )
    TorchStates(folder)


def test_pickles_are_not_opened(folder: Path) -> None:
    weights = transformers.BertModel.from_pretrained(folder).state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="neither an ONNX graph nor a model that transformers can load"):
        TorchStates(folder)


def test_loudness_is_as_before() -> None:
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with suppress(KeyError), quiet():
        assert not logging.is_progress_bar_enabled()
        raise KeyError
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
