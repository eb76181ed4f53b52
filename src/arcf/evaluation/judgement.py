"""Judging a run: finding the gold facts of every question of a split in the run's ranking.

As the official scorer of 2020 does, question ids and uids are compared in lower case. That of 2019 wants the ids of
questions as they are in the dataset.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from arcf.errors import ArcfWarning, InputError
from arcf.evaluation.measures import average_precision, gold_ranks
from arcf.runs.run import Run
from arcf.types import Dataset, Question

# What the official scorer of 2020 wants to read in the annotators' remark, and nothing else.
OFFICIAL_FLAGS = frozenset({"success", "ready"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """A question with gold, and the ranks of its gold facts in a run, best first.

    `gold` is the list as annotated, in lower case: a uid annotated twice is in it twice. `predicted` tells whether
    the run ranks anything for the question. `ranks_2019` are those under the id in the dataset's own letter case, None
    if the run ranks nothing under it.
    """

    question: Question
    gold: tuple[str, ...]
    ranks: Mapping[str, int]
    predicted: bool
    ranks_2019: Mapping[str, int] | None

    @property
    def official(self) -> bool:
        """Whether the official scorer of 2020 counts the question."""
        return self.question.flags.lower() in OFFICIAL_FLAGS

    @property
    def gold_size(self) -> int:
        """G, the number of different gold facts."""
        return len(set(self.gold))

    @property
    def average_precision(self) -> float:
        """AP by the rule of 2020: divided by the length of the gold list, repetitions included."""
        return average_precision(self.ranks.values(), len(self.gold))

    @property
    def average_precision_2019(self) -> float:
        """AP by the rule of 2019: 0 unless every gold fact is ranked."""
        ranks = self.ranks_2019 or {}
        return average_precision(ranks.values(), self.gold_size) if len(ranks) == self.gold_size else 0.0


def judge(run: Run, dataset: Dataset, split: str) -> tuple[Judgement, ...]:
    """One judgement for every question of the split that has gold, in the split's order.

    Warns about question ids and uids of the run that match nothing, and about questions that the run lacks.

    Raises:
        UnknownNameError: the dataset has no such split.
        InputError: the split has no gold, or the run no question of the split.
    """
    if not any(question.gold for question in dataset.split(split)):
        choice = ", ".join(sorted(name for name, content in dataset.splits.items() if any(q.gold for q in content)))
        advice = f"; choose one of: {choice}" if choice else ""
        raise InputError(f"The split '{split}' of {dataset.name} has no gold facts, so nothing can be scored{advice}.")
    return judge_questions(run, dataset, dataset.split(split), f"the split '{split}' of {dataset.name}")


def judge_questions(run: Run, dataset: Dataset, questions: Sequence[Question], where: str) -> tuple[Judgement, ...]:
    """One judgement for each of the questions that has gold; messages call them `where`.

    Raises:
        InputError: the run has none of the questions.
    """
    asked = {question.id.lower(): question for question in questions}
    with_gold = {key: question for key, question in asked.items() if question.gold}
    rankings = _lower_case(run)
    _check_questions(run, rankings, asked, with_gold, where)
    # A uid is ranked for nearly every question: it is lower-cased, and later hashed, once.
    lower = {uid: uid.lower() for uid in set[str]().union(*rankings.values())}
    _check_uids(run, lower, dataset)
    judgements = []
    for key, question in with_gold.items():
        ranking, exact = rankings.get(key, ()), run.rankings.get(question.id, ())
        judgement = judge_ranking(question, [lower[uid] for uid in ranking])
        if exact != ranking:
            ranks = gold_ranks([uid.lower() for uid in exact], judgement.gold) if exact else None
            judgement = replace(judgement, ranks_2019=ranks)
        judgements.append(judgement)
    return tuple(judgements)


def judge_ranking(question: Question, uids: Collection[str]) -> Judgement:
    """The judgement of one ranking, best first, of uids in lower case.

    Raises:
        InputError: the question has no gold.
    """
    if not question.gold:
        raise InputError(f"The question '{question.id}' has no gold facts, so no ranking of it can be scored.")
    gold = tuple(fact.uid.lower() for fact in question.gold)
    ranks = gold_ranks(uids, gold)
    return Judgement(question, gold, ranks, predicted=bool(uids), ranks_2019=ranks if uids else None)


def mean_average_precision(run: Run, dataset: Dataset, questions: Sequence[Question]) -> float:
    """MAP over those of the questions that have gold; 0 if there is none.

    Raises:
        InputError: the run has none of the questions.
    """
    values = [judgement.average_precision for judgement in judge_questions(run, dataset, questions, dataset.name)]
    return sum(values) / len(values) if values else 0.0


def _lower_case(run: Run) -> dict[str, tuple[str, ...]]:
    """Rankings by question id in lower case.

    Of ids that differ only in case the last one in alphabetical order counts, capitals being first: the official scorer
    goes through them sorted, and keeps the last.
    """
    return {name.lower(): run.rankings[name] for name in sorted(run.rankings)}


def _check_questions(
    run: Run,
    rankings: Collection[str],
    questions: Mapping[str, Question],
    with_gold: Mapping[str, Question],
    where: str,
) -> None:
    if with_gold and not run.rankings:
        raise InputError(f"The run '{run.name}' has no ranking; give one of the questions of {where}.")
    unknown = [name for name in run.rankings if name.lower() not in questions]
    if with_gold and len(unknown) == len(run.rankings):
        raise InputError(
            f"The run '{run.name}' has no question of {where} (it has '{unknown[0]}', the split has "
            f"'{next(iter(questions.values())).id}'); check --dataset and --split."
        )
    lacking = [question.id for key, question in with_gold.items() if key not in rankings]
    if unknown:
        _warn(run, f"{len(unknown)} of {len(run.rankings)} question ids are not in {where}", unknown[0])
    if lacking:
        _warn(run, f"{len(lacking)} of {len(with_gold)} questions of {where} are missing and count 0", lacking[0])


def _check_uids(run: Run, lower: Mapping[str, str], dataset: Dataset) -> None:
    known = {fact.uid.lower() for fact in dataset.facts}
    unknown = [uid for uid, name in lower.items() if name not in known]
    if unknown:
        _warn(run, f"{len(unknown)} of {len(lower)} uids are no fact of {dataset.name}", min(unknown))


def _warn(run: Run, finding: str, example: str) -> None:
    warnings.warn(f"In the run '{run.name}', {finding}, for example '{example}'.", ArcfWarning, stacklevel=4)
