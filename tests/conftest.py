"""Fixtures that many tests share."""

import json
import os
import socket
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from arcf.cli.app import main
from arcf.data import load, once
from arcf.errors import ArcfWarning, InputError
from arcf.kept import keeping
from arcf.types import Dataset

# The same examples in every run, and no deadline: a busy machine is not an error.
settings.register_profile("arcf", deadline=None, derandomize=True)
settings.load_profile("arcf")

# Tensors this small gain nothing from a second thread, and lose much where tests run side by side.
os.environ["OMP_NUM_THREADS"] = "1"

Rows = Sequence[Sequence[str]]


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests keep of corpora is not the user's."""
    os.environ["ARCF_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in which everything is kept that can be."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(keeping, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(keeping, "WORTH_FACTS", 0)
    monkeypatch.setattr(once, "WORTH_FACTS", 1)
    return tmp_path / "cache" / "arcf-cache"


TABLES_2020: dict[str, Rows] = {
    "KINDOF": [
        [
            "[FILL] a/the",
            "HYPONYM",
            "[FILL] is a kind of",
            "HYPERNYM",
            "[SKIP] COMMENTS",
            "[SKIP] DEP",
            "[SKIP] UID",
            "",
        ],
        ["a", "heron", "is a kind of", "bird", "a remark", "", "aaaa-0001", ""],
        ["", "birds", "are a kind of", "animal", '"so" they say', "DEP", "aaaa-0002", ""],
        ["", "", "", "", "a remark alone", "", "aaaa-0003", ""],
        ["a", "row", "is a kind of", "orphan", "", "", "", ""],
    ],
    "ACTION": [
        ["[fill] the", "AGENT", "[FILL ] can", "VERB", "[SKIP] UID", ""],
        ["", "herons ", " can", "wade  far", "aaaa-0004", ""],
        ["the", "", "can", "", "aaaa-0005", ""],
    ],
    "ACTION-SLOW": [["WHAT", "[SKIP] UID"], ["moss grows", "aaaa-0006"]],
}

WORDS = ["a", "an", "ant", "bird", "cube", "heat", "ice", "is", "kind", "melt", "##ing", "of", "solid", "the", "tree"]
WORDS += ["water", "é"]
QUESTIONS_2020 = ["QuestionID", "AnswerKey", "explanation", "question", "flags", "arcset"]
QUESTIONS_2019 = ["questionID", "AnswerKey", "AnswerKey", "Question", "explanation", "flags", "fold"]


def write_tsv(path: Path, rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def worldtree_like(tmp_path: Path) -> Callable[[int], Path]:
    """Writes a folder in the layout of one of the years, with sentences of our own, and returns it."""

    def make(year: int) -> Path:
        root = tmp_path / f"made-up-{year}"
        tables = root / "tables" if year == 2020 else root / "annotation" / "expl-tablestore-export" / "tables"
        for name, rows in TABLES_2020.items():
            write_tsv(tables / f"{name}.tsv", rows)
        for split in ("Train", "Dev", "Test"):
            gold = "" if split == "Test" else "aaaa-0001|CENTRAL aaaa-0004|ROLE"
            text = f"Which one wades in {split}? (A) a heron (B) moss"
            if year == 2020:
                rows = [QUESTIONS_2020, [f"Q_{split}", "A", gold, text, "SUCCESS", "Easy"]]
                write_tsv(root / f"questions.{split.lower()}.tsv", rows)
            else:
                rows = [QUESTIONS_2019, [f"Q_{split}", "A", "A", text, gold, "READY", "Challenge"]]
                mask = "-Masked" if split == "Test" else ""
                write_tsv(root / "questions" / f"ARC-Elementary+EXPL-{split}{mask}.tsv", rows)
        return root

    return make


@pytest.fixture
def pack() -> Callable[..., Path]:
    """Packs a folder into a zip archive, if wanted below a top folder, and returns the archive."""

    def pack_folder(folder: Path, archive: Path, top: str = "") -> Path:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.rglob("*")):
                file.write(path, f"{top}{path.relative_to(folder).as_posix()}")
        return archive

    return pack_folder


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory of the test's own; it does not exist yet."""
    home = tmp_path / "data-home"
    monkeypatch.setenv("ARCF_DATA", str(home))
    return home


@pytest.fixture
def arcf(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the command line as the shell would, errors included, and returns the exit code."""

    def run(*arguments: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["arcf", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    return run


def _real(name: str) -> Dataset:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ArcfWarning)
            return load(name)
    except InputError as error:
        if "is not installed" in str(error):
            pytest.skip(f"{error} (or point ARCF_DATA at it)")
        raise


@pytest.fixture(scope="session")
def worldtree_2020() -> Dataset:
    """The real dataset; tests that use it are skipped where it is not installed."""
    return _real("worldtree-2020")


@pytest.fixture(scope="session")
def worldtree_2019() -> Dataset:
    """The real dataset; tests that use it are skipped where it is not installed."""
    return _real("worldtree-2019")


@pytest.fixture(scope="session")
def save_tiny_model() -> Callable[[Iterable[str], Path], None]:
    """Saves a tiny random model that knows the words of some texts; wants torch."""

    def save(texts: Iterable[str], folder: Path) -> None:
        import torch
        import transformers
        from tokenizers import Tokenizer, models, pre_tokenizers, processors

        from arcf.scorer import ScorerSettings
        from arcf.scorer.network.backbone import make_backbone

        words = sorted({word for text in texts for word in text.split()})
        vocabulary = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        torch.manual_seed(0)
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
        config = transformers.BertConfig(**sizes, vocab_size=len(vocabulary), num_labels=1, initializer_range=0.3)
        network = transformers.AutoModelForTokenClassification.from_config(config)
        make_backbone(network, tokenizer).with_settings(ScorerSettings(encoding="shared_prefix")).save(folder)

    return save


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


@pytest.fixture(scope="session")
def made_up_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT whose vocabulary is 600 made-up words, and pieces of words; wants torch."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("made-up-model")
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


@pytest.fixture
def small_bench(monkeypatch: pytest.MonkeyPatch, data_home: Path) -> None:
    """No WorldTree to be measured on, a small corpus in its place, and memory as the system gives it."""
    from arcf.bench import samples, train

    assert not data_home.exists()
    monkeypatch.setattr(samples, "FACTS", 800)
    monkeypatch.setattr(samples, "QUESTIONS", 40)
    monkeypatch.setattr(train, "keep_pages", lambda: False)
    monkeypatch.delenv("LD_PRELOAD", raising=False)


NODE_STORE = 80 * 1024 * 1024
"""Bytes of a node's object store: about the least that Ray takes."""

NODE_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")


def _node() -> dict[str, Any]:
    """How a node is started. Its ports are given: a node that chooses them dies if that takes longer than 15 s."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in NODE_PORTS]
        ports = {name: probe.getsockname()[1] for name, probe in zip(NODE_PORTS, sockets, strict=True)}
    return {"num_cpus": 1, "object_store_memory": NODE_STORE} | ports


def _started(start: Callable[..., Any], **settings: Any) -> Any:
    """A node, begun anew if it does not come up, twice at most: a port that was free may be taken by now."""
    for _ in range(2):
        with suppress(Exception):  # Ray raises nothing narrower.
            return start(**_node(), **settings)
    return start(**_node(), **settings)


@pytest.fixture(scope="session")
def nodes_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder of all nodes."""
    return tmp_path_factory.mktemp("cluster") / "arcf-cache"


@pytest.fixture(scope="session")
def cluster(nodes_cache: Path) -> Iterator[Any]:
    """A cluster of two nodes, with a processor each; the process is connected to it."""
    pytest.importorskip("ray")
    from arcf.cluster.connection import import_ray

    ray = import_ray()
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARCF_CACHE", str(nodes_cache.parent))
        made = Cluster()
        _started(made.add_node, include_dashboard=False)
        made.connect()
        _started(made.add_node)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def doomed(cluster: Any) -> Iterator[Callable[[], None]]:
    """One node more, and what kills it."""
    added = _started(cluster.add_node)

    def kill() -> None:
        if added in cluster.worker_nodes:
            cluster.remove_node(added, allow_graceful=False)

    yield kill
    kill()
