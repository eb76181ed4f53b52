"""Explanations of many questions: no one lost, none twice, whatever happened on the way."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.batch import ExplanationJob, explain_to_file, explained
from arcf.chain import ChainSettings
from arcf.errors import InputError
from arcf.neighborhood import make_distance
from arcf.rankers import RankerSettings
from arcf.scorer import STOP, Prefix, ScorerSettings, dense_prior
from arcf.types import Dataset, Fact, Option, Question, digest_texts

DATASET = Dataset("d", tuple(Fact(f"u{n}", text) for n, text in enumerate(["ice is solid", "ice melts", "heat melts"])))
QUESTIONS = tuple(Question(f"q{n}", f"What melts ice {n}?", answer="heat") for n in range(5))
JOB = ExplanationJob(RankerSettings(model="any"), DATASET, QUESTIONS)

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.test_batch import JOB, InOrder
import arcf.rankers.registry
from arcf.batch import explain_to_file

class Killed(InOrder):
    def score(self, prefix, candidates):
        if "ice 3" in prefix.query:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(prefix, candidates)

arcf.rankers.registry.load_scorer = lambda *_: Killed()
explain_to_file(JOB, Path(sys.argv[1]))
"""


class InOrder:
    """Prefers facts in the order of the corpus, and counts what it is asked."""

    settings = ScorerSettings()

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.asked[prefix.query] += 1
        return np.where(candidates == STOP, -1.5, -candidates).astype(np.float32)


@pytest.fixture(autouse=True)
def scorer(monkeypatch: pytest.MonkeyPatch) -> InOrder:
    made = InOrder()
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: made)
    return made


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_is_an_explanation(tmp_path: Path) -> None:
    told: list[int] = []
    explain_to_file(replace(JOB, top_k=2), tmp_path / "out", lambda: told.append(1))
    record = json.loads((tmp_path / "out").read_text().splitlines()[0])
    assert (record["id"], record["question"], record["answer"]) == ("q0", "What melts ice 0?", "heat")
    assert [fact["uid"] for fact in record["facts"]] == ["u0", "u1"]
    assert len(record["ranking"]) == 2
    assert len(told) == len(ids(tmp_path / "out")) == 5


def test_goes_on_after_kill_9(tmp_path: Path, scorer: InOrder) -> None:
    path = tmp_path / "out"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, cwd=root)
    assert done.returncode == -signal.SIGKILL
    assert ids(path) == ["q0", "q1", "q2"]
    explain_to_file(JOB, path)
    assert ids(path) == [question.id for question in QUESTIONS]
    assert len(scorer.asked) == 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arcf.rankers.registry.load_scorer", lambda *_: InOrder())
        explain_to_file(JOB, path)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_goes_on_wherever_the_file_was_cut(tmp_path: Path, whole: bytes, data: st.DataObject) -> None:
    path = tmp_path / "out"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    explain_to_file(JOB, path)
    assert ids(path) == [question.id for question in QUESTIONS]


def test_what_is_done_is_not_done_again_and_questions_may_be_added(tmp_path: Path, scorer: InOrder) -> None:
    path = tmp_path / "out"
    explain_to_file(replace(JOB, questions=QUESTIONS[2:4]), path)
    before = path.read_bytes()
    scorer.asked.clear()
    told: list[int] = []
    explain_to_file(JOB, path, lambda: told.append(1))
    assert path.read_bytes().startswith(before)
    assert ids(path) == ["q2", "q3", "q0", "q1", "q4"]
    assert (len(scorer.asked), len(told)) == (3, 5)


