"""What a model expects of its input: marks, positions, segments, length. Read from files, without torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from arcf.errors import InputError
from arcf.files import read_text

ARCHITECTURES = ("bert", "distilbert", "electra", "roberta")
"""The `model_type` values of config.json that arcf can run. MiniLM is a "bert", DistilRoBERTa a "roberta"."""


@dataclass(frozen=True, slots=True)
class InputForm:
    """The input of one model: `start` and `end` are the ids of its [CLS] and [SEP]."""

    start: int
    end: int
    double_end: bool
    """RoBERTa puts two end marks between the texts of a pair."""
    segments: int
    """Segments that the model tells apart: two in BERT and ELECTRA, one in RoBERTa, none in DistilBERT."""
    first_position: int
    """The position id of the first token: 0, in RoBERTa one more than the padding id."""
    max_tokens: int
    """Tokens of the longest input, marks included."""

    @classmethod
    def of(cls, config: Mapping[str, Any], tokenizer: Tokenizer) -> "InputForm":
        """The form that a config.json asks for, with the marks that the tokenizer itself sets.

        Raises:
            InputError: an architecture that arcf does not run, a missing key, or a tokenizer without its two marks.
        """
        architecture = config.get("model_type")
        if architecture not in ARCHITECTURES:
            raise InputError(
                f"The model's architecture is '{architecture}', which arcf cannot run; "
                f"choose a model of one of: {', '.join(ARCHITECTURES)}."
            )
        marks = tokenizer.encode("").ids
        if len(marks) != 2:
            raise InputError(f"The tokenizer adds {len(marks)} marks to a text; expected a start and an end mark.")
        if "max_position_embeddings" not in config:
            raise InputError("The model's config has no max_position_embeddings, so its longest input is unknown.")
        first = config.get("pad_token_id", 1) + 1 if architecture == "roberta" else 0
        return cls(
            start=marks[0],
            end=marks[1],
            double_end=len(tokenizer.encode("", "").ids) == 4,
            segments=0 if architecture == "distilbert" else config.get("type_vocab_size", 2),
            first_position=first,
            max_tokens=config["max_position_embeddings"] - first,
        )


def read_config(path: Path) -> dict[str, Any]:
    """The content of a config.json file.

    Raises:
        InputError: it cannot be read or is not a JSON object.
    """
    try:
        config = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg}).", path, error.lineno) from error
    if not isinstance(config, dict):
        raise InputError("is not a JSON object.", path)
    return config
