"""Where everything in the picture goes; the page's `layout.js` does the same for its screen.

Facts stand in one column, in the order in which they were chosen. Every source has a line of its own, which runs down a
lane on the left and branches off to the facts found from it. Under a fact's text, chips name its sources and the words
that they share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arcf.picture.contents import SIZES, Chip, Content, Origin
from arcf.picture.text import shorten, width_of, wrap

WIDTH = 900
PAD, TOP, BADGE, GAP = 16, 14, 13, 14
LANE, GUTTER, WORTH, SMALL = 14, 12, 78, 12
CHIP, BETWEEN, INSET = 20, 6, 9
ENTRY, BRANCH, LEAVE = 17, 12, 11
"""Where the first branch arrives below a card's top, how far apart the next, and where its own line leaves."""


@dataclass(frozen=True, slots=True)
class PlacedChip:
    """A chip with its place; `label` is what there is room for."""

    chip: Chip
    label: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a branch arrives, and the lane that it comes from."""

    source: Origin
    lane: float
    y: float


@dataclass(frozen=True, slots=True)
class Card:
    """A card with its place. `lines` are its texts, broken, each with its style."""

    content: Content
    x: float
    y: float
    width: float
    height: float
    lines: tuple[tuple[str, str], ...]
    chips: tuple[PlacedChip, ...]
    entries: tuple[Entry, ...]

    @property
    def text_x(self) -> float:
        """Where its text begins."""
        return self.x + PAD + 2 * BADGE + 12

    @property
    def first(self) -> float:
        """The height of the middle of its first line."""
        return self.y + TOP + SIZES[self.content.texts[0][0]][1] / 2

    @property
    def leave(self) -> float:
        """The height at which its own line sets out."""
        return self.y + self.height - LEAVE


def layout(contents: Sequence[Content]) -> list[Card]:
    """The cards with their places, from the top down."""
    lane_of = lanes(contents)
    left = (max(lane_of.values()) + 1) * LANE + GUTTER if lane_of else 0
    cards: list[Card] = []
    y = 1.0
    for content in contents:
        cards.append(_card(content, left, y, lane_of))
        y += cards[-1].height + GAP
    return cards


def lanes(contents: Sequence[Content]) -> dict[int, int]:
    """The lane of every source: longer lines further out, each in the first lane where it meets no other."""
    last = {source.place: place for place, content in enumerate(contents) for source in content.sources}
    taken: list[list[tuple[int, int]]] = []
    lane_of: dict[int, int] = {}
    for first, end in sorted(last.items(), key=lambda span: (span[0] - span[1], span[0])):
        free = (
            lane for lane, spans in enumerate(taken) if all(end <= begin or until <= first for begin, until in spans)
        )
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((first, end))
        lane_of[first] = lane
    return lane_of


def _card(content: Content, left: float, y: float, lane_of: dict[int, int]) -> Card:
    text_x = left + PAD + 2 * BADGE + 12
    room = WIDTH - text_x - (WORTH if content.worth else PAD)
    lines = tuple((style, line) for style, text in content.texts for line in wrap(text, room, SIZES[style][0]))
    below = y + TOP + sum(SIZES[style][1] for style, _ in lines)
    chips = _chips(content.chips, text_x, below + BETWEEN, room)
    end = chips[-1].y + CHIP if chips else below
    entries = tuple(
        Entry(source, 6 + lane_of[source.place] * LANE, y + ENTRY + index * BRANCH)
        for index, source in enumerate(content.sources)
    )
    # A picture beside the question only says where it is, so its card is no wider than that takes.
    is_root = content.texts[0][0] == "root"
    width = text_x - left + width_of(content.texts[0][1], SIZES["root"][0]) + PAD if is_root else WIDTH - left - 1
    return Card(content, left, y, width, end + TOP - y, lines, chips, entries)


def _chips(chips: Sequence[Chip], left: float, top: float, room: float) -> tuple[PlacedChip, ...]:
    """Chips beside each other; a row that is full is followed by another."""
    placed: list[PlacedChip] = []
    x, y = left, top
    for chip in chips:
        label = shorten(chip.text, room - 2 * INSET, SMALL)
        width = width_of(label, SMALL) + 2 * INSET
        if x > left and x + width > left + room:
            x, y = left, y + CHIP + BETWEEN
        placed.append(PlacedChip(chip, label, x, y, width))
        x += width + BETWEEN
    return tuple(placed)
