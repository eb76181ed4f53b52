"""Encoders for tests: a tiny random BERT in the layout of sentence-transformers, and a plain one of numpy alone."""

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from arcf.neighborhood import embedding, wmd
from arcf.neighborhood.encoder import Vectors

WORDS = ["a", "an", "ant", "bird", "cube", "heat", "ice", "is", "kind", "melt", "##ing", "of", "solid", "the", "tree"]
WORDS += ["water", "é"]
DIMENSION = 6


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with random weights and a word-piece tokenizer that pads and cuts, as real ones do."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("tiny-bert")
    vocabulary = {token: number for number, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=5)
    tokenizer.save(str(folder / "tokenizer.json"))

    torch.manual_seed(13)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=16,
        initializer_range=0.3,
    )
    transformers.BertModel(config).save_pretrained(folder)
    modules = ["Transformer", "Pooling", "Normalize"]
    steps = [{"type": f"sentence_transformers.models.{name}"} for name in modules]
    (folder / "modules.json").write_text(json.dumps(steps))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 12, "do_lower_case": false}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        '{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}'
    )
    return folder


@pytest.fixture(scope="session")
def tiny_graph(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as an ONNX graph, with no torch weights beside it."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("tiny-graph")
    for name in ("config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((tiny_bert / name).read_bytes())
    (folder / "onnx").mkdir()
    shape = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            transformers.BertModel.from_pretrained(tiny_bert).eval(),
            (torch.ones(2, 5, dtype=torch.long), torch.ones(2, 5, dtype=torch.long)),  # one tensor twice is one input
            folder / "onnx" / "model.onnx",
            input_names=["input_ids", "attention_mask"],
            output_names=["last_hidden_state", "pooler_output"],
            dynamic_shapes={"input_ids": shape, "attention_mask": shape},
            external_data=False,
            dynamo=True,
            verbose=False,
        )
    return folder


class PlainEncoder:
    """Vectors of small whole numbers per word, added up: equal words in any order give bit-equal rows, and ties abound.

    Words that begin with x are unknown.
    """

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        sums = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                if not word.startswith("x"):
                    sums[row] += np.random.default_rng(crc32(word.encode())).integers(-1, 3, DIMENSION)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)


@pytest.fixture(scope="module")
def plain_encoder() -> Iterator[PlainEncoder]:
    """Every model is the plain encoder, for the tests of a module."""
    encoder = PlainEncoder()
    with pytest.MonkeyPatch.context() as patch:
        for module in (embedding, wmd):
            patch.setattr(module, "load_encoder", lambda _: encoder)
        yield encoder
