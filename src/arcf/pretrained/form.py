"""What a model expects of its input: marks, positions, segments, length. Read from files, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from arcf.errors import InputError
from arcf.pretrained.architectures import architecture_of, first_position


@dataclass(frozen=True, slots=True)
class InputForm:
    """The input of one model: `start` and `end` are the ids of its [CLS] and [SEP]."""

    start: int
    end: int
    double_end: bool
    """RoBERTa and MPNet put two end marks between the texts of a pair."""
    segments: int
    """Segments that the model tells apart: two in BERT and ELECTRA, one in RoBERTa, none in DistilBERT and MPNet."""
    first_position: int
    """The position id of the first token: 0, in RoBERTa and MPNet one more than the padding id."""
    max_tokens: int
    """Tokens of the longest input, marks included."""

    @classmethod
    def of(cls, config: Mapping[str, Any], tokenizer: Tokenizer) -> "InputForm":
        """The form that a config.json asks for, with the marks that the tokenizer itself sets.

        Raises:
            InputError: an architecture that arcf does not run, a missing key, or a tokenizer without its two marks.
        """
        architecture = architecture_of(config)
        marks = tokenizer.encode("").ids
        if len(marks) != 2:
            raise InputError(f"The tokenizer adds {len(marks)} marks to a text; expected a start and an end mark.")
        if "max_position_embeddings" not in config:
            raise InputError("The model's config has no max_position_embeddings, so its longest input is unknown.")
        first = first_position(config)
        return cls(
            start=marks[0],
            end=marks[1],
            double_end=len(tokenizer.encode("", "").ids) == 4,
            segments=config.get("type_vocab_size", 2) if architecture.has_segments else 0,
            first_position=first,
            max_tokens=config["max_position_embeddings"] - first,
        )
