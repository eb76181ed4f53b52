"""Weights of fused runs, chosen on training questions."""

import numpy as np
import pytest

from arcf.errors import InputError, SettingError
from arcf.evaluation.weights import choose_weights
from arcf.runs import Run
from arcf.types import Dataset, Fact, Gold, Question

DATASET = Dataset(
    "d",
    (Fact("a", "ice"), Fact("b", "sun")),
    {"train": (Question("t", "What?", gold=(Gold("b"),)), Question("bare", "What?")), "dev": (Question("d", "Who?"),)},
)


def run(name: str, questions: str, best: str) -> Run:
    order = (best, "ab".replace(best, ""))
    names = questions.split()
    return Run(name, dict.fromkeys(names, order), dict.fromkeys(names, np.array([1.0, 0.0])))


def test_the_better_run_gets_the_weight_and_equals_share_it() -> None:
    chosen = choose_weights([run("wrong", "t", "a"), run("right", "t bare", "b")], DATASET)
    assert chosen.weights[1] > 0.5
    assert (chosen.map, chosen.questions) == (1.0, 1)
    assert choose_weights([run("one", "t", "b"), run("two", "t", "b")], DATASET).weights == (0.5, 0.5)


def test_weights_need_two_runs_and_a_question_of_both() -> None:
    with pytest.raises(SettingError, match="at least two"):
        choose_weights([run("one", "t", "a")], DATASET)
    with pytest.raises(InputError, match="share no question"):
        choose_weights([run("one", "t", "a"), run("two", "bare", "a")], DATASET)
