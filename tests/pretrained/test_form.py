from pathlib import Path

import pytest
from tokenizers import Tokenizer

from arcf.errors import InputError
from arcf.pretrained.form import InputForm
from arcf.pretrained.tokenizer import read_tokenizer

BERT = {"model_type": "bert", "max_position_embeddings": 64}


@pytest.fixture
def tokenizer(tiny_bert: Path) -> Tokenizer:
    return read_tokenizer(tiny_bert / "tokenizer.json")


def test_marks_are_those_of_the_tokenizer(tokenizer: Tokenizer) -> None:
    assert InputForm.of(BERT, tokenizer) == InputForm(
        start=2, end=3, double_end=False, segments=2, first_position=0, max_tokens=64
    )


@pytest.mark.parametrize(
    ("config", "segments", "first", "tokens"),
    [
        ({"model_type": "distilbert"}, 0, 0, 64),
        ({"model_type": "electra", "type_vocab_size": 1}, 1, 0, 64),
        ({"model_type": "mpnet", "pad_token_id": 1}, 0, 2, 62),
        ({"model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1}, 1, 2, 62),
    ],
)
def test_the_rest_is_that_of_the_config(
    tokenizer: Tokenizer, config: dict[str, object], segments: int, first: int, tokens: int
) -> None:
    form = InputForm.of(BERT | config, tokenizer)
    assert (form.segments, form.first_position, form.max_tokens) == (segments, first, tokens)


def test_a_tokenizer_without_marks(tokenizer: Tokenizer) -> None:
    tokenizer.post_processor = None
    with pytest.raises(InputError, match="adds 0 marks to a text; expected a start and an end mark"):
        InputForm.of(BERT, tokenizer)


def test_a_model_of_unknown_length(tokenizer: Tokenizer) -> None:
    with pytest.raises(InputError, match="no max_position_embeddings"):
        InputForm.of({"model_type": "bert"}, tokenizer)
