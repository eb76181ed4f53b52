"""A pretrained encoder and its score head, loaded with transformers, seen as the parts that the encodings compute with.

The head is that of a token classifier with one label: a linear layer on a token's last hidden state. So a saved folder
is a plain Hugging Face model: `AutoModel` reads the encoder from it, and `AutoModelForTokenClassification` the scores
(of the joint encoding, at the first token).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import transformers
from safetensors import SafetensorError
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers.utils import logging

from arcf.errors import InputError
from arcf.models import find_model
from arcf.scorer.encoding import TextEncoder, read_tokenizer
from arcf.scorer.form import ARCHITECTURES


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The first layer; DistilBERT has no segments, and only ELECTRA projects to the hidden size."""

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
    """A model and its parts. The parts are the model's own modules, so training them trains it."""

    model: transformers.PreTrainedModel
    encoder: TextEncoder
    tokenizer: Tokenizer
    embeddings: Embeddings
    layers: tuple[Layer, ...]
    head: nn.Linear
    heads: int
    hidden_dropout: float
    attention_dropout: float

    @property
    def encoding(self) -> str | None:
        """The encoding that the weights were trained with; None for a model that arcf has not trained."""
        return getattr(self.model.config, "arcf_encoding", None)

    @property
    def prior(self) -> float:
        """The weight of the lexical prior that the weights were trained with; see `scorer.prior`."""
        return float(getattr(self.model.config, "arcf_prior", 0.0))

    @property
    def similarity(self) -> float:
        """What the cosine of prefix and candidate weighs in a score; see `scorer.shared_prefix`."""
        return float(getattr(self.model.config, "arcf_similarity", 0.0))

    def save(self, folder: Path, encoding: str) -> None:
        """Write config.json, model.safetensors and tokenizer.json; `encoding` is remembered in the config.

        All files are complete before the first one appears in `folder`.

        Raises:
            InputError: the folder cannot be written to.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _quiet(), TemporaryDirectory(dir=folder, prefix=".saving") as temporary:
                self.model.save_pretrained(temporary)
                config = deepcopy(self.model.config)
                config.arcf_encoding = encoding
                config.save_pretrained(temporary)
                self.tokenizer.save(str(Path(temporary) / "tokenizer.json"))
                for path in sorted(Path(temporary).iterdir()):
                    path.replace(folder / path.name)
        except (OSError, SafetensorError) as error:
            raise InputError(f"cannot be written ({getattr(error, 'strerror', None) or error}).", folder) from error


def load_backbone(name: str | Path, dropout: float | None = None) -> Backbone:
    """Load a model from a folder or from the Hugging Face hub. A model without a score head gets a random one.

    Args:
        name: a folder in the Hugging Face layout, or a model's name on the hub (which is not asked for MiniLM where
            the package with its files is installed).
        dropout: overrides the config's dropout, of hidden states and attention weights alike.

    Raises:
        InputError: there is no such model, it is of another architecture, or its weights are not complete.
    """
    name = find_model(name) or name
    config = _read_config(name)
    if dropout is not None:
        names = ("dropout", "attention_dropout") if config.model_type == "distilbert" else _DROPOUTS
        config.update(dict.fromkeys(names, dropout))
    config.num_labels = 1
    return make_backbone(_read_model(name, config), _read_tokenizer(name))


_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")


def make_backbone(model: transformers.PreTrainedModel, tokenizer: Tokenizer) -> Backbone:
    """The parts of a token classifier with one label."""
    config: Any = model.config
    distil = config.model_type == "distilbert"
    base: Any = model.base_model
    stack = base.transformer.layer if distil else base.encoder.layer
    found = base.embeddings
    return Backbone(
        model=model,
        encoder=TextEncoder(tokenizer, config.to_dict()),
        tokenizer=tokenizer,
        embeddings=Embeddings(
            word=found.word_embeddings,
            position=found.position_embeddings,
            segment=getattr(found, "token_type_embeddings", None),
            norm=found.LayerNorm,
            projection=getattr(base, "embeddings_project", None),
        ),
        layers=tuple(_distilbert_layer(layer) if distil else _bert_layer(layer) for layer in stack),
        head=getattr(model, "classifier"),  # noqa: B009 - not declared on the base class
        heads=config.num_attention_heads,
        hidden_dropout=config.dropout if distil else config.hidden_dropout_prob,
        attention_dropout=config.attention_dropout if distil else config.attention_probs_dropout_prob,
    )


def _bert_layer(layer: Any) -> Layer:
    """Also ELECTRA's and RoBERTa's: their names are the same."""
    own, attended = layer.attention.self, layer.attention.output
    return Layer(
        query=own.query,
        key=own.key,
        value=own.value,
        output=attended.dense,
        attention_norm=attended.LayerNorm,
        up=layer.intermediate.dense,
        activation=layer.intermediate.intermediate_act_fn,
        down=layer.output.dense,
        norm=layer.output.LayerNorm,
    )


def _distilbert_layer(layer: Any) -> Layer:
    attention, forward = layer.attention, layer.ffn
    return Layer(
        query=attention.q_lin,
        key=attention.k_lin,
        value=attention.v_lin,
        output=attention.out_lin,
        attention_norm=layer.sa_layer_norm,
        up=forward.lin1,
        activation=forward.activation,
        down=forward.lin2,
        norm=layer.output_layer_norm,
    )


def _read_config(name: str | Path) -> Any:
    try:
        config = transformers.AutoConfig.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error
    if config.model_type not in ARCHITECTURES:
        raise InputError(
            f"is of the architecture '{config.model_type}', which arcf cannot run; "
            f"choose a model of one of: {', '.join(ARCHITECTURES)}.",
            name,
        )
    return config


def _read_model(name: str | Path, config: Any) -> transformers.PreTrainedModel:
    try:
        with _quiet():
            model, info = transformers.AutoModelForTokenClassification.from_pretrained(
                name, config=config, output_loading_info=True, use_safetensors=True
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise _unreadable(name, error) from error
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("classifier."))
    if missing:
        raise InputError(f"lacks {len(missing)} of its weights, the first being {missing[0]}.", name)
    loaded: transformers.PreTrainedModel = model
    return loaded


def _read_tokenizer(name: str | Path) -> Tokenizer:
    path = Path(name) / "tokenizer.json"
    if Path(name).is_dir():
        return read_tokenizer(path)
    try:
        return Tokenizer.from_pretrained(str(name))
    except Exception as error:  # the library raises nothing narrower
        raise _unreadable(name, error) from error


def _unreadable(name: str | Path, error: Exception) -> InputError:
    reason = str(error).strip().splitlines()[0]
    return InputError(f"is neither a model folder nor a reachable model of the Hugging Face hub ({reason})", name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without a progress bar, and without the report on a new head and an unused pooler: both are meant to be."""
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()
