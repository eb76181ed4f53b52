from pathlib import Path

import numpy as np
import pytest

from arcf.errors import InputError
from arcf.sentences import Vectors, load_encoder
from arcf.sentences import encoder as encoder_module
from arcf.sentences.base import TokenIds
from arcf.sentences.encoder import SentenceEncoder
from arcf.sentences.folder import SentenceFolder, read_folder

TEXTS = ["melting ice is the solid", "Ice", "a tree", "the bird is a kind of ant 漢字", "heat " * 40, "é water"]


def pooled_by_transformers(folder: Path, text: str) -> Vectors:
    """Mean pooling as the model card writes it, one text at a time and without padding."""
    import torch
    import transformers
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(12)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state
    return torch.nn.functional.normalize(states.mean(dim=1)).numpy()[0]


def test_torch_equals_plain_transformers(tiny_bert: Path) -> None:
    encoded = load_encoder(str(tiny_bert)).encode(TEXTS)
    assert encoded.dtype == np.float32
    for text, vector in zip(TEXTS, encoded, strict=True):
        np.testing.assert_allclose(vector, pooled_by_transformers(tiny_bert, text), atol=1e-6)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_onnx_equals_torch(tiny_bert: Path, tiny_graph: Path) -> None:
    expected = load_encoder(str(tiny_bert)).encode(TEXTS)
    np.testing.assert_allclose(load_encoder(str(tiny_graph)).encode(TEXTS), expected, atol=1e-5)


def test_batches_do_not_change_vectors(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(str(tiny_bert))
    together = encoder.encode(TEXTS)
    monkeypatch.setattr(encoder_module, "BATCH_TOKENS", 1)
    np.testing.assert_allclose(encoder.encode(TEXTS), together, atol=1e-6)


def test_equal_tokens_get_bit_equal_vectors(tiny_bert: Path) -> None:
    texts = ["Ice is solid", *TEXTS, "ice IS solid", "heat " * 11, "ice   is solid"]
    encoded = load_encoder(str(tiny_bert)).encode(texts)
    assert np.array_equal(encoded[0], encoded[-3])
    assert np.array_equal(encoded[0], encoded[-1])
    assert np.array_equal(encoded[5], encoded[-2])  # both are cut to ten words


def test_keys_tell_apart_what_vectors_do(tiny_bert: Path) -> None:
    texts = ["Ice is solid", *TEXTS, "ice IS solid", "heat " * 11, "ice   is solid", "is ice solid", "", "漢字"]
    encoder = load_encoder(str(tiny_bert))
    vectors = [vector.tobytes() if vector.any() else b"" for vector in encoder.encode(texts)]
    keys = encoder.keys(texts)
    assert [[key == other for other in keys] for key in keys] == [
        [row == other for other in vectors] for row in vectors
    ]
    assert keys[-2:] == [b"", b""]
    assert encoder.keys([]) == []


@pytest.mark.parametrize("unknown", ["", "   ", "漢字", "unheard words"])
def test_texts_without_a_known_token_are_zero(tiny_bert: Path, unknown: str) -> None:
    encoded = load_encoder(str(tiny_bert)).encode([unknown, "ice"])
    assert not encoded[0].any()
    assert encoded[1].any()
    assert load_encoder(str(tiny_bert)).encode([unknown]).shape == (1, 32)


def test_no_texts(tiny_bert: Path) -> None:
    assert load_encoder(str(tiny_bert)).encode([]).shape == (0, 32)


class Echo:
    """A backend whose states are the token ids."""

    def states(self, ids: TokenIds, mask: TokenIds) -> Vectors:
        del mask
        return np.stack([ids, np.ones_like(ids)], axis=2).astype(np.float32)


def test_first_token_pooling_and_lower_case(tiny_bert: Path) -> None:
    folder = read_folder(tiny_bert)
    first = SentenceEncoder(SentenceFolder(folder.path, pooling="cls"), Echo()).encode(["ice"])
    np.testing.assert_allclose(first, [[2 / 5**0.5, 1 / 5**0.5]], rtol=1e-6)
    lower = SentenceEncoder(SentenceFolder(folder.path, lower_case=True), Echo()).encode(["ICE", "ice"])
    assert np.array_equal(lower[0], lower[1])


def test_tokenizer_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing; load the model once"):
        SentenceEncoder(SentenceFolder(tmp_path), Echo())
