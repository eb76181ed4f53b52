"""The picture as SVG: attributes only, no style and no script, so that it looks the same wherever it is shown."""

import re
from collections.abc import Collection, Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from arcf.explanation import Explanation
from arcf.picture.layout import BADGE, KINDS, PAD, SMALL, WIDTH, Card, contents, layout
from arcf.picture.text import clean

MARGIN, RADIUS = 24, 8
SANS = "Inter, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
SERIF = "Newsreader, 'Iowan Old Style', Palatino, Georgia, serif"
PAPER, INK, SOFT, EDGE = "#ffffff", "#1f1d1a", "#6d675e", "#dcd8d0"
QUESTION, ANSWER, GOLD, GOLD_CARD = "#26242f", "#c7d2fe", "#96600f", "#fffbeb"
LINES = (
    "#57534e", "#286ada", "#b45120", "#197e56", "#984cc3", "#886b0d", "#cb2d6d", "#157a8a", "#866a39", "#5b5bd6",
    "#5a791a",
)  # fmt: skip
RIGHT_TO_LEFT = re.compile(r"[\W\d_]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
"""The first letter of a line decides."""
WORD = re.compile(r"([^\W_]+)")

Value = str | float


def svg_file(explanation: Explanation, gold: Collection[int] = ()) -> str:
    """The content of an SVG file; `gold` facts are marked."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(picture(explanation, gold), encoding="unicode")}\n'


def picture(explanation: Explanation, gold: Collection[int] = ()) -> Element:
    """The picture as an element."""
    cards = layout(contents(explanation, gold))
    width, height = WIDTH + 2 * MARGIN, cards[-1].y + cards[-1].height + 2 * MARGIN
    root = _element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{-MARGIN} {-MARGIN} {width} {height:g}",
        width=width,
        height=height,
        role="img",
        font_family=SANS,
    )
    SubElement(root, "title").text = f"The chain of facts for: {cards[0].content.text}"
    SubElement(root, "desc").text = clean(str(explanation))
    root.append(_element("rect", x=-MARGIN, y=-MARGIN, width=width, height=height, fill=PAPER))
    for place in range(len(cards)):
        root.extend(_line(cards, place))
    for place, card in enumerate(cards):
        root.append(_drawn(card, place))
    return root


def color_of(place: int) -> str:
    """The color of a card's number and line."""
    return LINES[0] if place == 0 else LINES[1 + (place - 1) % (len(LINES) - 1)]


def _line(cards: Sequence[Card], place: int) -> Iterable[Element]:
    """The line of one source with all its branches, set off from the lines below it."""
    source, color = cards[place], color_of(place)
    branches = [(card, entry) for card in cards for entry in card.entries if entry.source.place == place]
    ways = [
        f"M{source.x:g} {source.leave:g}H{entry.lane + RADIUS:g}Q{entry.lane:g} {source.leave:g} {entry.lane:g} "
        f"{source.leave + RADIUS:g}V{entry.y - RADIUS:g}Q{entry.lane:g} {entry.y:g} {entry.lane + RADIUS:g} {entry.y:g}"
        f"H{card.x - 5:g}"
        for card, entry in branches
    ]
    yield from (_element("path", d=way, fill="none", stroke=PAPER, stroke_width=6) for way in ways)
    yield from (_element("path", d=way, fill="none", stroke=color, stroke_width=2) for way in ways)
    yield from (_element("path", d=f"M{card.x - 1:g} {entry.y:g}l-7 -4v8z", fill=color) for card, entry in branches)


def _drawn(card: Card, place: int) -> Element:
    content, is_question, is_stop = card.content, place == 0, card.content.kind == "stop"
    fill = QUESTION if is_question else "none" if is_stop else GOLD_CARD if content.gold else PAPER
    stroke = QUESTION if is_question else GOLD if content.gold else EDGE
    frame = _element("rect", x=card.x + 0.5, y=card.y + 0.5, width=card.width - 1, height=card.height - 1, rx=12)
    frame.attrib |= {"fill": fill, "stroke": stroke} | ({"stroke-dasharray": "4 4"} if is_stop else {})
    group = Element("g")
    group.append(frame)
    for entry in card.entries:
        color = color_of(entry.source.place)
        pill = _element("rect", x=entry.x, y=entry.y - 9.5, width=entry.width, height=19, rx=9.5)
        pill.attrib |= {"fill": PAPER, "stroke": color}
        label = _text(entry.label, entry.x + entry.width / 2, entry.y + 4.2, color, SMALL, "middle")
        SubElement(label, "title").text = f"shares: {', '.join(entry.source.words)}"
        group.extend([pill, label])
    group.extend([*_badge(card, place), *_lines(card), *_marks(card)])
    return group


def _badge(card: Card, place: int) -> Iterable[Element]:
    x, y = card.x + PAD + BADGE, card.middle
    if card.content.kind == "stop":
        yield _element("rect", x=x - 5, y=y - 5, width=10, height=10, rx=2, fill=SOFT)
        return
    yield _element("circle", cx=x, cy=y, r=BADGE, fill=color_of(place) if place else PAPER)
    number = _text(str(place) if place else "?", x, y + 4.8, PAPER if place else QUESTION, 13, "middle")
    number.set("font-weight", "700")
    yield number


def _lines(card: Card) -> Iterable[Element]:
    """The lines of a card's text, with the shared words in bold."""
    size, line, _ = KINDS[card.content.kind]
    color = {"question": PAPER, "fact": INK, "stop": SOFT}[card.content.kind]
    words = {word.casefold() for source in card.content.sources for word in source.words}
    lines = [*((text, color) for text in card.lines), *((text, ANSWER) for text in card.notes)]
    top = card.middle - (len(lines) - 1) * line / 2 + size / 3
    for place, (text, fill) in enumerate(lines):
        backwards = RIGHT_TO_LEFT.match(text) is not None
        x = card.x + card.width - 70 if backwards else card.x + PAD + 2 * BADGE + 12
        drawn = _text("", x, top + place * line, fill, size)
        drawn.attrib |= {"direction": "rtl"} if backwards else {}
        drawn.attrib |= {"font-family": SERIF} if card.content.kind == "question" else {}
        for part in [text] if backwards else filter(None, WORD.split(text)):
            span = SubElement(drawn, "tspan")
            span.text = part
            if part.casefold() in words:
                span.set("font-weight", "650")
        yield drawn


def _marks(card: Card) -> Iterable[Element]:
    """Score and gold mark, at the right."""
    x, y = card.x + card.width - 16, card.middle + 4.5
    if card.content.score:
        yield _text(card.content.score, x, y - 8 if card.content.gold else y, SOFT, 13, "end")
    if card.content.gold:
        yield _text("gold ✓", x, y + 9, GOLD, SMALL, "end")


def _text(text: str, x: float, y: float, fill: str, size: float, anchor: str = "start") -> Element:
    element = _element("text", x=x, y=y, fill=fill, font_size=size, text_anchor=anchor)
    element.text = text
    return element


def _element(name: str, **attributes: Value) -> Element:
    values = {
        key.replace("_", "-"): value if isinstance(value, str) else f"{value:g}" for key, value in attributes.items()
    }
    return Element(name, values)
