"""MAP for parts of the questions (difficulty, number of gold facts) and of the gold (role, hops, use in training)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arcf.evaluation.judgement import Judgement
from arcf.evaluation.measures import average_precision
from arcf.types import Gold, Question

# The group of an annotated gold fact, or None where it belongs to no reported one.
GroupOf = Callable[[Question, Gold], str | None]

SEEN, UNSEEN = "seen", "unseen"
ROLES = ("CENTRAL", "GROUNDING", "LEXGLUE")
# Upper bounds of the groups by number of gold facts; the last group is open.
SIZES = (1, 3, 6, 10, 15)


@dataclass(frozen=True, slots=True)
class Group:
    """MAP of one group: over how many questions, with how many annotated gold facts, and the questions' own scores."""

    name: str
    questions: int
    facts: int
    map: float
    scores: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without those of the questions."""
        return {"name": self.name, "questions": self.questions, "facts": self.facts, "map": self.map}


@dataclass(frozen=True)
class FactGroups:
    """A grouping of gold facts made elsewhere, such as by hops: question id -> uid -> group.

    `names` are the groups to report, in this order; facts of other groups, or of none, count as other gold.
    """

    names: tuple[str, ...]
    of: Mapping[str, Mapping[str, str]]

    def group(self, question: Question, gold: Gold) -> str | None:
        """The group of one gold fact of a question."""
        return self.of.get(question.id, {}).get(gold.uid)


def by_role(judgements: Sequence[Judgement]) -> tuple[Group, ...]:
    """MAP of the gold facts of each of the three roles that the task reports."""
    return by_fact(judgements, ROLES, lambda _, gold: gold.role.upper())


def by_training(judgements: Sequence[Judgement], learnt: Iterable[Question]) -> tuple[Group, ...]:
    """MAP of the gold facts that an explanation of the learnt questions uses (seen), and of those that none does.

    A ranker that has learnt which facts are often used is good at the first; what it has understood shows in the other.
    """
    known = {gold.uid.lower() for question in learnt for gold in question.gold}
    return by_fact(judgements, (SEEN, UNSEEN), lambda _, gold: SEEN if gold.uid.lower() in known else UNSEEN)


def by_fact(judgements: Sequence[Judgement], names: Iterable[str], group_of: GroupOf) -> tuple[Group, ...]:
    """MAP of each group of gold facts, over the questions that have some.

    The other gold facts are taken out of gold and ranking alike: finding them is neither asked for nor a mistake. A
    fact annotated twice, in two groups, belongs to both.
    """
    groups = []
    for name in names:
        kept = [
            (
                judgement,
                [gold.uid.lower() for gold in judgement.question.gold if group_of(judgement.question, gold) == name],
            )
            for judgement in judgements
        ]
        groups += _group(name, [(_restricted(own, uids), len(uids)) for own, uids in kept if uids])
    return tuple(groups)


def by_difficulty(judgements: Sequence[Judgement]) -> tuple[Group, ...]:
    """MAP by difficulty as annotated, in alphabetical order; questions without one are left out."""
    names = sorted({judgement.question.difficulty for judgement in judgements} - {""})
    return _by_question(judgements, names, lambda judgement: judgement.question.difficulty)


def by_gold_size(judgements: Sequence[Judgement]) -> tuple[Group, ...]:
    """MAP by the number of different gold facts, in a few ranges."""
    starts = [1, *(bound + 1 for bound in SIZES)]
    names = [f"{low}" if low == high else f"{low}-{high}" for low, high in zip(starts, SIZES, strict=False)]
    names.append(f"{starts[-1]}+")
    return _by_question(judgements, names, lambda judgement: names[sum(judgement.gold_size > bound for bound in SIZES)])


def _by_question(
    judgements: Sequence[Judgement], names: Iterable[str], name_of: Callable[[Judgement], str]
) -> tuple[Group, ...]:
    groups = []
    for name in names:
        members = [judgement for judgement in judgements if name_of(judgement) == name]
        groups += _group(name, [(own.average_precision, len(own.gold)) for own in members])
    return tuple(groups)


def _group(name: str, members: Sequence[tuple[float, int]]) -> list[Group]:
    """The group, from each question's AP and number of annotated facts; nothing for a group without questions."""
    if not members:
        return []
    scores, facts = zip(*members, strict=True)
    return [Group(name, len(scores), sum(facts), sum(scores) / len(scores), scores)]


def _restricted(judgement: Judgement, kept: Sequence[str]) -> float:
    """AP for a part of the gold: each rank moves up by the number of other gold facts above it."""
    wanted = frozenset(kept)
    ranks: list[int] = []
    for place, (uid, rank) in enumerate(judgement.ranks.items()):
        if uid in wanted:
            ranks.append(rank - (place - len(ranks)))
    return average_precision(ranks, len(kept))
