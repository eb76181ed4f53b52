import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.data.choices import LETTERS, letter, split_options
from arcf.types import Option


def options(*texts: str) -> tuple[Option, ...]:
    return tuple(Option(label, text) for label, text in zip(LETTERS, texts, strict=False))


@pytest.mark.parametrize(
    ("printed", "stem", "texts"),
    [
        ("What wades? (A) a heron (B) moss", "What wades?", ["a heron", "moss"]),
        ("What wades? (1) a heron (2) moss (3) rain", "What wades?", ["a heron", "moss", "rain"]),
        ("Figure (A) shows moss. It is (A) wet (B) dry", "Figure (A) shows moss. It is", ["wet", "dry"]),
        ("At 20 (C) or (1) K? (A) warm (B) cold (C) icy", "At 20 (C) or (1) K?", ["warm", "cold", "icy"]),
        ("Pick. (A) step (2) then (3) (B) step (1)", "Pick.", ["step (2) then (3)", "step (1)"]),
        ("Pick. (A) 30 (C) (B) 40", "Pick.", ["30 (C)", "40"]),
        ("Pick.  (A)\t(B) something \n", "Pick.", ["", "something"]),
        ("(A) yes (B) no", "", ["yes", "no"]),
        ("Is vitamin (A) healthy?", "Is vitamin (A) healthy?", []),
        ("No options  at all", "No options at all", []),
        ("(B) first (C) second", "(B) first (C) second", []),
        ("", "", []),
        (" ".join(["Q", *(f"({label}) {label.lower()}" for label in "ABCDEFGH")]), "Q", list("abcdefgh")),
    ],
)
def test_split(printed: str, stem: str, texts: list[str]) -> None:
    assert split_options(printed) == (stem, options(*texts))


PLAIN = st.text(st.characters(exclude_characters="()", exclude_categories=["Cs"])).map(
    lambda text: " ".join(text.split())
)


@given(PLAIN, st.lists(PLAIN, min_size=2, max_size=8), st.sampled_from([LETTERS, "12345678"]))
def test_any_printed_question_is_taken_apart_again(stem: str, texts: list[str], labels: str) -> None:
    printed = " ".join([stem, *(f"({label}) {text}" for label, text in zip(labels, texts, strict=False))])
    assert split_options(printed) == (stem, options(*texts))


@pytest.mark.parametrize(("label", "meant"), [("A", "A"), ("b ", "B"), ("1", "A"), ("8", "H"), ("9", "9"), ("", "")])
def test_letter(label: str, meant: str) -> None:
    assert letter(label) == meant


def test_very_many_labels_take_no_time() -> None:
    """The work follows the length of the text, not its square: this took minutes."""
    assert split_options("(A) " * 50_000) == (" ".join(["(A)"] * 50_000), ())
