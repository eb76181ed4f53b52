"""How the families of models differ, in one table: a new family is one entry, for torch and for ONNX alike.

All are stacks of post-norm encoder layers. What differs is where transformers keeps the parts of a layer, what
config.json calls its settings, and how tokens are numbered. Nothing here needs torch: a part is known by its path of
attributes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arcf.errors import InputError

#: Position numbers of these start after that of the padding token. More than arcf can train: sentence encoders too.
SHIFTED_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})

_BERT_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "activation": "intermediate.intermediate_act_fn",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
_DISTILBERT_LAYER = {
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "output": "attention.out_lin",
    "attention_norm": "sa_layer_norm",
    "up": "ffn.lin1",
    "activation": "ffn.activation",
    "down": "ffn.lin2",
    "norm": "output_layer_norm",
}
_MPNET_LAYER = _BERT_LAYER | {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "output": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """One family of models.

    `layers` is the path of the list of layers, `layer` the path of each part within one. `relative_bias` is the path of
    a table, one for all layers, of what a key's position relative to a query adds to their attention score in each
    head: (buckets, heads); see `scorer.relative`. `has_segments`: whether the two texts of a pair are told apart by an
    embedding. The others are keys of config.json.
    """

    layers: str = "encoder.layer"
    layer: Mapping[str, str] = field(default_factory=lambda: _BERT_LAYER)
    relative_bias: str | None = None
    has_segments: bool = True
    activation: str = "hidden_act"
    hidden_dropout: str = "hidden_dropout_prob"
    attention_dropout: str = "attention_probs_dropout_prob"


ARCHITECTURES: dict[str, Architecture] = {
    "bert": Architecture(),
    "distilbert": Architecture(
        layers="transformer.layer",
        layer=_DISTILBERT_LAYER,
        has_segments=False,
        activation="activation",
        hidden_dropout="dropout",
        attention_dropout="attention_dropout",
    ),
    "electra": Architecture(),
    "mpnet": Architecture(layer=_MPNET_LAYER, relative_bias="encoder.relative_attention_bias", has_segments=False),
    "roberta": Architecture(),
}
"""By the `model_type` of config.json. MiniLM is a "bert", DistilRoBERTa a "roberta"."""


def architecture_of(config: Mapping[str, Any], place: Path | None = None) -> Architecture:
    """The family of the model that a config.json describes; `place` is only for the message.

    Raises:
        InputError: it is one that arcf cannot run.
    """
    name = config.get("model_type")
    if name not in ARCHITECTURES:
        raise InputError(
            f"The model's architecture is '{name}', which arcf cannot run; "
            f"choose a model of one of: {', '.join(ARCHITECTURES)}.",
            place,
        )
    return ARCHITECTURES[name]


def first_position(config: Mapping[str, Any]) -> int:
    """The position number of a text's first token: 0, or one more than the padding id."""
    padding = config.get("pad_token_id")
    return (1 if padding is None else int(padding)) + 1 if config.get("model_type") in SHIFTED_POSITIONS else 0
