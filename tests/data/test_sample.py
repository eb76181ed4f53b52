"""A fixed sample of questions, and what it must not change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load
from arcf.data.sample import sample_questions, sampled
from arcf.errors import SettingError
from arcf.neighborhood import make_distance
from arcf.rankers.parcel import Parcel
from arcf.rankers.settings import RankerSettings
from arcf.runs import read_run
from arcf.types import Dataset

Arcf = Callable[..., int]
EMPTY = Dataset("empty", ())


def test_a_sample_is_fixed_in_order_and_part_of_larger_ones() -> None:
    questions = load().split("train")
    small, large = (sample_questions(questions, count) for count in (5, 12))
    assert len(small) == 5
    assert set(small) < set(large)
    assert [question for question in questions if question in small] == list(small)
    assert sample_questions(questions, 10_000) == questions
    assert sampled(EMPTY, "dev", None) is EMPTY
    assert len(sampled(load(), "dev", 3).split("dev")) == 3
    with pytest.raises(SettingError, match="at least 1"):
        sampled(load(), "dev", 0)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_what_is_learnt_from_stays_whole(split: str) -> None:
    whole = load()
    narrowed = sampled(sampled(whole, split, 9), split, 3)
    assert len(narrowed.split(split)) == 3
    travelled = Parcel.of(RankerSettings("tfidf"), narrowed).open()[1]
    for dataset in (narrowed, travelled):
        assert dataset.training == whole.training == whole.split("train")
        for distance in ("tfidf", "bm25"):
            found, expected = (make_distance(one, distance).distances("ice melts") for one in (dataset, whole))
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("ranker", ["tfidf", "bm25-iterated"])
@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_question_is_ranked_the_same_in_a_sample(arcf: Arcf, tmp_path: Path, ranker: str, split: str) -> None:
    rank = ("rank", "--ranker", ranker, "--split", split, "--format", "json", "--top-k", 50, "--output")
    assert arcf(*rank, tmp_path / "whole") == 0
    assert arcf(*rank, tmp_path / "few", "--questions", 4) == 0
    whole, few = read_run(tmp_path / "whole"), read_run(tmp_path / "few")
    assert len(few.rankings) == 4
    for question in few.rankings:
        assert few.rankings[question] == whole.rankings[question]
        assert list(few.scores[question]) == list(whole.scores[question])
