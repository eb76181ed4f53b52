"""A model's vocabulary, as the tokenizers library reads it."""

from pathlib import Path

from tokenizers import Tokenizer

from arcf.errors import InputError
from arcf.files import read_text


def read_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer.json file.

    Files made for sentence embeddings ask for truncation and padding; both would be silent, so neither is kept.

    Raises:
        InputError: it is missing, cannot be read or is not a tokenizer.
    """
    if not path.is_file():
        raise InputError(
            "is missing; load the model once with transformers and save its tokenizer with save_pretrained().", path
        )
    text = read_text(path)
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise InputError(f"is not a tokenizer that the tokenizers library can read ({error}).", path) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
