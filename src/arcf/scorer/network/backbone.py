"""A pretrained encoder and its score head, loaded with transformers, seen as the parts that the encodings compute with.

The head is that of a token classifier with one label: a linear layer on a token's last hidden state. So a saved folder
is a plain Hugging Face model: `AutoModel` reads the encoder from it, and `AutoModelForTokenClassification` the scores
(of the joint encoding, at the first token).
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import transformers
from safetensors import SafetensorError
from tokenizers import Tokenizer
from torch import Tensor, nn

from arcf.errors import InputError, SettingError
from arcf.files import read_json_object, usual_mode
from arcf.pretrained.architectures import Architecture, architecture_of
from arcf.pretrained.location import CONFIG, TOKENIZER, locate
from arcf.pretrained.tokenizer import read_tokenizer
from arcf.pretrained.torch_model import load_classifier, quiet
from arcf.scorer.settings import ScorerSettings
from arcf.scorer.tokens import ChainTokenizer
from arcf.scorer.weights import Array, EmbeddingWeights, EncoderWeights, LayerWeights, Linear, Norm


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The first layer; DistilBERT and MPNet have no segments, and only ELECTRA projects to the hidden size."""

    word: nn.Embedding
    position: nn.Embedding
    segment: nn.Embedding | None
    norm: nn.LayerNorm
    projection: nn.Linear | None


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One post-norm encoder layer: attention, then the feed-forward part, each with residual and norm after it."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear
    attention_norm: nn.LayerNorm
    up: nn.Linear
    activation: Callable[[Tensor], Tensor]
    down: nn.Linear
    norm: nn.LayerNorm


