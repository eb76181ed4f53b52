"""A model folder in the layout of sentence-transformers, as far as encoding needs it.

`modules.json` lists the steps after the transformer, `1_Pooling/config.json` says how token vectors become one, and
`sentence_bert_config.json` how long a text may be; from version 5.4 on, the tokenizer's own settings say that. A plain
Hugging Face folder has none of the first two: then the mean over tokens is taken and the length is the model's.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arcf.errors import InputError
from arcf.files import read_json, read_json_object
from arcf.pretrained.architectures import first_position
from arcf.pretrained.location import CONFIG

Pooling = Literal["mean", "cls"]

LONGEST = 512

POOLINGS: dict[str, Pooling] = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}

MODULES, POOLING, SENTENCE = "modules.json", "1_Pooling/config.json", "sentence_bert_config.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"
SENTENCE_FILES = (MODULES, POOLING, SENTENCE, TOKENIZER_SETTINGS)
"""What a folder may have besides a plain Hugging Face model."""

WHOLE, LOWER, UPPER = "model.onnx", "lower.onnx", "upper.onnx"
"""ONNX graphs: of all layers, or of those that another model shares and of the rest, as `arcf export` writes them."""


@dataclass(frozen=True, slots=True)
class SentenceFolder:
    """Where a model is and how its token vectors become a text's. `max_tokens` counts the special ones too."""

    path: Path
    pooling: Pooling = "mean"
    max_tokens: int = LONGEST
    lower_case: bool = False
    pad: int = 0

    @property
    def graphs(self) -> tuple[Path] | tuple[Path, Path] | None:
        """The ONNX graph, or those of the lower and the upper layers, if the folder has either."""
        path = self.path
        known = ((path / "onnx" / WHOLE,), (path / WHOLE,), (path / LOWER, path / UPPER))
        return next((graphs for graphs in known if all(graph.is_file() for graph in graphs)), None)


def read_folder(path: Path) -> SentenceFolder:
    """Read the settings of a model folder.

    Raises:
        InputError: the folder is not that of a model, or asks for steps that arcf does not know.
    """
    config = read_json_object(path / CONFIG)
    sentence = _optional(path / SENTENCE)
    tokenizer = _optional(path / TOKENIZER_SETTINGS) if (path / MODULES).exists() else {}
    return SentenceFolder(
        path=path,
        pooling=_pooling(path),
        max_tokens=_max_tokens(config, sentence.get("max_seq_length") or tokenizer.get("model_max_length")),
        lower_case=bool(sentence.get("do_lower_case")),
        pad=int(config.get("pad_token_id") or 0),
    )


def _max_tokens(config: dict[str, Any], wanted: float | None) -> int:
    """What the model can read, or less if less is wanted; a number like 1e30 stands for no bound."""
    positions = int(config.get("max_position_embeddings") or LONGEST) - first_position(config)
    return min(positions, int(wanted or positions))


def _pooling(path: Path) -> Pooling:
    """How the folder says that token vectors become one; the mean where it does not say."""
    if unknown := _steps(path / MODULES) - {"Transformer", "Pooling", "Normalize"}:
        raise InputError(f"asks for steps that arcf does not know: {', '.join(sorted(unknown))}.", path / MODULES)
    if not (path / POOLING).exists():
        return "mean"
    modes = _modes(read_json_object(path / POOLING))
    if len(modes) == 1 and (known := POOLINGS.get(modes[0])):
        return known
    asked = f"asks for pooling by {', '.join(modes)}" if modes else "says nothing of pooling that arcf can read"
    raise InputError(f"{asked}; arcf knows the mean over tokens and the first token (cls).", path / POOLING)


def _modes(settings: dict[str, Any]) -> list[str]:
    """What the token vectors are pooled by: the flags that are set, or the name or names that newer files have."""
    prefix, named = "pooling_mode_", settings.get("pooling_mode")
    if named is not None:
        return sorted(map(str, named)) if isinstance(named, list) else [str(named)]
    return sorted(key.removeprefix(prefix) for key, on in settings.items() if key.startswith(prefix) and on is True)


def _steps(path: Path) -> set[str]:
    """The class names of the steps that a text goes through; none where no file lists them."""
    try:
        return {str(step["type"]).rpartition(".")[2] for step in read_json(path)} if path.exists() else set()
    except (TypeError, KeyError) as error:
        raise InputError("is not a list of steps.", path) from error


def _optional(path: Path) -> dict[str, Any]:
    return read_json_object(path) if path.exists() else {}
