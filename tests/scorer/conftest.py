"""Tiny random models of every family that arcf runs, with tokenizers made here: nothing is downloaded."""

from collections.abc import Callable, Sequence

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from arcf.pretrained.architectures import ARCHITECTURES
from arcf.scorer.network.backbone import Backbone, make_backbone

FACTS = (
    "melting is a kind of process",
    "ice is a kind of solid water",
    "heat causes melting.",
    "an ice cube is made of ice and nothing else, as far as anyone knows",
    "water",
    "a kind of",
    "Melting means changing from a solid into a liquid by adding heat energy",
)
QUERIES = ("Which process turned the ice cube to water? (answer) melting", "What is ice (answer) a solid.", "heat")

SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}


def wordpiece(marks: Sequence[str] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=list(marks))
    tokenizer.train_from_iterator([*FACTS, *QUERIES], trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece()
    # As in the files of sentence-transformers: silent truncation and padding that must be undone.
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=350, special_tokens=marks, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([*FACTS, *QUERIES], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def mpnet() -> Tokenizer:
    """WordPiece with the marks of RoBERTa, at their places."""
    tokenizer = wordpiece(["<s>", "<pad>", "</s>", "[UNK]"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer


TOKENIZERS = {"mpnet": mpnet, "roberta": byte_level}


def make_config(family: str, vocabulary: int, positions: int) -> transformers.PretrainedConfig:
    """Of every entry of `ARCHITECTURES`: a new one needs a line here, and is tested with all that `backbone` is."""
    common = {"vocab_size": vocabulary, "num_labels": 1, "initializer_range": 0.2}
    sizes = SIZES | {"max_position_embeddings": positions}
    match family:
        case "bert":
            return transformers.BertConfig(**sizes, **common)
        case "electra":
            return transformers.ElectraConfig(**sizes, **common, embedding_size=16)
        case "distilbert":
            return transformers.DistilBertConfig(
                dim=32, n_layers=3, n_heads=4, hidden_dim=48, **common, max_position_embeddings=positions
            )
        case "mpnet":
            return transformers.MPNetConfig(**sizes | {"max_position_embeddings": positions + 2}, **common)
        case "roberta":
            sizes |= {"max_position_embeddings": positions + 2}
            return transformers.RobertaConfig(**sizes, **common, type_vocab_size=1, pad_token_id=1)
    raise NotImplementedError(f"There is no tiny model of the architecture {family} yet.")


def make_tiny(family: str, positions: int = 128, seed: int = 0) -> Backbone:
    """A random model of a family, in eval mode, and its parts."""
    tokenizer = TOKENIZERS.get(family, wordpiece)()
    config = make_config(family, tokenizer.get_vocab_size(), positions)
    torch.manual_seed(seed)
    model = transformers.AutoModelForTokenClassification.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            # Biases and norms start as constants, which would hide a mistake in them.
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return make_backbone(model.eval(), tokenizer)


@pytest.fixture(scope="session")
def tiny() -> Callable[..., Backbone]:
    return make_tiny


@pytest.fixture(scope="session", params=ARCHITECTURES)
def backbone(request: pytest.FixtureRequest) -> Backbone:
    return make_tiny(request.param)


@pytest.fixture(scope="session")
def facts() -> tuple[str, ...]:
    return FACTS


@pytest.fixture(scope="session")
def queries() -> tuple[str, ...]:
    return QUERIES
