"""Runs that are killed and go on."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arcf.errors import InputError
from arcf.runs import journal
from arcf.runs.journal import Journal, fingerprint
from arcf.runs.ranking import rank_questions
from arcf.types import Chosen, Dataset, Fact, Gold, Option, Question, Ranking

QUESTIONS = [Question(f"q{number}", f"question {number}") for number in range(5)]
SETTINGS = {"model": "m", "k": 3}

KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from arcf.runs.journal import Journal
from arcf.runs.ranking import rank_questions
from arcf.types import Question, Ranking

class Killed:
    def rank(self, question):
        if question.id == "q3":
            os.kill(os.getpid(), signal.SIGKILL)
        return Ranking(question.id, np.arange(4), np.array([1.5, 0.1, 1 / 3, -2.0]) + int(question.id[1]))

questions = [Question(f"q{number}", f"question {number}") for number in range(5)]
for _ in rank_questions(Killed(), questions, journal=Journal(Path(sys.argv[1]), {"model": "m", "k": 3})):
    pass
"""


class Counting:
    """A ranker that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rank(self, question: Question) -> Ranking:
        self.asked.append(question.id)
        return Ranking(question.id, np.arange(4), np.array([1.5, 0.1, 1 / 3, -2.0]) + int(question.id[1]))


def run(
    path: Path, settings: dict[str, object] | None = None, limit: int | None = None
) -> tuple[list[str], list[Ranking]]:
    ranker, found = Counting(), []
    rankings = rank_questions(ranker, QUESTIONS, journal=Journal(path, settings or SETTINGS))
    for ranking in rankings:
        found.append(ranking)
        if len(found) == limit:
            rankings.close()
    return ranker.asked, found


def same(first: list[Ranking], second: list[Ranking]) -> bool:
    return len(first) == len(second) and all(
        one.question_id == other.question_id
        and np.array_equal(one.facts, other.facts)
        and np.array_equal(one.scores, other.scores)
        for one, other in zip(first, second, strict=True)
    )


def test_goes_on_after_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "run.partial"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    asked, found = run(path)
    assert asked == ["q3", "q4"]
    assert same(found, run(tmp_path / "other")[1])
    assert run(path)[0] == []


@pytest.mark.parametrize("ending", [b'{"question":"q2","fa', b'{"question":"q2"}\n', b"\xff\n", b'{"question":"q4"'])
def test_a_half_written_line_is_passed_over(tmp_path: Path, ending: bytes) -> None:
    path = tmp_path / "run.partial"
    run(path, limit=2)
    path.write_bytes(path.read_bytes() + ending)
    asked, found = run(path)
    assert asked == ["q2", "q3", "q4"]
    assert same(found, run(tmp_path / "other")[1])
    assert run(path)[0] == []


def test_lines_may_come_in_any_order_and_from_several_writers(tmp_path: Path) -> None:
    path = tmp_path / "run.partial"
    ranker = Counting()
    with Journal(path, SETTINGS) as one, Journal(path, SETTINGS) as other:
        for writer, number in ((one, 4), (other, 1), (one, 2)):
            writer.add(ranker.rank(QUESTIONS[number]))
        assert one.get(QUESTIONS[2]) is not None
    asked, found = run(path)
    assert asked == ["q0", "q3"]
    assert same(found, run(tmp_path / "other")[1])


def test_somebody_else_writes_at_the_same_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = (Counting().rank(question) for question in QUESTIONS[:2])
    line = journal._line

    def interrupted(ranking: Ranking) -> bytes:
        monkeypatch.setattr(journal, "_line", line)
        with Journal(tmp_path / "journal", SETTINGS) as other:
            other.add(theirs)
        return line(ranking)

    with Journal(tmp_path / "journal", SETTINGS) as kept:
        monkeypatch.setattr(journal, "_line", interrupted)
        kept.add(mine)
        assert kept.get(QUESTIONS[0]).question_id == "q0"


def test_a_ranking_that_is_gone_is_not_left_out(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path, SETTINGS) as kept:
        for question in QUESTIONS[:2]:
            kept.add(Counting().rank(question))
        path.write_text("something else\n" * 9)
        for question in QUESTIONS[:2]:
            with pytest.raises(InputError, match=rf"journal: was changed while it was used: '{question.id}' is gone"):
                kept.get(question)


def test_chains_are_kept(tmp_path: Path) -> None:
    chain = replace(Counting().rank(QUESTIONS[0]), chosen=Chosen((2, 1), True, (0.5, 0.25)))
    for _ in range(2):
        with Journal(tmp_path / "run.partial", SETTINGS) as journal:
            if QUESTIONS[0] not in journal:
                journal.add(chain)
            found = journal.get(QUESTIONS[0])
            assert found is not None
            assert found.chosen == chain.chosen


def test_rankings_are_cut_before_they_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.partial", SETTINGS)
    found = [list(rank_questions(Counting(), QUESTIONS, 2, journal)) for _ in range(2)]
    assert {len(ranking.facts) for rankings in found for ranking in rankings} == {2}
    assert same(*found)


@pytest.mark.parametrize("cut", [b"", b'{"form', b'{"format": "arcf-journal", "settings": {"model": "oth'])
def test_a_half_written_first_line_is_nothing(tmp_path: Path, cut: bytes) -> None:
    (tmp_path / "run.partial").write_bytes(cut)
    assert len(run(tmp_path / "run.partial")[0]) == 5


def test_other_settings_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "run.partial"
    run(path, limit=2)
    content = path.read_bytes()
    with pytest.raises(InputError, match=r"run\.partial: holds rankings of an unfinished run with another k, top;"):
        run(path, {"model": "m", "k": 4, "top": 1})
    assert path.read_bytes() == content


@pytest.mark.parametrize("notes", ["my notes\n", "my notes", "\n", '{"format": "mine'])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, notes: str) -> None:
    (tmp_path / "run.partial").write_text(notes)
    with pytest.raises(InputError, match=r"partial: is no journal of arcf; move it away, or choose another output\."):
        run(tmp_path / "run.partial")
    assert (tmp_path / "run.partial").read_text() == notes


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        run(tmp_path / "nowhere" / "run.partial")


def test_nothing_is_written_before_it_is_needed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.partial", SETTINGS)
    rankings = rank_questions(Counting(), QUESTIONS, journal=journal)
    assert not journal.path.exists()
    next(rankings)
    assert journal.path.exists()
    journal.remove()
    journal.remove()


def test_progress_is_told_after_each_question() -> None:
    told: list[int] = []
    list(rank_questions(Counting(), QUESTIONS, progress=lambda: told.append(1)))
    assert len(told) == len(QUESTIONS)


def test_the_fingerprint_tells_corpora_and_questions_apart() -> None:
    facts = Dataset("a", (Fact("1", "ice"), Fact("2", "heat"))), Dataset("a", (Fact("1", "ice"), Fact("2", "cold")))
    first, second = (fingerprint(dataset, QUESTIONS) for dataset in facts)
    assert first["facts"] != second["facts"]
    assert first["questions"] == second["questions"] != fingerprint(facts[0], QUESTIONS[::-1])["questions"]
    learnt = replace(facts[0], splits={"train": QUESTIONS})
    assert fingerprint(learnt, QUESTIONS) == first | {"training": fingerprint(learnt, ())["training"]} != first
    explained = tuple(replace(question, gold=(Gold("a"),)) for question in QUESTIONS)
    as_precedents = replace(learnt, splits={"train": explained})
    assert fingerprint(as_precedents, QUESTIONS)["training"] != fingerprint(learnt, QUESTIONS)["training"]
    assert fingerprint(learnt, explained) == fingerprint(learnt, QUESTIONS)


def test_the_fingerprint_tells_options_and_cores_apart() -> None:
    options = tuple(replace(question, options=(Option("A", "ice"), Option("B", "heat"))) for question in QUESTIONS)
    plain = Dataset("a", (Fact("1", "ice is a solid"),), {"train": tuple(QUESTIONS)})
    with_core = replace(plain, facts=(Fact("1", "ice is a solid", core="ice solid"),))
    with_options = replace(plain, splits={"train": options})
    first = fingerprint(plain, QUESTIONS)
    assert fingerprint(plain, options)["questions"] != first["questions"]
    assert fingerprint(with_core, QUESTIONS)["facts"] != first["facts"]
    assert fingerprint(with_options, QUESTIONS)["training"] != first["training"]
