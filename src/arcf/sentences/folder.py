"""A model folder in the layout of sentence-transformers, as far as encoding needs it.

`modules.json` lists the steps after the transformer, `1_Pooling/config.json` says how token vectors become one, and
`sentence_bert_config.json` how long a text may be. A plain Hugging Face folder has none of the three: then the mean
over tokens is taken and the length is the model's.
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

MODULES, POOLING, SENTENCE = "modules.json", "1_Pooling/config.json", "sentence_bert_config.json"
SENTENCE_FILES = (MODULES, POOLING, SENTENCE)
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
    return SentenceFolder(
        path=path,
        pooling=_pooling(path),
        max_tokens=_max_tokens(config, sentence),
        lower_case=bool(sentence.get("do_lower_case")),
        pad=int(config.get("pad_token_id") or 0),
    )


def _max_tokens(config: dict[str, Any], sentence: dict[str, Any]) -> int:
    positions = int(config.get("max_position_embeddings") or LONGEST) - first_position(config)
    return min(positions, int(sentence.get("max_seq_length") or positions))


def _pooling(path: Path) -> Pooling:
    """How the folder says that token vectors become one; the mean where it does not say."""
    if unknown := _steps(path / MODULES) - {"Transformer", "Pooling", "Normalize"}:
        raise InputError(f"asks for steps that arcf does not know: {', '.join(sorted(unknown))}.", path / MODULES)
    settings = _optional(path / POOLING)
    prefix = "pooling_mode_"
    modes = {key.removeprefix(prefix) for key, value in settings.items() if key.startswith(prefix) and value is True}
    if modes <= {"mean_tokens"}:
        return "mean"
    if modes == {"cls_token"}:
        return "cls"
    raise InputError(
        f"asks for pooling by {', '.join(sorted(modes))}; arcf knows mean_tokens and cls_token.",
        path / POOLING,
    )


def _steps(path: Path) -> set[str]:
    """The class names of the steps that a text goes through; none where no file lists them."""
    try:
        return {str(step["type"]).rpartition(".")[2] for step in read_json(path)} if path.exists() else set()
    except (TypeError, KeyError) as error:
        raise InputError("is not a list of steps.", path) from error


def _optional(path: Path) -> dict[str, Any]:
    return read_json_object(path) if path.exists() else {}
