from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import torch

from arcf.evaluation import mean_average_precision
from arcf.runs import Run, rank_questions
from arcf.training.figures import CHOICES, Figures
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import StepReport, Trainer
from arcf.training.validation import Validation, averaged
from arcf.types import Dataset, Question, Ranking

Make = Callable[..., Trainer]
Settings = Callable[..., TrainingSettings]
REPORT = StepReport(0.0, 1, 0.0, 0.0, 1.0)


class Lines:
    def __init__(self) -> None:
        self.lines: list[dict[str, float]] = []

    def write(self, **values: float) -> None:
        self.lines.append(values)


def validation(tmp_path: Path, lines: Lines, values: list[float], every: int = 10) -> Validation:
    return Validation(lambda: {"one": Figures(values.pop(0))}, CHOICES["map"], every, lines, tmp_path / "best")  # type: ignore[arg-type]


def positions(lines: Lines) -> list[float]:
    return [line["position"] for line in lines.lines]


def walk(trainer: Trainer, callback: Validation, steps: list[int]) -> None:
    for position in steps:
        trainer.progress.position = position
        trainer.progress.step += 1
        callback.after_step(trainer, REPORT)


def test_once_for_every_multiple_passed_and_at_the_end(trainer: Make, tmp_path: Path) -> None:
    made, lines = trainer(), Lines()
    callback = validation(tmp_path, lines, [0.1] * 9)
    walk(made, callback, [4, 9, 11, 15, 19, 33, 38])
    assert positions(lines) == [11, 33]
    callback.at_end(made)
    assert positions(lines) == [11, 33, 38]
    callback.at_end(made)
    assert positions(lines) == [11, 33, 38]


def test_the_first_step_may_pass_a_multiple(trainer: Make, tmp_path: Path) -> None:
    made, lines = trainer(), Lines()
    callback = validation(tmp_path, lines, [0.1] * 9)
    walk(made, callback, [12, 20])
    callback.at_end(made)
    assert positions(lines) == [12, 20]


@pytest.mark.parametrize("stopped", range(8))
def test_resuming_neither_skips_nor_repeats(stopped: int, trainer: Make, tmp_path: Path) -> None:
    made, lines = trainer(), Lines()
    steps = [4, 9, 11, 15, 19, 33, 38]
    values = [0.1] * 9
    walk(made, validation(tmp_path, lines, values), steps[:stopped])
    again = validation(tmp_path, lines, values)  # all that it knows is in the progress
    walk(made, again, steps[stopped:])
    again.at_end(made)
    assert positions(lines) == [11, 33, 38]


def test_the_best_is_kept(trainer: Make, tmp_path: Path) -> None:
    made, lines = trainer(), Lines()
    callback = validation(tmp_path, lines, [0.2, 0.5, 0.3, 0.5])
    saved = []
    for position in (10, 20, 30, 40):
        with torch.no_grad():
            made.backbone.head.bias.fill_(position)
        walk(made, callback, [position])
        saved.append((tmp_path / "best" / "model.safetensors").read_bytes())
    assert saved[0] != saved[1]
    assert saved[1] == saved[2] == saved[3]
    assert (made.progress.best_score, made.progress.best_position) == (0.5, 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best"]


@pytest.mark.parametrize(("choice", "best"), [("map", 10), ("map_and_unseen", 20)])
def test_what_weights_are_chosen_by(choice: str, best: int, trainer: Make, tmp_path: Path) -> None:
    """The mean over corpora, whatever their sizes; a corpus without unseen gold counts with what it has."""
    made, lines = trainer(), Lines()
    found = [
        {"a": Figures(0.6, unseen=0.1, new=0.9, new_unseen=0.8), "b": Figures(0.4)},
        {"a": Figures(0.4, unseen=0.5), "b": Figures(0.5)},
    ]
    callback = Validation(lambda: found.pop(0), CHOICES[choice], 10, lines, tmp_path / "best")  # type: ignore[arg-type]
    walk(made, callback, [10, 20])
    assert lines.lines[0] == {
        "step": 1,
        "position": 10,
        "validation_map": 0.5,
        "validation_map_a": 0.6,
        "validation_map_a_unseen": 0.1,
        "validation_map_a_new": 0.9,
        "validation_map_a_new_unseen": 0.8,
        "validation_map_b": 0.4,
    }
    progress = made.progress
    assert progress.best_position == best
    assert progress.best_map == pytest.approx(0.5 if best == 10 else 0.45)
    assert progress.best_score == pytest.approx(0.5 if best == 10 else (0.45 + 0.5) / 2)
    assert progress.best_maps["a_unseen"] == (0.1 if best == 10 else 0.5)


def test_the_average_is_measured_and_saved(trainer: Make, tmp_path: Path) -> None:
    made = trainer()
    made.average.add(made.backbone.model)
    mean = made.backbone.head.weight.detach().clone()
    with torch.no_grad():
        made.backbone.head.weight.add_(1.0)
    now = made.backbone.head.weight.detach().clone()
    seen = []
    callback = Validation(
        lambda: {"one": Figures(float(len(seen.append(made.backbone.head.weight.detach().clone()) or seen)))},
        CHOICES["map"],
        10,
        Lines(),  # type: ignore[arg-type]
        tmp_path / "best",
    )
    walk(made, callback, [10])
    assert torch.equal(seen[0], mean)
    assert torch.equal(made.backbone.head.weight, now)
    with pytest.raises(OSError, match="full"), averaged(made):
        raise OSError("full")
    assert torch.equal(made.backbone.head.weight, now)


class ById:
    def rank(self, question: Question) -> Ranking:
        facts = np.random.default_rng(len(question.id)).permutation(29)
        return Ranking(question.id, facts, -np.arange(29.0))


def measured(dataset: Dataset, questions: list[Question]) -> float:
    """As a run measures its held-out questions."""
    return mean_average_precision(Run.of("held-out", dataset, rank_questions(ById(), questions)), dataset, questions)


def test_map_is_that_of_ir_measures(dataset: Dataset) -> None:
    questions = [question for question in dataset.split("train") if question.gold]
    qrels = [
        ir_measures.Qrel(question.id, str(fact), 1) for question in questions for fact in dataset.gold_ids(question)
    ]
    run = [
        ir_measures.ScoredDoc(question.id, str(fact), score)
        for question in questions
        for fact, score in zip(*(lambda r: (r.facts, r.scores))(ById().rank(question)), strict=True)
    ]
    expected = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
    assert measured(dataset, questions) == pytest.approx(expected)
    assert measured(dataset, [question for question in dataset.split("train") if not question.gold]) == 0.0
