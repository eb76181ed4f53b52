import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Analyzer
from arcf.neighborhood.text import light_words, stop_words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("  \t\n", []),
        ("The heron IS wading", ["heron", "wade"]),
        ("melting melts melted", ["melt", "melt", "melt"]),
        ("it is not a bird that was", ["bird"]),
        ("CO₂ and CO2", ["co2", "co2"]),
        ("H₂O", ["h2o"]),
        ("100 1,000 3.5 ½", []),
        ("24-hour day", ["hour", "dai"]),
        ("Earth's axis", ["earth", "axi"]),
        ("Earth\u2019s axis", ["earth", "axi"]),
        ("doesn't", []),
        ("Wi-Fi wifi", ["wi", "fi", "wifi", "wifi"]),
        ("e\u2010mail", ["e", "mail", "email"]),
        ("state-of-the-art", ["state", "art"]),
        ("- -- x-", ["x"]),
        ("snake_case", ["snake", "case"]),
        ("ﬁne ﬂour", ["fine", "flour"]),
        ("Straße", ["strass"]),
        ("naïve", ["naïv"]),
        ("\uff26\uff35\uff2c\uff2c", ["full"]),
        ("水 氷", ["水", "氷"]),
        ("🦩 ... !?", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("photo\u00adsynthesis", ["photosynthesi"]),
        ("zero\u200bwidth", ["zerowidth"]),
        (
            "\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e",
            ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u092d\u093e\u0937\u093e"],
        ),
        ("x\u0323y-z", ["x\u0323y", "z"]),
    ],
)
def test_what_is_between_letters_but_no_letter_to_python(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


def test_composed_and_decomposed_letters_are_one_word() -> None:
    assert Analyzer().terms(unicodedata.normalize("NFD", "café")) == Analyzer().terms("café")


def test_a_very_long_text_and_a_very_long_word() -> None:
    analyzer = Analyzer()
    assert analyzer.terms("a heron wades " * 100_000) == ["heron", "wade"] * 100_000
    assert len(analyzer.terms("x" * 1_000_000)) == 1


def test_stop_words_are_words_that_the_analyzer_can_meet() -> None:
    assert len(stop_words()) > 100
    assert Analyzer().terms(" ".join(sorted(stop_words()))) == []


@given(st.text())
def test_any_text_can_be_read_and_twice_the_text_has_its_terms_twice(text: str) -> None:
    analyzer = Analyzer()
    terms = analyzer.terms(text)
    assert all(terms)
    assert analyzer.terms(f"{text} {text}") == terms * 2
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    ("text", "other", "words"),
    [
        ("Melting ice is the melting of ice", "ice melts", {"melt": "melting", "ic": "ice"}),
        ("ice", "water", {}),
        ("the of", "the of", {}),
        ("", "ice", {}),
        ("Wi-Fi", "wifi", {"wifi": "wi-fi"}),
        ("wifi", "Wi-Fi", {"wifi": "wifi"}),
        ("a Wi-Fi router", "Wi-Fi", {"wifi": "wi-fi"}),
        ("e-mail", "mail", {"mail": "mail"}),
        ("mother-in-law", "the law", {"law": "law"}),
    ],
)
def test_shared_words_are_those_of_the_first_text(text: str, other: str, words: dict[str, str]) -> None:
    assert Analyzer().shared(text, other) == words


def test_light_words_are_known_in_all_their_forms_and_are_no_stop_words() -> None:
    analyzer = Analyzer()
    assert all(map(analyzer.is_light, analyzer.terms("kinds of things that get used")))
    assert not any(map(analyzer.is_light, analyzer.terms("water, heat and electricity")))
    assert not light_words() & stop_words()


def test_words_of_strangers_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    analyzer = Analyzer()
    known = len(analyzer._term_of)
    monkeypatch.setattr("arcf.neighborhood.text.REMEMBERED", known + 3)
    assert analyzer.terms("melting freezing boiling thawing cooling") == ["melt", "freez", "boil", "thaw", "cool"]
    assert len(analyzer._term_of) == known + 3
