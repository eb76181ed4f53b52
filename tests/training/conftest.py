"""A little world to learn: made-up facts and questions, and a tiny random model whose tokenizer knows their words."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from arcf.config import make
from arcf.data.loading import read
from arcf.scorer.network.backbone import load_backbone
from arcf.training.distributed import Workers
from arcf.training.run import make_trainer
from arcf.training.settings import TrainingSettings
from arcf.training.sources import make_sources
from arcf.training.trainer import Trainer
from arcf.types import Dataset

KINDS = {"bird": "seeds", "fish": "water", "plant": "sunlight", "robot": "power"}
ANIMALS = {
    "heron": "bird",
    "finch": "bird",
    "crow": "bird",
    "trout": "fish",
    "carp": "fish",
    "eel": "fish",
    "fern": "plant",
    "moss": "plant",
    "oak": "plant",
    "rover": "robot",
    "drone": "robot",
    "mower": "robot",
}
PLACES = ("pond", "road", "hill")


def facts() -> dict[str, str]:
    kinds = {f"is-{animal}": f"the {animal} is a kind of {kind}" for animal, kind in ANIMALS.items()}
    needs = {f"need-{kind}": f"every {kind} must have {need}" for kind, need in KINDS.items()}
    found = {f"at-{animal}": f"one {animal} was near our {PLACES[i % 3]}" for i, animal in enumerate(ANIMALS)}
    return kinds | needs | found | {"twin": "every bird must have seeds"}


def questions() -> Iterator[dict[str, object]]:
    for animal, kind in ANIMALS.items():
        gold = [f"is-{animal}", f"need-{kind}"]
        question = f"Which of these must the {animal} have?"
        yield {"id": animal, "question": question, "answer": KINDS[kind], "gold": gold, "split": "train"}
    yield {"id": "bare", "question": "Who asks?", "answer": "nobody", "split": "train"}
    yield {"id": "bare2", "question": "Who asks again?", "answer": "nobody", "split": "nothing"}


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "creatures"
    folder.mkdir()
    lines = [json.dumps({"uid": uid, "text": text}) for uid, text in facts().items()]
    (folder / "facts.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions()))
    return folder


@pytest.fixture(scope="session")
def dataset(data_folder: Path) -> Dataset:
    return read(data_folder)


def save_model(folder: Path, layers: int = 2, seed: int = 0) -> Path:
    """A BERT without a score head, as a pretrained one would be."""
    # Not trained: the library's trainer breaks ties differently from run to run.
    texts = [*facts().values(), *(str(question["question"]) for question in questions())]
    words = sorted(set(re.findall(r"\w+|[^\w\s]", " ".join(texts).lower())) | {*"().", "answer", "explanation"})
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=96,
    )
    torch.manual_seed(seed)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def other_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("other"), layers=1)


Settings = Callable[..., TrainingSettings]


@pytest.fixture(scope="session")
def settings(model_folder: Path, data_folder: Path) -> Settings:
    """Settings of a short run; sections given as dicts change some of them."""

    def with_changes(**sections: dict[str, object]) -> TrainingSettings:
        base: dict[str, dict[str, object]] = {
            "model": {"name": str(model_folder), "dropout": 0.0},
            "data": {"dataset": str(data_folder), "held_out": 2},
            "sampling": {"k": 8, "prefixes": 2, "negatives": 4},
            "optimisation": {"epochs": 2.0, "tokens_per_step": 300, "tokens_at_once": 150, "learning_rate": 1e-3},
            "validation": {"every": 15, "k": 8, "max_facts": 2},
            "run": {"precision": "float32"},
        }
        return make(TrainingSettings, sections | {name: base[name] | sections.get(name, {}) for name in base})

    return with_changes


@pytest.fixture(scope="session")
def trainer(settings: Settings, dataset: Dataset) -> Callable[..., Trainer]:
    """A fresh trainer of these settings."""

    def of(wanted: TrainingSettings | None = None, group: Workers | None = None) -> Trainer:
        chosen = wanted or settings()
        sources = make_sources(chosen, dict.fromkeys(chosen.data.corpora, dataset))
        return make_trainer(chosen, sources, group or Workers(), torch.device("cpu"))

    return of


@pytest.fixture
def backbone(model_folder: Path) -> object:
    return load_backbone(model_folder)
