"""`arcf explain`, with a scorer made up for the test and once with a real, tiny model."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.data import load
from arcf.scorer import STOP, Prefix, ScorerSettings

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

QUESTION = "Which process turned the ice cube to water?"
FACTS = (
    "ice is a kind of solid",
    "melting means changing from a solid to a liquid",
    "water is a kind of liquid",
    "moss grows on [bold] stones",
)


class InOrder:
    """Prefers facts in the order of the corpus; stopping is always better than that."""

    settings = ScorerSettings()

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        del prefix
        return np.where(candidates == STOP, 1.0, -candidates).astype(np.float32)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: InOrder())


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps({"uid": f"u{place}", "text": text}) + "\n" for place, text in enumerate(FACTS)))
    return path


@pytest.mark.usefixtures("fake")
def test_the_picture(arcf: Arcf, corpus: Path, capsys: Capture) -> None:
    assert (
        arcf("explain", QUESTION, "--answer", "melting", "--model", "any", "--facts", corpus, "--min-facts", "2") == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[:-1] == [
        QUESTION,
        "→ melting",
        "",
        "1  0.00 ice is a kind of solid",
        "        └ from the question (ice); 1.00 ahead of the next",
        "2 -1.00 melting means changing from a solid to a liquid",
        "        └ from the question (melting), 1 (solid); 1.00 ahead of the next; too early to stop (2.00 higher)",
        "",
        "stopped after 2 facts: stopping scores 1.00, the next fact scores -2.00",
    ]
    assert lines[-1].startswith("3 of 4 facts considered, 8 scorings, ")


@pytest.mark.usefixtures("fake")
def test_options_and_the_ranking(arcf: Arcf, corpus: Path, capsys: Capture) -> None:
    options = ("--options", "freezing", "--options", "melting")
    assert (
        arcf("explain", QUESTION, *options, "--correct", "B", "--model", "any", "--facts", corpus, "--top-k", "4") == 0
    )
    output = capsys.readouterr().out
    assert "  (A) freezing\n→ (B) melting\n" in output
    ranking = output.partition("Ranking")[2]
    assert [ranking.index(text) for text in FACTS] == sorted(ranking.index(text) for text in FACTS)
    assert arcf("explain", QUESTION, *options, "--correct", "E", "--model", "any", "--facts", corpus) == 2
    assert "neither the letter nor the text" in capsys.readouterr().err


@pytest.mark.usefixtures("fake")
def test_gold_facts_are_marked(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("explain", "--id", "science-001", "--model", "any") == 0
    output = capsys.readouterr().out
    assert "in the gold explanation: " in output
    assert "of its 6 facts are in the chain" in output


@pytest.mark.usefixtures("fake")
def test_json(arcf: Arcf, capsys: Capture) -> None:
    settings = ("-k", "20", "--max-facts", "4", "--min-facts", "4", "--exact", "--json", "--top-k", "7")
    assert arcf("explain", "--id", "science-001", "--model", "any", *settings) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["id"] == "science-001"
    assert len(record["facts"]) == 4
    assert len(record["gold"]) == 6
    assert [fact["uid"] for fact in record["ranking"]][:4] == [fact["uid"] for fact in record["facts"]]
    assert len(record["ranking"]) == 7


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give one of: a question, --id, --file, --split."),
        (("ice", "--ray"), "--ray is for many questions; it goes with --file or --split."),
        (("--split", "dev", "--workers", "2"), "it goes with --ray."),
        (("ice", "--id", "science-001"), "Give one of: a question, --id, --file, --split."),
        (("--split", "dev", "--file", "q.txt"), "Give one of: a question, --id, --file, --split."),
        (("ice", "--answer", "a", "--correct", "b"), "give one of them"),
        (("--id", "science-001", "--answer", "a"), "has its answer and options"),
        (("--split", "dev", "--options", "a"), "has its answer and options"),
        (("ice", "--format", "markdwon"), "Did you mean 'markdown'?"),
        (("ice", "--json", "--format", "text"), "give one of them"),
        (("ice", "--output", "x.jsonl"), "--output is for --file and --split"),
        (("ice", "--svg", "x.html", "--html", "x.html"), "name the same file"),
        (("--split", "dev", "--output", "-"), "without it, explanations go to standard output"),
        (("--split", "dev", "--format", "text"), "Many explanations are JSON lines"),
        (("--split", "dev", "--svg", "x.svg"), "Many explanations are JSON lines"),
        (("--split", "dve"), "Did you mean 'dev'?"),
        (("--file", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("ice", "--correct", "B"), "give the options too"),
        (("--id", "science-999", "--model", "any"), "science-999"),
        (("", "--model", "any"), "The question is empty"),
        (("ice", "-k", "0"), "k of a chain is at least 1"),
        (("ice", "--facts", "nowhere.jsonl", "--model", "any"), "nowhere.jsonl"),
    ],
)
def test_wrong_usage(arcf: Arcf, capsys: Capture, arguments: tuple[str, ...], words: str) -> None:
    assert arcf("explain", *arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("fake")
def test_what_is_in_a_text_stays_text(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "facts.jsonl"
    facts = {"\x9b0": "ice \x1b[2J melts", "\x9b1": f"ice {'x' * 100_000}"}
    path.write_text("".join(json.dumps({"uid": uid, "text": text}) + "\n" for uid, text in facts.items()))
    for command in (("explain", "--model", "any", "--top-k", "2"), ("rank", "--ranker", "tfidf")):
        assert arcf(*command, "ice \x1b]0;x\x07?", "--dataset", path) == 0
        output = capsys.readouterr().out
        assert "ice \ufffd[2J melts" in output
        assert "(100,004 characters)" in output
        assert not set("\x1b\x07\x9b") & set(output)
        assert len(output) < 20_000


@pytest.mark.usefixtures("fake")
def test_markdown(arcf: Arcf, corpus: Path, capsys: Capture) -> None:
    arguments = ("--answer", "melting", "--model", "any", "--facts", corpus, "--format", "markdown", "--top-k", "4")
    assert arcf("explain", QUESTION, *arguments, "--min-facts", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [f"**{QUESTION}**", "", "- **melting**", "", f"1. {FACTS[0]} (0.00, from the question (ice))"]
    assert lines[-6:-4] == ["Ranking:", ""]
    assert lines[-1] == r"4. moss grows on \[bold\] stones"


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("given", ["-", "/dev/stdin"])
def test_many_questions_from_standard_input(
    arcf: Arcf, corpus: Path, tmp_path: Path, capsys: Capture, given: str
) -> None:
    questions = tmp_path / "questions"
    questions.write_text("What melts ice? (answer) heat\n\nWhat is moss?\n")
    with questions.open() as file, standard_input(file.fileno()):
        assert arcf("explain", "--file", given, "--model", "any", "--facts", corpus, "--top-k", "1") == 0
    output = capsys.readouterr()
    records = [json.loads(line) for line in output.out.splitlines()]
    assert [(record["id"], record["answer"]) for record in records] == [("line-1", "heat"), ("line-3", "")]
    assert [len(record["ranking"]) for record in records] == [1, 1]
    assert output.err == ""


@contextmanager
def standard_input(file: int) -> Iterator[None]:
    """Another file as standard input, below Python too: /dev/stdin is what the system has."""
    kept, before = os.dup(0), sys.stdin
    os.dup2(file, 0)
    try:
        with os.fdopen(0, closefd=False) as sys.stdin:
            yield
    finally:
        sys.stdin = before
        os.dup2(kept, 0)
        os.close(kept)


@pytest.mark.usefixtures("fake")
def test_one_question_from_standard_input(arcf: Arcf, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("explain", "-", "--answer", "melting", "--model", "any", "--facts", corpus, "--json")
    for content, code in ((f"{QUESTION}\n".encode(), 0), (b"\xff", 2), (b"\n", 2)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert arcf(*arguments) == code


@pytest.mark.usefixtures("fake")
def test_bytes_that_are_no_text(arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (("-",), ("--file", "-")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ice\n\xff\n")))
        assert arcf("explain", *arguments, "--model", "any") == 2
        expected = "error: standard input:2: is not UTF-8 text; save it as UTF-8 and try again.\n"
        assert capsys.readouterr().err == expected


@pytest.mark.usefixtures("fake")
def test_a_split_goes_to_a_file_and_on_after_an_interruption(
    arcf: Arcf, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    arguments = ("explain", "--split", "dev", "--model", "any", "--max-facts", "1", "--output", path)
    scored: list[str] = []

    def interrupted(self: InOrder, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        del self
        scored.append(prefix.query)
        if len(set(scored)) > 3:
            raise KeyboardInterrupt
        return -candidates.astype(np.float32)

    with monkeypatch.context() as patch:
        patch.setattr(InOrder, "score", interrupted)
        assert arcf(*arguments) != 0
    assert len(path.read_text().splitlines()) == 3
    assert arcf(*arguments) == 0
    found = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert found == [question.id for question in load().split("dev")]
    assert "50 questions explained in" in capsys.readouterr().err
    assert arcf("-q", *arguments) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("option", ["--svg", "--html"])
def test_what_cannot_be_written_is_refused_before_the_work(arcf: Arcf, capsys: Capture, option: str) -> None:
    assert arcf("explain", "ice", "--model", "nowhere", option, "/dev/full") == 2
    assert capsys.readouterr().err == "error: /dev/full: is a device; give the name of a file to write.\n"
    assert Path("/dev/full").is_char_device()


def test_arguments_in_another_encoding(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("explain", "caf\udce9") == 2
    expected = "error: The argument 'caf\ufffd' is not UTF-8 text; write it in UTF-8, or rename the file.\n"
    assert capsys.readouterr().err == expected


@pytest.mark.usefixtures("fake")
def test_rank_with_the_chain(arcf: Arcf, corpus: Path, capsys: Capture) -> None:
    arguments = ("--answer", "melting", "--model", "any", "--json")
    assert arcf("rank", QUESTION, *arguments, "--ranker", "arcf", "--dataset", corpus) == 0
    assert [fact["uid"] for fact in json.loads(capsys.readouterr().out)["facts"]] == ["u0", "u1", "u2", "u3"]


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("explain", "--help") == 0
    assert 'arcf explain "Which process' in capsys.readouterr().out


def save_tiny_model(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=80, special_tokens=marks)
    tokenizer.train_from_iterator([*FACTS, QUESTION], trainer)
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        num_labels=1,
    )
    transformers.set_seed(0)
    transformers.AutoModelForTokenClassification.from_config(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))


def test_a_real_model(arcf: Arcf, corpus: Path, tmp_path: Path, capsys: Capture) -> None:
    save_tiny_model(tmp_path / "model")
    arguments = ("explain", QUESTION, "--answer", "melting", "--facts", corpus, "--model", tmp_path / "model", "--json")
    arguments = (*arguments, "--min-facts", "3")
    capsys.readouterr()
    records = []
    for exactly in ((), ("--exact",)):
        assert arcf(*arguments, *exactly) == 0
        records.append(json.loads(capsys.readouterr().out))
    assert len(records[0]["facts"]) == 3
    assert [fact["uid"] for fact in records[0]["facts"]] == [fact["uid"] for fact in records[1]["facts"]]
