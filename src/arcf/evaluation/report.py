"""The evaluation of one run: MAP by three rules, measures at cutoffs, and where the score comes from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from arcf.evaluation.breakdown import FactGroups, Group, by_difficulty, by_fact, by_gold_size, by_role, by_training
from arcf.evaluation.chains import ChainCalibration, ChainQuality, chain_calibration, chain_quality
from arcf.evaluation.judgement import Judgement, judge
from arcf.evaluation.measures import ndcg, precision, recall
from arcf.runs.run import Run
from arcf.types import TRAINING_SPLIT, Dataset, Question

CUTOFFS = (1, 5, 10, 20)

# Adding a breakdown is one line here.
BREAKDOWNS: dict[str, Callable[[Sequence[Judgement]], tuple[Group, ...]]] = {
    "role": by_role,
    "difficulty": by_difficulty,
    "gold_facts": by_gold_size,
}


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One question's part in the evaluation.

    `gold` is the number of different gold facts, `found` how many of them are ranked, `first` the rank of the best
    one. `official` tells whether the question counts for the official figure, `predicted` whether the run has it.
    """

    id: str
    official: bool
    predicted: bool
    gold: int
    found: int
    first: int | None
    average_precision: float
    ndcg: float


@dataclass(frozen=True)
class Evaluation:
    """How good a run is on a split. Unless said otherwise, a mean over all questions with gold.

    `map_official` is the official scorer's of 2020, over the questions that it counts, and None where there are none:
    only WorldTree's questions carry the flags that it goes by. `map_2019` is the rule of 2019: a gold fact that is
    not ranked zeroes its question, and questions that the run lacks are left out. `chains` is about what the rankings
    were made from, where the run holds it, and `calibration` about how sure they are of their facts.
    """

    run: str
    dataset: str
    split: str
    map_official: float | None
    map_all: float
    map_2019: float | None
    questions_official: int
    questions_all: int
    questions_2019: int
    ndcg: float
    precision: Mapping[int, float]
    recall: Mapping[int, float]
    breakdowns: Mapping[str, tuple[Group, ...]]
    chains: ChainQuality | None
    calibration: ChainCalibration | None
    questions: tuple[QuestionScore, ...] = field(repr=False)

    def to_dict(self, per_question: bool = False) -> dict[str, Any]:
        """Plain values for JSON; the scores of the single questions on request."""
        record = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "questions"}
        record["precision"] = {str(cutoff): value for cutoff, value in self.precision.items()}
        record["recall"] = {str(cutoff): value for cutoff, value in self.recall.items()}
        record["breakdowns"] = {name: [group.to_dict() for group in groups] for name, groups in self.breakdowns.items()}
        for name in ("chains", "calibration"):
            record[name] = None if record[name] is None else asdict(record[name])
        if per_question:
            record["per_question"] = [asdict(question) for question in self.questions]
        return record


def evaluate(run: Run, dataset: Dataset, split: str, fact_groups: Mapping[str, FactGroups] | None = None) -> Evaluation:
    """Score a run against the gold of a split; `fact_groups` adds breakdowns of the gold by title.

    Where the dataset has a training split with gold, and another is scored, one breakdown is by whether a training
    explanation uses the fact.

    Raises:
        UnknownNameError: the dataset has no such split.
        InputError: the split has no gold, or the run no question of the split.
    """
    judgements = judge(run, dataset, split)
    official = [judgement.average_precision for judgement in judgements if judgement.official]
    by_2019 = [judgement.average_precision_2019 for judgement in judgements if judgement.ranks_2019 is not None]
    questions = tuple(_question_score(judgement) for judgement in judgements)
    return Evaluation(
        run=run.name,
        dataset=dataset.name,
        split=split,
        map_official=_mean(official) if official else None,
        map_all=_mean([question.average_precision for question in questions]),
        map_2019=_mean(by_2019) if by_2019 else None,
        questions_official=len(official),
        questions_all=len(judgements),
        questions_2019=len(by_2019),
        ndcg=_mean([question.ndcg for question in questions]),
        precision={k: _mean([precision(j.ranks.values(), k) for j in judgements]) for k in CUTOFFS},
        recall={k: _mean([recall(j.ranks.values(), j.gold_size, k) for j in judgements]) for k in CUTOFFS},
        breakdowns=breakdowns_of(judgements, dataset, split, fact_groups or {}),
        chains=chain_quality(run, judgements),
        calibration=chain_calibration(run, judgements),
        questions=questions,
    )


def breakdowns_of(
    judgements: Sequence[Judgement], dataset: Dataset, split: str, fact_groups: Mapping[str, FactGroups]
) -> dict[str, tuple[Group, ...]]:
    """All breakdowns of a judged run, by their titles; see `evaluate`."""
    made = {title: breakdown(judgements) for title, breakdown in BREAKDOWNS.items()}
    if learnt := _learnt(dataset, split):
        made["in_training"] = by_training(judgements, learnt)
    return made | {title: by_fact(judgements, groups.names, groups.group) for title, groups in fact_groups.items()}


def _learnt(dataset: Dataset, split: str) -> tuple[Question, ...]:
    """The questions with gold that a ranker may have learnt from: none where they are what is scored."""
    questions = dataset.training if split != TRAINING_SPLIT else ()
    return tuple(question for question in questions if question.gold)


def _question_score(judgement: Judgement) -> QuestionScore:
    ranks = judgement.ranks.values()
    return QuestionScore(
        id=judgement.question.id,
        official=judgement.official,
        predicted=judgement.predicted,
        gold=judgement.gold_size,
        found=len(ranks),
        first=min(ranks, default=None),
        average_precision=judgement.average_precision,
        ndcg=ndcg(ranks, judgement.gold_size),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
