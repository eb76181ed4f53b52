"""Several runs as one."""

from collections import Counter

import numpy as np
import pytest

from arcf.errors import SettingError
from arcf.runs import Run, fuse_runs
from arcf.types import Dataset, Fact

DATASET = Dataset("d", (Fact("a", "ice"), Fact("b", "sun")))


def run(name: str, questions: str, best: str) -> Run:
    order = (best, "ab".replace(best, ""))
    names = questions.split()
    return Run(name, dict.fromkeys(names, order), dict.fromkeys(names, np.array([1.0, 0.0])))


def test_a_question_that_one_run_lacks_is_fused_from_the_others() -> None:
    fused = list(fuse_runs([run("one", "t", "a"), run("two", "t d", "b")], DATASET, (1.0, 0.0)))
    assert [(ranking.question_id, ranking.facts.tolist()) for ranking in fused] == [("t", [0, 1]), ("d", [1, 0])]


def test_facts_of_no_dataset_are_passed_over() -> None:
    odd = Run("odd", {"t": ("x", "b", "y", "a")}, {"t": np.array([4.0, 3.0, 2.0, 1.0])})
    (fused,) = fuse_runs([odd, odd], DATASET)
    assert fused.facts.tolist() == [1, 0]
    (alone,) = fuse_runs([Run("none", {"t": ("x",)}, {"t": np.array([1.0])})], DATASET)
    assert alone.facts.tolist() == []


def test_no_runs_and_weights_that_do_not_fit() -> None:
    assert list(fuse_runs([], DATASET)) == []
    with pytest.raises(SettingError, match="give 1 of them, not 2"):
        list(fuse_runs([run("one", "t", "a")], DATASET, (1.0, 0.0)))


def test_a_fact_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    class Ids(dict[str, int]):
        def get(self, uid: str, default: int = -1) -> int:  # type: ignore[override]
            asked[uid] += 1
            return super().get(uid, default)

    monkeypatch.setitem(DATASET.__dict__, "ids", Ids(a=0, b=1))
    list(fuse_runs([run("one", "t u v", "a"), run("two", "t u v", "b")], DATASET))
    assert asked == {"a": 1, "b": 1}
