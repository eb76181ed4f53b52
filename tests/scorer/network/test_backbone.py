from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from arcf.errors import InputError
from arcf.scorer import ScorerSettings
from arcf.scorer.network.backbone import Backbone, load_backbone

JOINT = ScorerSettings(encoding="joint")


@pytest.fixture
def saved(tmp_path: Path, backbone: Backbone) -> Path:
    backbone.with_settings(JOINT).save(tmp_path / "model")
    return tmp_path / "model"


def test_round_trip(saved: Path, backbone: Backbone) -> None:
    loaded = load_backbone(saved)
    assert loaded.settings == JOINT
    assert loaded.tokenizer.form == backbone.tokenizer.form
    assert loaded.tokenizer.raw.to_str() == backbone.tokenizer.raw.to_str()
    for name, weight in backbone.model.state_dict().items():
        torch.testing.assert_close(loaded.model.state_dict()[name], weight, atol=0, rtol=0)


def test_transformers_reads_the_folder(saved: Path, backbone: Backbone) -> None:
    encoder = transformers.AutoModel.from_pretrained(saved).eval()
    tokens = torch.tensor([[backbone.tokenizer.form.start, 7, 8, backbone.tokenizer.form.end]])
    with torch.no_grad():
        expected = backbone.model.base_model(tokens).last_hidden_state
        torch.testing.assert_close(encoder(tokens).last_hidden_state, expected)
        scorer = transformers.AutoModelForTokenClassification.from_pretrained(saved).eval()
        torch.testing.assert_close(scorer(tokens).logits, backbone.head(expected))


def test_folder_holds_no_pickle_and_nothing_unfinished(saved: Path) -> None:
    assert sorted(path.name for path in saved.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_a_bare_encoder_gets_a_head(tmp_path: Path, backbone: Backbone) -> None:
    torch.manual_seed(0)
    transformers.AutoModel.from_config(backbone.model.config).save_pretrained(tmp_path)
    backbone.tokenizer.raw.save(str(tmp_path / "tokenizer.json"))
    loaded = load_backbone(tmp_path, dropout=0.25)
    assert loaded.head.out_features == 1
    assert loaded.settings.encoding is None
    assert loaded.hidden_dropout == loaded.attention_dropout == 0.25


def test_other_architecture(tmp_path: Path) -> None:
    transformers.GPT2Config(n_embd=8, n_layer=1, n_head=1).save_pretrained(tmp_path)
    with pytest.raises(
        InputError, match="architecture is 'gpt2', which arcf cannot run; choose a model of one of: bert"
    ):
        load_backbone(tmp_path)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no model folder"):
        load_backbone(tmp_path / "nothing")


def test_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json: cannot be read"):
        load_backbone(tmp_path)


def test_incomplete_weights(tmp_path: Path, tiny: Callable[..., Backbone]) -> None:
    tiny("bert").with_settings(JOINT).save(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"num_hidden_layers": 3', '"num_hidden_layers": 4'))
    with pytest.raises(InputError, match=r"lacks \d+ of its weights, the first being bert.encoder.layer.3"):
        load_backbone(tmp_path)


def test_damaged_weights(tmp_path: Path, tiny: Callable[..., Backbone]) -> None:
    tiny("bert").with_settings(JOINT).save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match=str(tmp_path)):
        load_backbone(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path, tiny: Callable[..., Backbone]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        tiny("bert").with_settings(JOINT).save(tmp_path / "file" / "model")


def test_frozen_layers_keep_all_that_they_compute_with(backbone: Backbone, tiny: Callable[..., Backbone]) -> None:
    own = tiny(backbone.model.config.model_type)
    assert not own.is_frozen(0)
    own.freeze(2)
    assert [own.is_frozen(layers) for layers in (0, 1, 2, 3)] == [True, True, True, False]
    assert own.head.weight.requires_grad
    assert own.relative_bias is None or not own.relative_bias.weight.requires_grad


def test_layers_above_frozen_embeddings_learn_their_relative_positions(tiny: Callable[..., Backbone]) -> None:
    own = tiny("mpnet")
    own.freeze(0)
    assert own.relative_bias is not None
    assert own.relative_bias.weight.requires_grad
