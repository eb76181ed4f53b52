import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.display import LONGEST, PLAIN, clean, plain, shown

ODD = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", f"{ODD}[31mred{ODD}[0m"),
        ("\x1b]0;title\x07", f"{ODD}]0;title{ODD}"),
        ("\x9b2J \x7f \x00", f"{ODD}2J {ODD} {ODD}"),
        ("over\rwritten\x08", f"over{ODD}written{ODD}"),
        ("\u202egnp.exe\u2066", f"{ODD}gnp.exe{ODD}"),
        ("caf\udce9", f"caf{ODD}"),
        ("two\n\tlines", "two\n\tlines"),
        ("雪 é \N{GRINNING FACE} \u200d \u05d0\u200f", "雪 é \N{GRINNING FACE} \u200d \u05d0\u200f"),
    ],
)
def test_what_is_not_text_is_made_visible(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text())
def test_no_control_character_is_left_in_what_is_shown(text: str) -> None:
    line = shown(text)
    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(character) for character in line}
    assert line.encode().decode() == line
    assert shown(line) == line


def test_one_line() -> None:
    assert shown(" two\n\t lines\u2028and\x85more \r\n") == "two lines and more"


def test_long_text_is_clipped_and_its_length_told() -> None:
    assert shown("x" * LONGEST) == "x" * LONGEST
    assert shown("x" * 5_000_000) == "x" * LONGEST + "... (5,000,000 characters)"


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("└ naïve “moss” — ✓", "ascii", '- naive "moss" - *'),
        ("└ naïve “moss” — ✓", "cp1252", "- naïve “moss” — *"),
        ("½ of 100 ﬁsh…", "ascii", "1/2 of 100 fish..."),
        ("雪 \N{GRINNING FACE}", "cp1252", "? ?"),
        ("caf\udce9", "utf-8", "caf?"),
        (ODD, "latin-1", "?"),
    ],
)
def test_characters_that_an_encoding_does_not_have(text: str, encoding: str, expected: str) -> None:
    assert text.encode(encoding, PLAIN).decode(encoding) == expected


@given(st.text(), st.sampled_from(["ascii", "cp1252", "cp437", "latin-1", "koi8-r", "shift-jis", "utf-8"]))
def test_every_text_can_be_written_in_every_encoding(text: str, encoding: str) -> None:
    text.encode(encoding, PLAIN).decode(encoding)


def test_only_writing_is_forgiven() -> None:
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no text")
    with pytest.raises(UnicodeDecodeError):
        plain(error)
