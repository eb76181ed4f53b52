"""A fixed sample of questions: the same ones whenever and wherever it is drawn."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arcf.errors import SettingError
from arcf.types import Dataset, Question


def sample_questions(questions: Sequence[Question], count: int) -> tuple[Question, ...]:
    """`count` of the questions, in their own order; all of them if there are no more.

    A smaller sample is part of every larger one. Of the training questions with gold facts, it is what training holds
    out.
    """
    order = np.random.default_rng(0).permutation(len(questions)).tolist()
    return tuple(questions[number] for number in sorted(order[:count]))


def sampled(dataset: Dataset, split: str, count: int | None) -> Dataset:
    """The dataset with a fixed sample of one split's questions with gold facts; as it is, if no number is given.

    Where no question has gold facts, all are drawn from. Distances learn from the same questions as before.

    Raises:
        SettingError: the number is not positive.
        UnknownNameError: the dataset has no such split.
    """
    if count is None:
        return dataset
    if count < 1:
        raise SettingError(f"A sample has at least 1 question, not {count}.")
    questions = dataset.split(split)
    judged = [question for question in questions if dataset.gold_ids(question)]
    splits = {**dataset.splits, split: sample_questions(judged or questions, count)}
    return replace(dataset, splits=splits, whole_training=dataset.training)
