"""The last step of every reader: facts and questions become a dataset, if they fit together."""

from collections.abc import Iterable, Mapping

from arcf.data.remarks import remark
from arcf.errors import InputError
from arcf.types import Dataset, Fact, Question


def assemble(name: str, place: str, facts: Iterable[Fact], splits: Mapping[str, Iterable[Question]]) -> Dataset:
    """A dataset of what was read at `place`.

    Gold uids that no fact has stay in the questions, because the official scorer divides by them; one warning counts
    them.

    Raises:
        InputError: there is no fact.
    """
    dataset = Dataset(name, tuple(facts), {split: tuple(questions) for split, questions in splits.items()})
    if not dataset.facts:
        raise InputError("holds no facts; there must be at least one.", place)
    questions = (question for split in dataset.splits.values() for question in split)
    unknown = {gold.uid for question in questions for gold in question.gold if gold.uid not in dataset.ids}
    if unknown:
        some = ", ".join(sorted(unknown)[:3]) + (", ..." if len(unknown) > 3 else "")
        message = f"{name}: {len(unknown)} gold uids belong to no fact ({some}); they count as gold never found."
        remark(message)
    for kind, names in (("uids of facts", dataset.ids), ("ids of questions", _asked(dataset))):
        if alike := _alike(names):
            message = f"{name}: {kind} that differ in case alone, such as {alike}, are one to every score."
            remark(message)
    return dataset


def _asked(dataset: Dataset) -> list[str]:
    return [question.id for questions in dataset.splits.values() for question in questions]


def _alike(names: Iterable[str]) -> str:
    """The first two names that scorers, which lower-case all, take for one; empty if there are none."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            return f"{other} and {name}"
    return ""
