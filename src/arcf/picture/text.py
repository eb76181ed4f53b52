"""How wide text is, and where its lines break, without a font at hand."""

import re
import unicodedata

UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML forbids, or no reader could see."""

#: Shares of the font size, a little above those of common sans-serif fonts: a line that is too short does no harm.
WIDTHS = {
    **dict.fromkeys("iIjl.,:;'|!` ", 0.3),
    **dict.fromkeys('frt()[]{}-/\\"*', 0.4),
    **dict.fromkeys("mwMW@%", 0.92),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 0.72),
}
OTHER = 0.6


def clean(text: str) -> str:
    """Text with what cannot be shown made visible."""
    return UNSHOWN.sub("\ufffd", text)


def width_of(text: str, size: float) -> float:
    """About how wide a text is, in the unit of the font size."""
    return size * sum(map(_width, text))


def wrap(text: str, width: float, size: float) -> list[str]:
    """Lines that fit; a word that is longer than a line is cut."""
    lines, line = [], ""
    for word in (part for whole in text.split() for part in _pieces(whole, width, size)):
        longer = f"{line} {word}" if line else word
        if line and width_of(longer, size) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]


def shorten(text: str, width: float, size: float) -> str:
    """A text cut off where it becomes too wide."""
    return text if width_of(text, size) <= width else f"{_pieces(text, width - size, size)[0]}…"


def _pieces(word: str, width: float, size: float) -> list[str]:
    pieces, used = [""], 0.0
    for letter in word:
        wide = size * _width(letter)
        if pieces[-1] and used + wide > width:
            pieces.append("")
            used = 0.0
        pieces[-1] += letter
        used += wide
    return pieces


def _width(letter: str) -> float:
    if letter.isascii():
        return WIDTHS.get(letter, OTHER)
    if unicodedata.combining(letter):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.65
