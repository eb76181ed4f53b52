"""The picture as SVG: attributes and embedded fonts only, no script, so that it looks the same wherever it is shown."""

import re
from collections.abc import Collection, Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from arcf.explanation import Explanation
from arcf.picture.contents import SIZES, contents
from arcf.picture.faces import SANS, SERIF, font_faces
from arcf.picture.layout import BADGE, CHIP, PAD, SMALL, WIDTH, Card, PlacedChip, layout
from arcf.picture.text import clean

MARGIN, RADIUS = 24, 7
PAPER, INK, SOFT, EDGE = "#ffffff", "#1f1d1a", "#6d675e", "#dcd8d0"
QUESTION, ANSWER, GOLD, PINNED = "#26242f", "#c7d2fe", "#96600f", "#4338ca"
COLORS = {"question": PAPER, "answer": ANSWER, "verdict": "#d6d3d1", "root": PAPER, "fact": INK, "stop": SOFT}
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
    drawn = picture(explanation, gold)
    style = Element("style")
    style.text = font_faces()
    drawn.insert(2, style)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(drawn, encoding="unicode")}\n'


def picture(explanation: Explanation, gold: Collection[int] = (), is_alone: bool = True) -> Element:
    """The picture as an element; one that `is_alone` says the question and the verdict too."""
    cards = layout(contents(explanation, gold, is_alone))
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
    SubElement(root, "title").text = f"The chain of facts for: {clean(explanation.chain.question.stem)}"
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
    yield from (_element("path", d=way, fill="none", stroke=PAPER, stroke_width=5) for way in ways)
    yield from (_element("path", d=way, fill="none", stroke=color, stroke_width=2) for way in ways)
    yield from (_element("path", d=f"M{card.x - 1:g} {entry.y:g}l-7 -4v8z", fill=color) for card, entry in branches)


def _drawn(card: Card, place: int) -> Element:
    is_question, is_stop = place == 0, card.content.kind == "stop"
    frame = _element("rect", x=card.x + 0.5, y=card.y + 0.5, width=card.width - 1, height=card.height - 1, rx=12)
    frame.attrib |= {"fill": QUESTION if is_question else "none" if is_stop else PAPER}
    frame.attrib |= {"stroke": QUESTION if is_question else EDGE} | ({"stroke-dasharray": "4 4"} if is_stop else {})
    group = Element("g")
    group.append(frame)
    group.extend([*_badge(card, place), *_lines(card), *_worth(card)])
    for chip in card.chips:
        group.extend(_chip(chip))
    return group


def _chip(placed: PlacedChip) -> Iterable[Element]:
    color = {"pinned": PINNED, "gold": GOLD}.get(placed.chip.kind) or color_of(placed.chip.source)
    yield _element(
        "rect", x=placed.x, y=placed.y, width=placed.width, height=CHIP, rx=CHIP / 2, fill=PAPER, stroke=color
    )
    label = _text(placed.label, placed.x + placed.width / 2, placed.y + CHIP / 2 + 4.2, color, SMALL, "middle")
    label.set("font-weight", "500")
    SubElement(label, "title").text = placed.chip.text
    yield label


def _badge(card: Card, place: int) -> Iterable[Element]:
    x, y = card.x + PAD + BADGE, card.first
    if card.content.kind == "stop":
        yield _element("rect", x=x - 5, y=y - 5, width=10, height=10, rx=2, fill=SOFT)
        return
    yield _element("circle", cx=x, cy=y, r=BADGE, fill=color_of(place) if place else PAPER)
    number = _text(str(place) if place else "?", x, y + 4.8, PAPER if place else QUESTION, 13, "middle")
    number.set("font-weight", "700")
    yield number


def _lines(card: Card) -> Iterable[Element]:
    """The lines of a card's text, with the shared words in bold."""
    words = {word.casefold() for source in card.content.sources for word in source.words}
    y = card.first - SIZES[card.lines[0][0]][1] / 2
    for style, text in card.lines:
        size, height = SIZES[style]
        backwards = RIGHT_TO_LEFT.match(text) is not None
        x = card.x + card.width - 78 if backwards else card.text_x
        drawn = _text("", x, y + height / 2 + size * 0.36, COLORS[style], size)
        drawn.attrib |= {"direction": "rtl"} if backwards else {}
        drawn.attrib |= {"font-family": SERIF} if style in ("question", "answer") else {}
        for part in [text] if backwards else filter(None, WORD.split(text)):
            span = SubElement(drawn, "tspan")
            span.text = part
            if part.casefold() in words:
                span.set("font-weight", "650")
        yield drawn
        y += height


def _worth(card: Card) -> Iterable[Element]:
    """How sure the fact is, at the right: the word, and the number below it."""
    if card.content.worth is None:
        return
    word, number = card.content.worth
    x, y = card.x + card.width - PAD, card.first + 4.5
    yield _text(word, x, y, INK, 13, "end")
    yield _text(number, x, y + 16, SOFT, SMALL, "end")


def _text(text: str, x: float, y: float, fill: str, size: float, anchor: str = "start") -> Element:
    element = _element("text", x=x, y=y, fill=fill, font_size=size, text_anchor=anchor)
    element.text = text
    return element


def _element(name: str, **attributes: Value) -> Element:
    values = {
        key.replace("_", "-"): value if isinstance(value, str) else f"{value:g}" for key, value in attributes.items()
    }
    return Element(name, values)
