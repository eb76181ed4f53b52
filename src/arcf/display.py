"""Text from outside, made fit for a terminal.

Facts and questions may hold anything: escape sequences that would move the cursor, clear the screen or type for the
user; characters that the terminal's encoding does not have; lines of megabytes.
"""

import codecs
import re
import unicodedata

LONGEST = 2_000
"""About a screen of characters."""

PLAIN = "arcf-plain"
"""The name by which streams know `plain`, for their argument `errors`."""

UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters except tab and line feed, those that turn the direction of what follows, and no characters."""

SIMILAR = {
    **dict.fromkeys("└─━·\u2010\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e«»", '"'),
    **dict.fromkeys("✓•", "*"),
    "\u2044": "/",
    "\u00d7": "x",
    "→": "->",
}
"""ASCII for common characters that do not decompose into it."""


def clean(text: str) -> str:
    """Text of which a terminal does nothing but show it; what it must not see is made visible as one character."""
    return UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


def shown(text: str) -> str:
    """Text for one place on a terminal: clean, white space as single spaces, and clipped."""
    line = clean(" ".join(text[:LONGEST].split()))
    return line if len(text) <= LONGEST else f"{line}... ({len(text):,} characters)"


def plain(error: UnicodeError) -> tuple[str, int]:
    """The ASCII nearest to characters that an encoding does not have; an error handler, see `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    """A letter without its accents, a ligature's letters, a similar sign, or a question mark."""
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part if part.isascii() else SIMILAR.get(part, _else(part)) for part in parts)


def _else(part: str) -> str:
    return "" if unicodedata.combining(part) else "?"


codecs.register_error(PLAIN, plain)
