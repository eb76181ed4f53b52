"""Weights for fusing runs, chosen where nothing is evaluated: on held-out training questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arcf.errors import InputError, SettingError
from arcf.evaluation.judgement import mean_average_precision
from arcf.runs.fusion import fuse_rankings, rankings_of
from arcf.runs.run import Run
from arcf.types import Dataset

#: Weights are tried in steps of a tenth.
STEPS = 10


@dataclass(frozen=True, slots=True)
class ChosenWeights:
    """The weights that add up to 1 and gave the best MAP, and that MAP, over so many questions."""

    weights: tuple[float, ...]
    map: float
    questions: int


def choose_weights(runs: Sequence[Run], dataset: Dataset, method: str = "scores") -> ChosenWeights:
    """Try all weights in steps; of equally good ones, the most even are taken.

    `runs` rank training questions that no fused system has learnt from. That they are training questions is checked,
    since weights that are chosen on the questions which are evaluated flatter the result.

    Raises:
        SettingError: there are fewer than two runs.
        InputError: a run has questions of another split, or none with gold facts that all runs have.
    """
    if len(runs) < 2:
        raise SettingError("Weights are chosen between runs: give at least two.")
    known = {question.id: question for question in dataset.training}
    for run in runs:
        if others := [name for name in run.rankings if name not in known]:
            raise InputError(
                f"The run '{run.name}' has '{others[0]}', which is no training question of {dataset.name}; weights are "
                "chosen on held-out training questions only."
            )
    shared = [name for name in runs[0].rankings if all(name in run.rankings for run in runs)]
    questions = [known[name] for name in shared if known[name].gold]
    if not questions:
        raise InputError("The held-out runs share no question with gold facts; rank the same ones with each system.")
    cut = [Run(run.name, {q.id: run.rankings[q.id] for q in questions}, run.scores) for run in runs]
    rankings, tried = list(rankings_of(cut, dataset, method)), []
    for weights in sorted(_grid(len(runs)), key=lambda row: sum(weight**2 for weight in row)):
        fused = Run.of("fused", dataset, (fuse_rankings(own, weights, method) for own in rankings))
        tried.append((mean_average_precision(fused, dataset, questions), weights))
    best, weights = max(tried, key=lambda entry: entry[0])
    return ChosenWeights(weights, best, len(questions))


def _grid(members: int, left: int = STEPS) -> Iterator[tuple[float, ...]]:
    """All ways to give `left` steps to the members."""
    if members == 1:
        yield (left / STEPS,)
        return
    for first in range(left + 1):
        for rest in _grid(members - 1, left - first):
            yield (first / STEPS, *rest)
