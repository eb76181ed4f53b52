"""A model folder in the layout of sentence-transformers, as far as encoding needs it.

`modules.json` lists the steps after the transformer, `1_Pooling/config.json` says how token vectors become one, and
`sentence_bert_config.json` how long a text may be. A plain Hugging Face folder has none of the three: then the mean
over tokens is taken and the length is the model's.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arcf.errors import InputError
from arcf.files import read_text

Pooling = Literal["mean", "cls"]

#: Position numbers of these start after that of the padding token, so two of the counted positions are never used.
SHIFTED_POSITIONS = {"roberta", "xlm-roberta", "camembert", "mpnet"}
LONGEST = 512


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Where a model is and how its token vectors become a text's. `max_tokens` counts the special ones too."""

    path: Path
    pooling: Pooling = "mean"
    max_tokens: int = LONGEST
    lower_case: bool = False
    pad: int = 0

    @property
    def graph(self) -> Path | None:
        """The ONNX graph, if the folder has one."""
        graphs = (self.path / "onnx" / "model.onnx", self.path / "model.onnx")
        return next((graph for graph in graphs if graph.is_file()), None)


def read_folder(path: Path) -> ModelFolder:
    """Read the settings of a model folder.

    Raises:
        InputError: the folder is not that of a model, or asks for steps that arcf does not know.
    """
    config = _read(path / "config.json")
    sentence = _read(path / "sentence_bert_config.json", optional=True)
    return ModelFolder(
        path=path,
        pooling=_pooling(path),
        max_tokens=_max_tokens(config, sentence),
        lower_case=bool(sentence.get("do_lower_case")),
        pad=int(config.get("pad_token_id") or 0),
    )


def _max_tokens(config: dict[str, Any], sentence: dict[str, Any]) -> int:
    positions = int(config.get("max_position_embeddings") or LONGEST)
    if config.get("model_type") in SHIFTED_POSITIONS:
        positions -= 2
    return min(positions, int(sentence.get("max_seq_length") or positions))


def _pooling(path: Path) -> Pooling:
    """How the folder says that token vectors become one; the mean where it does not say."""
    if unknown := _steps(path / "modules.json") - {"Transformer", "Pooling", "Normalize"}:
        raise InputError(
            f"asks for steps that arcf does not know: {', '.join(sorted(unknown))}.", path / "modules.json"
        )
    settings = _read(path / "1_Pooling" / "config.json", optional=True)
    prefix = "pooling_mode_"
    modes = {key.removeprefix(prefix) for key, value in settings.items() if key.startswith(prefix) and value is True}
    if modes <= {"mean_tokens"}:
        return "mean"
    if modes == {"cls_token"}:
        return "cls"
    raise InputError(
        f"asks for pooling by {', '.join(sorted(modes))}; arcf knows mean_tokens and cls_token.",
        path / "1_Pooling" / "config.json",
    )


def _steps(path: Path) -> set[str]:
    """The class names of the steps that a text goes through; none where no file lists them."""
    try:
        return {str(step["type"]).rpartition(".")[2] for step in _parse(path)} if path.exists() else set()
    except (TypeError, KeyError) as error:
        raise InputError("is not a list of steps.", path) from error


def _read(path: Path, optional: bool = False) -> dict[str, Any]:
    content = {} if optional and not path.exists() else _parse(path)
    if not isinstance(content, dict):
        raise InputError("is not a JSON object.", path)
    return content


def _parse(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg}).", path, error.lineno) from error
