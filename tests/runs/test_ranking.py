"""Many questions side by side: the same rankings in the same order, whoever works on them and however long."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier, Event, get_ident

import numpy as np
import pytest

from arcf.data import load
from arcf.errors import InputError
from arcf.neighborhood import make_distance
from arcf.rankers import RankerSettings
from arcf.runs import RankingJob, rank_questions, rank_to_file, ranking
from arcf.runs.journal import Journal
from arcf.scorer import ScorerSettings, dense_prior
from arcf.types import Question, Ranking

QUESTIONS = [Question(f"q{number}", "") for number in range(9)]
IDS = [question.id for question in QUESTIONS]
PATIENCE = 30
"""Seconds after which a test fails that waits for a thread."""


@dataclass
class Meeting:
    """A ranker that only answers when three questions are asked at a time."""

    barrier: Barrier = field(default_factory=lambda: Barrier(3))
    threads: set[int] = field(default_factory=set)

    def rank(self, question: Question) -> Ranking:
        self.barrier.wait(PATIENCE)
        self.threads.add(get_ident())
        return Ranking(question.id, np.arange(3), np.arange(3.0))


class FirstLast:
    """A ranker that answers the first question after all others that may be begun."""

    def __init__(self, others: int) -> None:
        self.left = others
        self.done = Event()

    def rank(self, question: Question) -> Ranking:
        if question.id == "q0":
            assert self.done.wait(PATIENCE)
        else:
            self.left -= 1
            if not self.left:
                self.done.set()
        return Ranking(question.id, np.arange(1), np.zeros(1))


def ids(rankings: Iterable[Ranking]) -> list[str]:
    return [one.question_id for one in rankings]


def test_as_many_as_wanted_are_ranked_at_a_time() -> None:
    ranker = Meeting()
    assert ids(rank_questions(ranker, QUESTIONS, at_once=3)) == IDS
    assert len(ranker.threads) == 3


def test_a_slow_question_keeps_its_place_and_holds_nobody_up() -> None:
    others = 2 * ranking.BEGUN
    assert ids(rank_questions(FirstLast(others), QUESTIONS, at_once=2)) == IDS


def test_no_question_and_one() -> None:
    assert list(rank_questions(Meeting(), [], at_once=3)) == []
    assert ids(rank_questions(FirstLast(0), QUESTIONS[1:2], at_once=3)) == ["q1"]


def test_what_a_journal_holds_is_not_ranked_again(tmp_path: Path) -> None:
    def journal() -> Journal:
        return Journal(tmp_path / "partial", {})

    first = rank_questions(Meeting(), QUESTIONS, journal=journal(), at_once=3)
    for _ in range(4):
        next(first)
    first.close()
    told: list[int] = []
    rest = rank_questions(FirstLast(0), QUESTIONS[1:], None, journal(), lambda: told.append(1), 2)
    assert ids(rest) == IDS[1:]
    assert len(told) == 8
    lines = (tmp_path / "partial").read_text(encoding="utf-8").splitlines()[1:]
    assert [json.loads(line)["question"] for line in lines] == IDS


def test_questions_of_the_same_id_stay_apart(tmp_path: Path) -> None:
    twice = [QUESTIONS[0], QUESTIONS[0], QUESTIONS[1]]
    rankings = rank_questions(Short(), twice, journal=Journal(tmp_path / "partial", {}), at_once=2)
    assert ids(rankings) == ["q0", "q0", "q1"]


class Short:
    def rank(self, question: Question) -> Ranking:
        if question.stem:
            raise InputError("cannot be ranked.", question.id)
        return Ranking(question.id, np.arange(1), np.zeros(1))


def test_an_error_comes_when_its_question_does() -> None:
    rankings = rank_questions(Short(), [*QUESTIONS[:2], Question("wrong", "!"), *QUESTIONS[2:]], at_once=2)
    assert ids([next(rankings), next(rankings)]) == ["q0", "q1"]
    with pytest.raises(InputError, match="wrong"):
        next(rankings)


def test_a_file_is_the_same_whatever_the_number_of_threads(tmp_path: Path) -> None:
    dataset = load()
    files = []
    for threads in (1, 2):
        job = RankingJob(RankerSettings(threads=threads), dataset, dataset.split("dev")[:3])
        assert ranking.threads_of(job.ranker) == threads
        rank_to_file(job, tmp_path / "run", "json")
        files.append((tmp_path / "run").read_bytes())
    assert files[0] == files[1]


def test_vectors_that_were_made_meanwhile_are_other_settings(
    tmp_path: Path, empty_cache: Path, tiny_graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not empty_cache.exists()
    dataset = load()
    monkeypatch.setattr(dense_prior, "MANY_FACTS", len(dataset.facts))
    (tmp_path / "model").mkdir()
    config = ScorerSettings(dense=8.0, untrained=str(tiny_graph)).to_config()
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    job = RankingJob(RankerSettings(model=str(tmp_path / "model")), dataset, dataset.split("dev"))
    with job.journal(tmp_path / "run"):
        pass
    make_distance(dataset, "embedding", str(tiny_graph))
    with pytest.raises(InputError, match="an unfinished run with another ranker"), job.journal(tmp_path / "run"):
        pass
    with replace(job, ranker=replace(job.ranker, vectors=False)).journal(tmp_path / "run"):
        pass


def test_torch_ranks_one_question_at_a_time(made_up_model: Path) -> None:
    assert ranking.threads_of(RankerSettings(model=str(made_up_model), threads=4)) == 1
    assert ranking.threads_of(RankerSettings(model="a-model/of-the-hub", threads=4)) == 1
