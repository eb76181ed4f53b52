"""What people are told of an explanation, in words: as Markdown, and as HTML for notebooks.

Facts and questions may hold anything; nothing of them is taken for markup.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final

from arcf.display import shown
from arcf.types import Question

GOLD: Final = "✓"
"""The mark of a fact that the gold explanation has too."""

_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~&$])|^([-+])(?=\s)|^(\d+)([.)])(?=\s)")

# Nothing has a colour of its own: notebooks are light or dark, and these take theirs.
_BOX: Final = "max-width: 50em; line-height: 1.45"
_SMALL: Final = "font-size: 0.85em; opacity: 0.7"


@dataclass(frozen=True, slots=True)
class Line:
    """A fact of the chain: its text, how sure it is (`worth`) and where it was seen from; whether it is gold."""

    text: str
    worth: str
    origin: str = ""
    is_gold: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """The question, the facts of the chain in order, and `closing` sentences about the chain as a whole."""

    question: Question
    lines: tuple[Line, ...]
    closing: tuple[str, ...]

    def options(self) -> list[tuple[str, bool]]:
        """The options with their labels, or else the answer alone, each with whether it is right."""
        question = self.question
        if not question.options:
            return [(shown(question.answer), True)] if question.answer else []
        return [
            (shown(f"({option.label}) {option.text}"), option.text == question.answer) for option in question.options
        ]

    def markdown(self) -> str:
        """A question in bold, its options, a numbered list of facts, and a paragraph."""
        options = [f"- **{_plain(text)}**" if right else f"- {_plain(text)}" for text, right in self.options()]
        facts = numbered(f"{f'{GOLD} ' * line.is_gold}{line.text} ({_because(line)})" for line in self.lines)
        closing = "  \n".join(map(_plain, self.closing))
        blocks = [f"**{_plain(self.question.stem)}**", "\n".join(options), facts, closing]
        return "\n\n".join(filter(None, blocks)) + "\n"

    def html(self) -> str:
        """The same as one element that needs nothing around it."""
        options = [f"<li>{f'<b>{_html(text)}</b>' if right else _html(text)}</li>" for text, right in self.options()]
        facts = [
            f"<li>{f'{GOLD} ' * line.is_gold}{_html(line.text)}<div style='{_SMALL}'>{_html(_because(line))}</div></li>"
            for line in self.lines
        ]
        parts = [
            f"<p><b>{_html(self.question.stem)}</b></p>",
            f"<ul style='list-style: none; padding-left: 1em'>{''.join(options)}</ul>" if options else "",
            f"<ol>{''.join(facts)}</ol>" if facts else "",
            f"<p style='{_SMALL}'>{'<br>'.join(map(_html, self.closing))}</p>",
        ]
        return f"<div style='{_BOX}'>{''.join(parts)}</div>"


def numbered(texts: Iterable[str]) -> str:
    """Texts as a numbered list of Markdown."""
    return "\n".join(f"{place}. {_plain(text)}" for place, text in enumerate(texts, start=1))


def _because(line: Line) -> str:
    return f"{line.worth}, {line.origin}" if line.origin else line.worth


def _plain(text: str) -> str:
    """Text of which Markdown makes nothing but itself."""
    return _MARKS.sub(lambda found: f"{found[3] or ''}\\{found[1] or found[2] or found[4]}", shown(text))


def _html(text: str) -> str:
    return escape(shown(text))
