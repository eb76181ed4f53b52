"""`arcf rank` as a person uses it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.data import load
from arcf.runs.files import read_run
from arcf.scorer import Prefix, ScorerSettings

Arcf = Callable[..., int]


def test_a_question_of_ones_own_shows_the_best_facts(arcf: Arcf, capsys: pytest.CaptureFixture[str]) -> None:
    assert arcf("rank", "Which process turned the ice cube to water?", "--answer", "melting", "--top-k", 3) == 0
    shown = capsys.readouterr().out
    assert "an ice cube is a kind of block of frozen water" in shown
    assert "kindof-001" in shown
    assert "✓" not in shown


def test_a_question_of_the_dataset_marks_its_gold(arcf: Arcf, capsys: pytest.CaptureFixture[str]) -> None:
    assert arcf("rank", "--id", "science-001", "--ranker", "bm25") == 0
    assert "✓ an ice cube" in capsys.readouterr().out


def test_json_of_one_question(arcf: Arcf, capsys: pytest.CaptureFixture[str]) -> None:
    assert arcf("rank", "--ranker", "tfidf", "--id", "science-001", "--json", "--top-k", 2) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["id"] == "science-001"
    assert [set(fact) for fact in record["facts"]] == [{"uid", "text", "score", "gold"}] * 2
    assert arcf("rank", "--ranker", "tfidf", "melting ice", "--json", "--top-k", 1) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["question"] == "melting ice"
    assert "gold" not in record["facts"][0]


@pytest.mark.parametrize("file_format", ["textgraphs", "trec", "json"])
def test_a_split_is_written_and_can_be_read(arcf: Arcf, tmp_path: Path, file_format: str) -> None:
    path = tmp_path / "run"
    assert (
        arcf("rank", "--ranker", "tfidf", "--split", "dev", "--output", path, "--format", file_format, "--top-k", 7)
        == 0
    )
    run = read_run(path)
    assert set(run.rankings) == {question.id for question in load().split("dev")}
    assert {len(uids) for uids in run.rankings.values()} == {7}


def test_what_cannot_be_written_is_refused_before_the_work(
    arcf: Arcf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for output, complaint in {tmp_path: "is a folder", tmp_path / "new" / "run": "there is no folder"}.items():
        assert arcf("rank", "--split", "dev", "--ranker", "arcf", "--model", "nowhere", "--output", output) == 2
        assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_split_is_ranked_whole_unless_told_otherwise(arcf: Arcf, tmp_path: Path) -> None:
    assert arcf("rank", "--ranker", "tfidf", "--split", "dev", "--output", tmp_path / "run") == 0
    corpus = load()
    assert {len(uids) for uids in read_run(tmp_path / "run").rankings.values()} == {len(corpus.facts)}


def test_own_facts_in_a_text_file(arcf: Arcf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "facts.txt"
    path.write_text("yeast makes bread rise\n[b]markup[/b] stays text\n", encoding="utf-8")
    assert arcf("rank", "Why does bread rise?", "--answer", "yeast", "--facts", path) == 0
    shown = capsys.readouterr().out
    assert shown.index("yeast makes bread rise") < shown.index("[b]markup[/b] stays text")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Give one of"),
        (["a question", "--id", "science-001"], "Give one of"),
        (["--split", "dev"], "--output"),
        (["a question", "--ray"], "--ray is for many questions"),
        (["--split", "dev", "--output", "x", "--workers", "2"], "it goes with --ray"),
        (["a question", "--output", "x"], "--split"),
        (["a question", "--format", "json"], "--format is that of a split's ranking"),
        (["--split", "dev", "--output", "x", "--json"], "--format json"),
        (["--split", "dve", "--output", "x"], "Did you mean 'dev'?"),
        (["a question", "--ranker", "bm52"], "Did you mean 'bm25'?"),
        (["a question", "--dataset", "nowhere.txt"], "nowhere.txt"),
        (["--id", "science-1"], "There is no question of science named 'science-1'"),
        (["--split", "dev", "--output", "x", "--format", "xml"], "xml"),
        (["a question", "--ranker", "arcf", "--set", "chain.num_beam=2"], "Did you mean 'chain.num_beams'?"),
        (["a question", "--ranker", "arcf", "--set", "chain.num_beams=two"], "takes a whole number"),
        (["a question", "--ranker", "tfidf", "--model", "runs/any"], "tfidf has no use for the setting model"),
        (
            ["--split", "dev", "--output", "x", "--ranker", "bm25", "--max-facts", "2"],
            "bm25 has no use for the setting chain",
        ),
        (["--id", "science-001", "--answer", "nonsense"], "have their own answers"),
        (["--id", ""], "There is no question of science named ''"),
        ([" "], "The question is empty"),
    ],
)
def test_wrong_usage_gets_one_sentence_and_writes_nothing(
    arcf: Arcf,
    arguments: list[str],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert arcf("rank", *arguments) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.startswith("error: ")
    assert len(said.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_question_from_standard_input(
    arcf: Arcf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Which process melts ice?\n")))
    assert arcf("rank", "-", "--ranker", "bm25") == 0
    assert "Which process melts ice?" in capsys.readouterr().out


class Interrupted:
    """A scorer that prefers early facts, and at one prefix ends everything."""

    settings = ScorerSettings()

    def __init__(self, last: int) -> None:
        self.queries: dict[str, None] = {}
        self._last = last

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.queries[prefix.query] = None
        if len(self.queries) > self._last:
            raise KeyboardInterrupt
        return -candidates.astype(np.float32)


class TestTheChainsRanker:
    def arguments(self, path: Path) -> tuple[str | Path, ...]:
        return ("rank", "--split", "dev", "--ranker", "arcf", "--model", "any", "--output", path, "--format", "json")

    def test_an_interrupted_run_goes_on(self, arcf: Arcf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        scorer = Interrupted(last=7)
        monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: scorer)
        path = tmp_path / "run.json"
        assert arcf(*self.arguments(path)) != 0
        assert [file.name for file in tmp_path.iterdir()] == ["run.json.partial"]
        scorer = Interrupted(last=1000)
        assert arcf(*self.arguments(path)) == 0
        assert len(scorer.queries) == len(load().split("dev")) - 7
        assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
        assert arcf(*self.arguments(tmp_path / "whole.json")) == 0
        assert path.read_bytes() == (tmp_path / "whole.json").read_bytes()

    def test_other_settings_are_refused(
        self, arcf: Arcf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: Interrupted(last=1))
        path = tmp_path / "run.json"
        assert arcf(*self.arguments(path)) != 0
        capsys.readouterr()
        assert arcf(*self.arguments(path), "--top-k", "5") == 2
        assert "run.json.partial: holds rankings of an unfinished run with another top_k" in capsys.readouterr().err