@dataclass(frozen=True, eq=False)
class Backbone:
    """A model and its parts. The parts are the model's own modules, so training them trains it.

    `relative_bias`: what a relative position adds to the attention scores of each head, (buckets, heads), in all layers
    alike; only MPNet has it.
    """

    model: transformers.PreTrainedModel
    tokenizer: ChainTokenizer
    settings: ScorerSettings
    embeddings: Embeddings
    layers: tuple[Layer, ...]
    relative_bias: nn.Embedding | None
    head: nn.Linear
    heads: int
    hidden_dropout: float
    attention_dropout: float

    def with_settings(self, settings: ScorerSettings) -> "Backbone":
        """The same model, to be run and saved with other settings."""
        return replace(self, settings=settings)

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and the first so many layers as they are.

        Raises:
            SettingError: nothing would be left to train but the head.
        """
        if layers >= len(self.layers):
            raise SettingError(f"frozen_layers must be less than the model's {len(self.layers)} layers, not {layers}.")
        for module in self._lower(layers):
            module.requires_grad_(False)

    def is_frozen(self, layers: int) -> bool:
        """Whether the embeddings and the first so many layers stay as they are."""
        return not any(weight.requires_grad for module in self._lower(layers) for weight in module.parameters())

    def _lower(self, layers: int) -> Iterator[nn.Module]:
        """All that the first so many layers compute with: the bias of relative positions too, which all share."""
        parts: list[Embeddings | Layer] = [self.embeddings, *self.layers[:layers]]
        for part in parts:
            for entry in fields(part):
                module = getattr(part, entry.name)
                if isinstance(module, nn.Module):
                    yield module
        if layers and self.relative_bias is not None:
            yield self.relative_bias

    @property
    def has_trained_head(self) -> bool:
        """Whether the files had a score head: arcf's own do, and those of other token classifiers."""
        names = getattr(self.model.config, "architectures", None) or ()
        return self.settings.encoding is not None or any(name.endswith("ForTokenClassification") for name in names)

    def config(self) -> transformers.PretrainedConfig:
        """The model's own config with the settings in it."""
        config = deepcopy(self.model.config)
        config.update(self.settings.to_config())
        return config

    def save(self, folder: Path) -> None:
        """Write config.json, model.safetensors and tokenizer.json.

        All files are complete before the first one appears in `folder`.

        Raises:
            InputError: the folder cannot be written to.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with quiet(), TemporaryDirectory(dir=folder, prefix=".saving") as temporary:
                self.model.save_pretrained(temporary)
                self.config().save_pretrained(temporary)
                self.tokenizer.raw.save(str(Path(temporary) / TOKENIZER))
                for path in sorted(Path(temporary).iterdir()):
                    usual_mode(path)
                    path.replace(folder / path.name)
        except (OSError, SafetensorError) as error:
            raise InputError(f"cannot be written ({getattr(error, 'strerror', None) or error}).", folder) from error

    def weights(self) -> EncoderWeights:
        """All weights as arrays, for exporting."""
        parts, bias, config = self.embeddings, self.relative_bias, self.model.config.to_dict()
        return EncoderWeights(
            embeddings=EmbeddingWeights(
                word=_array(parts.word.weight),
                position=_array(parts.position.weight),
                segment=None if parts.segment is None else _array(parts.segment.weight),
                norm=_norm(parts.norm),
                projection=None if parts.projection is None else _linear(parts.projection),
            ),
            layers=tuple(_layer(layer) for layer in self.layers),
            relative_bias=None if bias is None else _array(bias.weight),
            head=_linear(self.head),
            heads=self.heads,
            activation=config[architecture_of(config).activation],
            similarity=self.settings.similarity,
            form=self.tokenizer.form,
        )


def load_backbone(name: str | Path, dropout: float | None = None) -> Backbone:
    """Load a model from a folder or from the Hugging Face hub. A model without a score head gets a random one.

    Args:
        name: a folder in the Hugging Face layout, or a model's name on the hub (which is not asked for MiniLM where
            the package with its files is installed).
        dropout: overrides the config's dropout, of hidden states and attention weights alike.

    Raises:
        InputError: there is no such model, it is of another architecture, or its weights are not complete.
    """
    folder = locate(name)
    architecture = architecture_of(read_json_object(folder / CONFIG), folder)
    names = (architecture.hidden_dropout, architecture.attention_dropout)
    changes = {} if dropout is None else dict.fromkeys(names, dropout)
    return make_backbone(load_classifier(folder, **changes), read_tokenizer(folder / TOKENIZER))


def make_backbone(model: transformers.PreTrainedModel, tokenizer: Tokenizer) -> Backbone:
    """The parts of a token classifier with one label."""
    config = model.config.to_dict()
    architecture = architecture_of(config)
    base: Any = model.base_model
    found = base.embeddings
    return Backbone(
        model=model,
        tokenizer=ChainTokenizer(tokenizer, config),
        settings=ScorerSettings.of(config),
        embeddings=Embeddings(
            word=found.word_embeddings,
            position=found.position_embeddings,
            segment=getattr(found, "token_type_embeddings", None),
            norm=found.LayerNorm,
            projection=getattr(base, "embeddings_project", None),
        ),
        layers=tuple(_parts(layer, architecture) for layer in attrgetter(architecture.layers)(base)),
        relative_bias=attrgetter(architecture.relative_bias)(base) if architecture.relative_bias else None,
        head=getattr(model, "classifier"),  # noqa: B009 - not declared on the base class
        heads=model.config.num_attention_heads,
        hidden_dropout=getattr(model.config, architecture.hidden_dropout),
        attention_dropout=getattr(model.config, architecture.attention_dropout),
    )


def _parts(layer: Any, architecture: Architecture) -> Layer:
    return Layer(**{part: attrgetter(path)(layer) for part, path in architecture.layer.items()})


def _layer(layer: Layer) -> LayerWeights:
    return LayerWeights(
        query=_linear(layer.query),
        key=_linear(layer.key),
        value=_linear(layer.value),
        output=_linear(layer.output),
        attention_norm=_norm(layer.attention_norm),
        up=_linear(layer.up),
        down=_linear(layer.down),
        norm=_norm(layer.norm),
    )


def _linear(module: nn.Linear) -> Linear:
    return Linear(_array(module.weight).T, _array(module.bias))


def _norm(module: nn.LayerNorm) -> Norm:
    return Norm(_array(module.weight), _array(module.bias), module.eps)


def _array(values: Tensor) -> Array:
    array: Array = values.detach().float().cpu().numpy()
    return np.asarray(array)
