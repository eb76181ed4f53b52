import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arcf.chain import ChainSettings
from arcf.errors import InputError
from arcf.evaluation.observation import Kept, draw, foreign, held_out, observe, observe_all
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.rankers import Autoregressive
from arcf.scorer.base import STOP, Prefix
from arcf.types import Dataset, Fact, Gold, Question

FACTS = tuple(Fact(uid, f"ice {uid}") for uid in "abcde")


class InOrder:
    """Scores facts by their id, and stopping like the third."""

    calls = 0

    def score(self, prefix: Prefix, candidates: np.ndarray) -> np.ndarray:
        del prefix
        self.calls += 1
        return np.where(candidates == STOP, -2, -candidates).astype(np.float32)


def dataset(name: str = "ice") -> Dataset:
    questions = [Question(f"q{number}", "ice", gold=(Gold("b"),) if number % 2 else ()) for number in range(20)]
    return Dataset(name, FACTS, {"train": tuple(questions)})


def ranker(max_facts: int = 4) -> Autoregressive:
    near = Neighborhood(FACTS, DISTANCES["overlap"].build(FACTS, ()))
    return Autoregressive(InOrder(), near, ChainSettings(max_facts=max_facts))


def test_a_chain_is_observed_beyond_its_end() -> None:
    found = observe(ranker(), dataset(), dataset().split("train")[1])
    assert [step.right for step in found.steps] == [False, True, False, False]
    assert [step.stop_wins for step in found.steps] == [False, False, True, True]
    assert found.gold == 1
    assert found.steps[0].evidence.first == 1.0


def test_of_a_question_that_cannot_be_explained_the_first_fact_is_enough() -> None:
    assert [step.right for step in observe(ranker(), dataset(), dataset().split("train")[0]).steps] == [False]


def test_nothing_visible() -> None:
    assert observe(ranker(), dataset(), Question("q", "zebra", gold=(Gold("a"),))).steps == ()


def test_questions_are_drawn_with_gold_in_order_and_fewer_are_among_more() -> None:
    few, more = draw(dataset(), "train", 3), draw(dataset(), "train", 6)
    assert (len(few), len(more), len(draw(dataset(), "train", 99))) == (3, 6, 10)
    assert all(question.gold for question in more)
    assert [one for one in more if one in few] == list(few)


def test_foreign_questions_name_where_they_are_from() -> None:
    asked = foreign(dataset("rain"), dataset(), "train", 2)
    assert [question.id.partition(":")[0] for question in asked] == ["ice", "ice"]
    assert not any(question.gold for question in asked)
    assert foreign(dataset(), dataset(), "train", 2) == ()
    unexplained = Dataset("tea", (), {"train": (Question("q", "What is tea?"),)})
    assert [question.id for question in foreign(dataset(), unexplained, "train", 2)] == ["tea:q"]


def test_kept_observations_are_not_made_again(tmp_path: Path) -> None:
    kept, asked = Kept(tmp_path / "chains.jsonl", "some/model"), draw(dataset(), "train", 4)
    first = list(observe_all(ranker(), dataset(), asked[:2], kept))
    kept.path.write_text(kept.path.read_text() + '{"cut": ')  # by a kill
    again = ranker()
    found = list(observe_all(again, dataset(), asked, kept))
    assert found[:2] == first
    assert again.search.scorer.calls == 2 * 4  # type: ignore[attr-defined]
    marks = kept.marks(ranker(), dataset(), asked)
    assert kept.read(marks) == dict(zip(marks, found, strict=True))


def test_observations_of_another_model_or_other_facts_do_not_count(tmp_path: Path) -> None:
    kept, asked = Kept(tmp_path / "chains.jsonl", "some/model"), draw(dataset(), "train", 2)
    first = list(observe_all(ranker(), dataset(), asked, kept))
    changed = replace(dataset(), facts=(*FACTS, Fact("f", "ice f")))
    for other, corpus in ((replace(kept, model="another/model"), dataset()), (kept, changed)):
        again = ranker()
        list(observe_all(again, corpus, asked, other))
        assert again.search.scorer.calls > 0  # type: ignore[attr-defined]
    assert list(kept.read(kept.marks(ranker(), dataset(), asked)).values()) == first
    assert len(kept.path.read_text().splitlines()) == 6


def test_observations_of_what_was_asked_otherwise_do_not_count(tmp_path: Path) -> None:
    kept, (question,) = Kept(tmp_path / "chains.jsonl", "some/model"), draw(dataset(), "train", 1)
    list(observe_all(ranker(), dataset(), [question], kept))
    stem_alone = ranker()
    stem_alone.search.query = "stem"
    for again, asked in (
        (ranker(), replace(question, stem="ice?")),
        (ranker(), replace(question, gold=(Gold("c"),))),
        (ranker(max_facts=3), question),
        (stem_alone, question),
    ):
        list(observe_all(again, dataset(), [asked], kept))
        assert again.search.scorer.calls > 0  # type: ignore[attr-defined]


def test_what_a_model_held_out(tmp_path: Path) -> None:
    assert held_out(tmp_path, dataset(), "train") is None
    learnt = [{"name": "ice", "split": "train", "held_out": 7}, {"name": "rain", "split": "train", "held_out": 0}]
    (tmp_path / "training.json").write_text(json.dumps({"data": learnt}))
    assert held_out(tmp_path, dataset(), "train") == 7
    assert held_out(tmp_path, dataset("rain"), "train") == 0
    assert held_out(tmp_path, dataset(), "dev") is held_out(tmp_path, dataset("snow"), "train") is None


def test_another_file(tmp_path: Path) -> None:
    path = tmp_path / "else.jsonl"
    path.write_text(json.dumps({"uid": "a"}) + "\n")
    with pytest.raises(InputError, match="something else than observed chains"):
        Kept(path, "some/model").read(["mark"])
