"""Facts as a program gives them: a dataset, where one lies, or the texts themselves."""

from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from arcf.data.loading import load
from arcf.errors import InputError
from arcf.types import Dataset, Fact


def given_facts(facts: str | Path | Dataset | Iterable[str] | None = None) -> Dataset:
    """The dataset of facts that are given in any of the forms; the packaged one if none are.

    Texts are numbered from 1 on, in their order; the numbers are their uids.

    Raises:
        InputError: there is no fact, a text is empty or no text, two facts have one uid, or what is given has none of
            the forms; and as `load`.
        UnknownNameError: there is no dataset of that name.
    """
    if isinstance(facts, Dataset):
        return _some(facts)
    if facts is None or isinstance(facts, str | Path):
        return load() if facts is None else load(facts)
    # Sets are left out because their order, and with it the uids, would be another one in every run.
    if isinstance(facts, bytes | Mapping | Set) or not isinstance(facts, Iterable):
        found = type(facts).__name__
        raise InputError(f"Facts should be a list of texts, a dataset, or the name or path of one; found {found}.")
    return _some(Dataset("facts", tuple(_fact(text, place) for place, text in enumerate(facts, 1))))


def check_text(value: object, what: str) -> str:
    """A text that can be written to a file; `what` names it in the message.

    Raises:
        InputError: it is no text, or holds half of a character, as Python makes of bytes that are not UTF-8.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} should be text, found {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not proper text: character {error.start + 1} is half of one.") from error
    return value


def _fact(text: object, place: int) -> Fact:
    checked = check_text(text, f"Fact {place}")
    if not checked.strip():
        raise InputError(f"Fact {place} is empty; leave it out.")
    return Fact(str(place), checked)


def _some(dataset: Dataset) -> Dataset:
    if not dataset.facts:
        raise InputError("There are no facts; give at least one.")
    if len(dataset.ids) < len(dataset.facts):
        repeated = next(fact.uid for place, fact in enumerate(dataset.facts) if dataset.ids[fact.uid] != place)
        raise InputError(f"Several facts have the uid '{repeated}'; give each fact its own.")
    return dataset
