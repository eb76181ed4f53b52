from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arcf.data.given import check_text, given_facts
from arcf.errors import InputError, UnknownNameError
from arcf.types import Dataset, Fact

TEXTS = ["moss is green", "herons wade"]


@pytest.mark.parametrize("make", [list, tuple, iter, np.array])
def test_texts_are_numbered(make: Callable[[list[str]], list[str]]) -> None:
    dataset = given_facts(make(TEXTS))
    assert (dataset.name, dataset.splits) == ("facts", {})
    assert dataset.facts == (Fact("1", "moss is green"), Fact("2", "herons wade"))


def test_a_dataset_its_name_or_its_path(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("moss is green\n")
    dataset = Dataset("mine", (Fact("a", "moss is green"),))
    assert given_facts(dataset) is dataset
    assert given_facts(file).facts == given_facts(str(file)).facts == (Fact("line-1", "moss is green"),)
    assert given_facts().name == given_facts("science").name == "science"
    with pytest.raises(UnknownNameError, match="no dataset or file named 'sciense'"):
        given_facts("sciense")


@pytest.mark.parametrize("facts", [[], (), iter(()), Dataset("empty", ())])
def test_no_facts(facts: list[str] | Dataset) -> None:
    with pytest.raises(InputError, match=r"^There are no facts; give at least one\.$"):
        given_facts(facts)


@pytest.mark.parametrize("facts", [7, 1.5, True, b"moss", {"a": "moss"}, {"moss"}, object()])
def test_other_types(facts: object) -> None:
    found = type(facts).__name__
    expected = rf"^Facts should be a list of texts, a dataset, or the name or path of one; found {found}\.$"
    with pytest.raises(InputError, match=expected):
        given_facts(facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (7, "should be text, found int"),
        (None, "should be text, found NoneType"),
        (Fact("a", "moss"), "should be text, found Fact"),
        ("", "is empty; leave it out"),
        (" \n", "is empty; leave it out"),
        ("caf\udce9", "is not proper text: character 4 is half of one"),
    ],
)
def test_a_text_that_is_none(text: object, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"^Fact 2 {complaint}\.$"):
        given_facts(["moss is green", text])  # type: ignore[list-item]


def test_text_in_any_script() -> None:
    assert check_text("雪 \N{GRINNING FACE} \x1b", "The question") == "雪 \N{GRINNING FACE} \x1b"
    with pytest.raises(InputError, match=r"^The question should be text, found list\.$"):
        check_text([], "The question")


def test_two_facts_of_one_uid() -> None:
    facts = tuple(Fact(uid, f"{uid} is green") for uid in ("a", "b", "a"))
    with pytest.raises(InputError, match=r"^Several facts have the uid 'a'; give each fact its own\.$"):
        given_facts(Dataset("mine", facts))
