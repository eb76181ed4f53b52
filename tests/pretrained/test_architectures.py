"""The table of architectures against the models of transformers themselves."""

from operator import attrgetter
from pathlib import Path

import pytest
import torch
import transformers
from torch import nn

from arcf.errors import InputError
from arcf.pretrained.architectures import ARCHITECTURES, SHIFTED_POSITIONS, architecture_of, first_position
from arcf.scorer.relative import BUCKETS

SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
KINDS = {"activation": nn.Module, "attention_norm": nn.LayerNorm, "norm": nn.LayerNorm}

FAMILIES = sorted({*ARCHITECTURES, *SHIFTED_POSITIONS})
every_architecture = pytest.mark.parametrize("name", ARCHITECTURES)


def make_model(name: str, **settings: int) -> transformers.PreTrainedModel:
    sizes = {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 12} if name == "distilbert" else SIZES
    config = transformers.AutoConfig.for_model(name, **sizes, vocab_size=30, max_position_embeddings=40, **settings)
    torch.manual_seed(0)
    return transformers.AutoModel.from_config(config).eval()


@every_architecture
def test_paths_lead_to_the_parts_of_a_layer(name: str) -> None:
    architecture, model = ARCHITECTURES[name], make_model(name)
    layers = attrgetter(architecture.layers)(model)
    assert len(layers) == model.config.num_hidden_layers
    for part, path in architecture.layer.items():
        found = [attrgetter(path)(layer) for layer in layers]
        assert all(isinstance(module, KINDS.get(part, nn.Linear)) for module in found)
    parts = {part: attrgetter(path)(layers[0]) for part, path in architecture.layer.items()}
    parameters = {id(weight) for module in parts.values() for weight in module.parameters()}
    assert parameters == {id(weight) for weight in layers[0].parameters()}


@every_architecture
def test_a_relative_bias_has_a_column_for_each_head(name: str) -> None:
    path, model = ARCHITECTURES[name].relative_bias, make_model(name)
    tables = {key for key in model.state_dict() if "relative" in key}
    assert tables == ({f"{path}.weight"} if path else set())
    if path:
        assert attrgetter(path)(model).weight.shape == (BUCKETS, model.config.num_attention_heads)


@every_architecture
def test_segments_and_keys_are_those_of_the_model(name: str) -> None:
    architecture, model = ARCHITECTURES[name], make_model(name)
    assert architecture.has_segments == hasattr(model.embeddings, "token_type_embeddings")
    config = model.config.to_dict()
    assert isinstance(config[architecture.activation], str)
    assert all(isinstance(config[key], float) for key in (architecture.hidden_dropout, architecture.attention_dropout))
    assert architecture_of(config) is architecture


@pytest.mark.parametrize(
    ("name", "padding"),
    # MPNet counts from a padding id of 1 whatever its config says; its models have no other.
    [(name, 1) for name in FAMILIES] + [(name, 3) for name in FAMILIES if name != "mpnet"],
)
def test_the_first_position_is_that_which_the_model_takes_itself(name: str, padding: int) -> None:
    model = make_model(name, pad_token_id=padding)
    tokens = torch.tensor([[7, 8, 9, 10]])
    first = first_position(model.config.to_dict())
    with torch.no_grad():
        usual = model(tokens).last_hidden_state
        told = model(tokens, position_ids=torch.arange(4)[None] + first).last_hidden_state
    torch.testing.assert_close(told, usual)


def test_a_config_without_a_padding_id_has_the_usual_one() -> None:
    assert first_position({"model_type": "roberta"}) == first_position({"model_type": "roberta", "pad_token_id": None})
    assert first_position({"model_type": "roberta"}) == 2
    assert first_position({"model_type": "roberta", "pad_token_id": 0}) == 1
    assert first_position({"model_type": "bert", "pad_token_id": 5}) == first_position({}) == 0


@pytest.mark.parametrize("name", ["gpt2", None])
def test_an_unknown_architecture_is_named_with_those_to_choose_from(name: str | None) -> None:
    with pytest.raises(InputError) as error:
        architecture_of({"model_type": name})
    assert str(error.value) == (
        f"The model's architecture is '{name}', which arcf cannot run; "
        "choose a model of one of: bert, distilbert, electra, mpnet, roberta."
    )
    with pytest.raises(InputError, match="somewhere: The model's architecture"):
        architecture_of({"model_type": name}, Path("somewhere"))
