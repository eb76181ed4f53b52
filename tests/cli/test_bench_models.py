"""`arcf bench train` and `arcf bench explain`, and the dataset that they make up."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from arcf.bench import samples, train
from arcf.bench.samples import made_up_dataset
from arcf.scorer.tokens import TextEncoder

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT whose vocabulary is 600 made-up words, and pieces of words."""
    folder = tmp_path_factory.mktemp("model")
    syllables = [consonant + vowel for consonant in "bdgklmnrtz" for vowel in "aeo"]
    words = [first + second for first in syllables[:20] for second in syllables]
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "(", ")", "answer", "explanation", *words, "##bada"]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=len(entries), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16
    )
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, data_home: Path) -> None:
    """No WorldTree here, and a small corpus in its place."""
    assert not data_home.exists()
    monkeypatch.setattr(samples, "FACTS", 800)
    monkeypatch.setattr(samples, "QUESTIONS", 40)
    monkeypatch.setattr(train, "keep_pages", lambda: False)
    monkeypatch.delenv("LD_PRELOAD", raising=False)


def test_json(arcf: Arcf, model: Path, capsys: Capture) -> None:
    assert arcf("bench", "train", "--seconds", "0", "--model", model, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    for key in ("samples_per_second", "tokens_per_second"):
        assert record[key].keys() == {"joint", "shared_prefix"}
        assert min(record[key].values()) > 0
    samples = record["samples_per_second"]
    assert record["ratio"] == pytest.approx(samples["shared_prefix"] / samples["joint"], rel=0.01)
    assert record["threads"] == 1
    assert record["allocator"] == "the system's default"
    assert record["dataset"] == "made-up"


def test_table(arcf: Arcf, model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "keep_pages", lambda: True)
    assert arcf("bench", "train", "--seconds", "0", "--model", model) == 0
    output = capsys.readouterr().out
    for words in (
        "1 threads, memory: glibc, freed pages kept",
        "shared_prefix",
        "joint",
        "times more samples a second",
    ):
        assert words in output


def test_both_encodings_get_the_same_samples(model: Path) -> None:
    speed = train.measure_training(str(model), 0.0)
    shared, joint = speed.speeds["shared_prefix"], speed.speeds["joint"]
    assert shared.samples == joint.samples
    assert (shared.steps, joint.steps > 1) == (1, True)
    assert 4 < joint.tokens / shared.tokens < 8


def test_made_up_samples_cost_what_worldtrees_do(model: Path) -> None:
    encoder = TextEncoder.load(model)
    dataset = made_up_dataset(Tokenizer.from_file(str(model / "tokenizer.json")), 800, 200)
    tokens = encoder.facts([fact.text for fact in dataset.facts])
    lengths = tokens.candidates.lengths[:-1]
    assert np.mean(lengths) == pytest.approx(11.7, abs=1)
    assert np.std(lengths) == pytest.approx(4.8, abs=1)
    questions = dataset.split("train")
    queries = [len(encoder.prefix(question.query(), (), tokens).tokens) for question in questions]
    assert np.mean(queries) == pytest.approx(30.7, abs=3)
    gold = [len(dataset.gold_ids(question)) for question in questions]
    assert min(gold) >= 1
    assert np.mean(gold) == pytest.approx(5.8, abs=0.8)
    assert dataset == made_up_dataset(Tokenizer.from_file(str(model / "tokenizer.json")), 800, 200)


def test_no_such_model(arcf: Arcf, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert arcf("bench", "train", "--model", tmp_path / "empty") == 2
    assert "neither a model folder nor" in capsys.readouterr().err


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("bench", "train", "--help") == 0
    assert "Example: arcf bench train" in capsys.readouterr().out


OURS = ["joint_exact", "shared_exact", "shared_fast", "onnx_fp32", "onnx_int8"]


def test_explaining_as_json(arcf: Arcf, model: Path, capsys: Capture) -> None:
    chosen = [argument for name in OURS for argument in ("--procedure", name)]
    assert arcf("bench", "explain", "--model", model, "--questions", "2", "--json", *chosen) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["dataset"] == "made-up"
    assert record["questions"] == 2
    assert sorted(record["seconds_per_question"]) == sorted(OURS)
    assert all(seconds > 0 for seconds in record["seconds_per_question"].values())
    scorings = record["scorings_per_question"]
    assert scorings["joint_exact"] == scorings["shared_exact"] > scorings["shared_fast"]
    assert record["peak_bytes"] is None or record["peak_bytes"] > 10_000_000


def test_the_folder_of_a_run(arcf: Arcf, model: Path, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(model)
    assert arcf("bench", "explain", "--model", tmp_path / "run", "--questions", "1", "--procedure", "shared_fast") == 0
    assert "shared_fast" in capsys.readouterr().out


def test_explaining_as_a_table(arcf: Arcf, model: Path, capsys: Capture) -> None:
    assert arcf("bench", "explain", "--model", model, "--questions", "1", "--procedure", "shared_fast") == 0
    printed = capsys.readouterr().out
    assert "800 facts of made-up" in printed
    assert "shared_fast" in printed
    assert "onnx" not in printed


def test_the_procedure_of_another_library(arcf: Arcf, model: Path, capsys: Capture) -> None:
    pytest.importorskip("sentence_transformers")
    assert arcf("bench", "explain", "--model", model, "--questions", "1", "--procedure", "crossencoder", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    scorings = record["scorings_per_question"]
    assert scorings["crossencoder"] == scorings["shared_exact"]


def test_a_library_that_is_not_installed(
    arcf: Arcf, model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert arcf("bench", "explain", "--model", model, "--procedure", "crossencoder") == 2
    assert "arcf[bench]" in capsys.readouterr().err


def test_an_unknown_procedure(arcf: Arcf, model: Path, capsys: Capture) -> None:
    assert arcf("bench", "explain", "--model", model, "--procedure", "onnx_int4") == 2
    assert "onnx_int8" in capsys.readouterr().err
