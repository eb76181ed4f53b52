"""Where everything in the picture goes; the page's `layout.js` does the same for its screen.

Facts stand in one column, in the order in which they were chosen. Every source has a line of its own, which runs down a
lane on the left and branches off to the facts seen from it; the words that they share stand where a branch arrives.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from arcf.explanation import Explanation, worth
from arcf.picture.text import clean, shorten, width_of, wrap
from arcf.types import SeenFrom

WIDTH = 900
PAD, BADGE, GAP = 16, 13, 14
LANE, LABELS, LABEL, SMALL = 15, 196, 22, 12

Kind = Literal["question", "fact", "stop"]
#: Font size, line height and least height of a card.
KINDS: dict[Kind, tuple[int, int, int]] = {"question": (20, 27, 68), "fact": (15, 22, 52), "stop": (14, 20, 40)}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact was seen from: the place of a card (0 is the question), and the shared words."""

    place: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """What a card says. `note` is the question's answer, `score` what stands at the right."""

    kind: Kind
    text: str
    note: str = ""
    score: str = ""
    gold: bool = False
    sources: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a branch arrives: the label's text and place, and the lane that it comes from."""

    source: Origin
    label: str
    lane: float
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Card:
    """A card with its place. `leave` is the height at which its own line sets out."""

    content: Content
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.y + self.height / 2

    @property
    def leave(self) -> float:
        """The height at which its own line sets out."""
        return self.y + self.height - 11


def contents(explanation: Explanation, gold: Collection[int] = ()) -> list[Content]:
    """What the cards of a chain say: the question, the facts, and the decision to stop if there was one."""
    chain, corpus = explanation.chain, explanation.corpus
    places = {fact: place for place, fact in enumerate(chain.facts, start=1)}

    def sources(seen: Sequence[SeenFrom]) -> tuple[Origin, ...]:
        return tuple(
            Origin(0 if one.source is None else places[one.source], tuple(map(clean, one.words))) for one in seen
        )

    cards = [Content("question", clean(chain.question.stem), clean(chain.question.answer))]
    cards += [Content("fact", clean(corpus[fact].text), score="given", gold=fact in gold) for fact in chain.start]
    for step in chain.steps:
        fact, score = step.chosen.fact, worth(step)
        seen = sources(explanation.sources(step))
        cards.append(Content("fact", clean(corpus[fact].text), score=score, gold=fact in gold, sources=seen))
    if chain.unsure:
        cards.append(Content("stop", "enough: the next fact is too doubtful", score=f"{chain.next_confidence:.0%}"))
    if chain.stopped:
        cards.append(Content("stop", "enough: stopping scores highest", score=f"{chain.stop_score:.2f}"))
    return cards


def layout(contents: Sequence[Content]) -> list[Card]:
    """The cards with their places, from the top down."""
    lane_of = lanes(contents)
    left = (max(lane_of.values()) + 1) * LANE + 10 + LABELS if lane_of else 0
    cards: list[Card] = []
    y = 1.0
    for place, content in enumerate(contents):
        cards.append(_card(content, left, y, lane_of, is_source=place in lane_of))
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


def _card(content: Content, left: float, y: float, lane_of: dict[int, int], is_source: bool) -> Card:
    size, line, least = KINDS[content.kind]
    room = WIDTH - left - (PAD + 2 * BADGE + 12) - (62 if content.score else PAD)
    lines = wrap(content.text, room, size)
    notes = wrap(content.note, room, size) if content.note else []
    branches = len(content.sources) * LABEL + (28 if is_source else 18)
    height = max((len(lines) + len(notes)) * line + 26, branches if content.sources else 0, least)
    entries = tuple(
        _entry(source, left, y + 17 + index * LABEL, lane_of) for index, source in enumerate(content.sources)
    )
    return Card(content, left, y, WIDTH - left - 1, height, tuple(lines), tuple(notes), entries)


def _entry(source: Origin, left: float, y: float, lane_of: dict[int, int]) -> Entry:
    label = shorten(", ".join(source.words) or "near", LABELS - 44, SMALL)
    width = width_of(label, SMALL) + 18
    return Entry(source, label, 6 + lane_of[source.place] * LANE, left - 12 - width, y, width)
