from pathlib import Path

import pytest

from arcf.errors import InputError
from arcf.pretrained.tokenizer import read_tokenizer


def test_nothing_is_cut_or_padded_in_silence(tiny_bert: Path) -> None:
    tokenizer = read_tokenizer(tiny_bert / "tokenizer.json")
    assert tokenizer.truncation is None
    assert tokenizer.padding is None
    assert len(tokenizer.encode("ice " * 9).ids) == 9 + 2
    assert len(tokenizer.encode("ice").ids) == 1 + 2


def test_missing_or_broken(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(InputError, match=r"tokenizer\.json: is missing; load the model once"):
        read_tokenizer(path)
    path.write_text("{}")
    with pytest.raises(InputError, match="not a tokenizer"):
        read_tokenizer(path)
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_tokenizer(path)
