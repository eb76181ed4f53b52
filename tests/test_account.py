"""What people are told of an explanation. That a text stays a text is what matters here."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.account import Account, Line
from arcf.display import shown
from arcf.types import Option, Question

QUESTION = Question("q", "What melts?", (Option("A", "ice"), Option("B", "fire")), "ice")
ACCOUNT = Account(
    QUESTION, (Line("ice is cold", "81%", "from the question (ice)", True), Line("fire", "given")), ("x",)
)


def test_markdown() -> None:
    assert ACCOUNT.markdown() == (
        "**What melts?**\n\n- **(A) ice**\n- (B) fire\n\n"
        "1. ✓ ice is cold (81%, from the question (ice))\n2. fire (given)\n\nx\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a* _b_ `c` [d](e) <b> # &amp; a|b ~~", r"\*a\* \_b\_ \`c\` \[d\](e) \<b\> \# \&amp; a\|b \~\~"),
        ("1. one", r"1\. one"),
        ("$5 or $10", r"\$5 or \$10"),  # Notebooks would set it as a formula.
        ("- one 1. - ", r"\- one 1. -"),
        ("a\\", "a\\\\"),
        ("a\n\n# b\x1b[2J", "a \\# b\ufffd\\[2J"),
    ],
)
def test_nothing_of_a_text_is_markdown(text: str, expected: str) -> None:
    found = Account(Question("", text), (), ("end",)).markdown()
    assert found == f"**{expected}**\n\nend\n"


class Reader(HTMLParser):
    """The words that a browser would show, and the elements around them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.elements = "", set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.words += f"{data} "


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@given(st.text(min_size=1, max_size=50))
def test_nothing_of_a_text_is_html(text: str) -> None:
    account = Account(Question("", text, (Option("A", text),), text), (Line(text, "9%", text),), (text,))
    reader = read(account.html())
    assert reader.elements == {"div", "p", "b", "ul", "li", "ol"}
    assert reader.words.count(shown(text)) >= 5


def test_html_takes_its_colours_from_the_notebook() -> None:
    html = ACCOUNT.html()
    assert not re.search(r"color|background|#[0-9a-f]{3}|<script|<style|http", html)
    words = "What melts? (A) ice (B) fire ✓ ice is cold 81%, from the question (ice) fire given x"
    assert " ".join(read(html).words.split()) == words


def test_without_options_facts_or_answer() -> None:
    bare = Account(Question("", "What?"), (), ("no fact",))
    assert bare.markdown() == "**What?**\n\nno fact\n"
    assert read(bare.html()).elements == {"div", "p", "b"}
    assert Account(Question("", "What?", answer="ice"), (), ()).options() == [("ice", True)]