def test_a_model_that_is_not_there_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InputError("does not exist.", "any")

    monkeypatch.setattr("arcf.rankers.registry.load_scorer", fail)
    with pytest.raises(InputError, match="any: does not exist"):
        explain_to_file(JOB, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_loaded_when_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explain_to_file(JOB, tmp_path / "out")

    def fail(*_: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr("arcf.batch.load_explainer", fail)
    explain_to_file(JOB, tmp_path / "out")
    assert list(replace(JOB, questions=()).records()) == []


@pytest.mark.parametrize(
    "other",
    [
        replace(JOB, top_k=1),
        replace(JOB, ranker=RankerSettings(model="other")),
        replace(JOB, ranker=RankerSettings(model="any", chain=ChainSettings(k=3))),
        replace(JOB, dataset=Dataset("d", (*DATASET.facts, Fact("new", "new")))),
        replace(JOB, dataset=Dataset("d", DATASET.facts, {"train": (Question("t", "Is ice solid?"),)})),
    ],
)
def test_another_job_is_refused(tmp_path: Path, other: ExplanationJob) -> None:
    path = tmp_path / "out"
    explain_to_file(JOB, path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="out:1: is an explanation of another model, other settings or other facts"):
        explain_to_file(other, path)
    assert path.read_bytes() == before


def test_the_facts_are_gone_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million facts, hashing them takes seconds."""
    gone: list[int] = []

    def noted(texts: Iterator[str]) -> str:
        gone.append(1)
        return digest_texts(texts)

    monkeypatch.setattr("arcf.types.digest_texts", noted)
    explain_to_file(replace(JOB, dataset=Dataset("d", DATASET.facts)), tmp_path / "out")
    assert len(gone) == 1


def test_vectors_that_were_made_meanwhile_make_another_job(
    tmp_path: Path, empty_cache: Path, tiny_graph: Path, scorer: InOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With them a dense prior ranks otherwise: no file has explanations of both kinds. What was begun can be ended."""
    assert not empty_cache.exists()
    wanted: list[bool | None] = []

    def noted(*given: Any) -> InOrder:
        wanted.append(given[-1])
        return scorer

    monkeypatch.setattr("arcf.rankers.registry.load_scorer", noted)
    monkeypatch.setattr(dense_prior, "MANY_FACTS", 3)
    (tmp_path / "model").mkdir()
    config = ScorerSettings(dense=8.0, untrained=str(tiny_graph)).to_config()
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    job = replace(JOB, ranker=RankerSettings(model=str(tmp_path / "model")))
    explain_to_file(replace(job, questions=QUESTIONS[:2]), tmp_path / "out")
    make_distance(DATASET, "embedding", str(tiny_graph))
    with pytest.raises(InputError, match="out:1: is an explanation of another model, other settings or other facts"):
        explain_to_file(job, tmp_path / "out")
    explain_to_file(replace(job, ranker=replace(job.ranker, vectors=False)), tmp_path / "out")
    explain_to_file(job, tmp_path / "new")
    assert len(ids(tmp_path / "out")) == len(ids(tmp_path / "new")) == 5
    assert wanted == [False, False, True]


def test_where_it_runs_makes_no_other_job() -> None:
    assert replace(JOB, ranker=RankerSettings(model="any", threads=1, device="cpu")).run() == JOB.run()
    assert replace(JOB, questions=QUESTIONS[:1]).run() == JOB.run()


@pytest.mark.parametrize("content", ["my notes\n", "my notes", '{"id": "q0"}\n', "[1]\n", "\n", '{"run": "other'])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "out"
    path.write_text(content)
    with pytest.raises(InputError, match="out:1: is no explanation as arcf explain writes it"):
        explain_to_file(JOB, path)
    assert path.read_text() == content


def test_another_question_of_the_same_id_is_refused(tmp_path: Path) -> None:
    explain_to_file(JOB, tmp_path / "out")
    for change in ({"stem": "What else?"}, {"answer": "fire"}, {"options": (Option("A", "heat"), Option("B", "ice"))}):
        changed = replace(JOB, questions=(QUESTIONS[0], replace(QUESTIONS[1], **change)))
        with pytest.raises(InputError, match="out:2: explains another question of the id 'q1'"):
            explained(tmp_path / "out", changed)


def test_options_are_part_of_the_question(tmp_path: Path) -> None:
    options = (Option("A", "heat"), Option("B", "ice"))
    job = replace(JOB, questions=[replace(question, options=options) for question in QUESTIONS])
    explain_to_file(job, tmp_path / "out")
    assert len(explained(tmp_path / "out", job)) == len(QUESTIONS)
    with pytest.raises(InputError, match="out:1: explains another question of the id 'q0'"):
        explained(tmp_path / "out", JOB)


@pytest.mark.parametrize("output", [".", "none/out", "/dev/full"])
def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path, output: str, scorer: InOrder) -> None:
    with pytest.raises(InputError, match=r"is a folder|there is no folder|is a device"):
        explain_to_file(JOB, tmp_path / output)
    assert not scorer.asked


def test_two_commands_do_not_write_one_file(tmp_path: Path) -> None:
    """The second one is refused for as long as the first is at work, and finds all done after that."""
    path, told = tmp_path / "out", list[int]()

    def second() -> None:
        told.append(1)
        with pytest.raises(InputError, match=r"out: is being written by another command; wait for it, or choose"):
            explain_to_file(JOB, path)

    explain_to_file(JOB, path, second)
    explain_to_file(JOB, path)
    assert ids(path) == [question.id for question in QUESTIONS]
    assert len(told) == 5


def test_a_job_can_be_done_in_parts_and_in_any_order(tmp_path: Path) -> None:
    """What comes of it is the same, but for the time that it took."""

    def elsewhere(job: ExplanationJob) -> Iterator[dict[str, Any]]:
        for question in reversed(job.questions):
            yield from replace(job, questions=[question]).records()

    path = tmp_path / "out"
    explain_to_file(replace(JOB, questions=QUESTIONS[1:3]), path)
    explain_to_file(JOB, path, work=elsewhere)
    assert ids(path) == ["q1", "q2", "q4", "q3", "q0"]
    found = {record["id"]: record for record in map(json.loads, path.read_text().splitlines())}
    for expected in JOB.records():
        assert json.dumps(found[expected["id"]] | {"seconds": 0}) == json.dumps(expected | {"seconds": 0})


@pytest.mark.parametrize(
    ("names", "complaint"), [(["q", ""], "no id"), (["q", "p", "q"], "2 questions have the id 'q'")]
)
def test_questions_that_ids_do_not_tell_apart(
    tmp_path: Path, scorer: InOrder, names: list[str], complaint: str
) -> None:
    job = replace(JOB, questions=[Question(name, f"What melts ice {n}?") for n, name in enumerate(names)])
    with pytest.raises(InputError, match=complaint):
        explain_to_file(job, tmp_path / "out")
    assert not scorer.asked
    assert not (tmp_path / "out").exists()
