"""The picture of a chain: everything in it, well-formed whatever the facts say, and nothing on top of anything."""

from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax

from arcf.chain import ChainSettings
from arcf.chain.confidence import Calibration
from arcf.explainer import Explainer
from arcf.explanation import Explanation
from arcf.neighborhood import Neighborhood, recipe
from arcf.picture import html_page, svg, svg_file
from arcf.picture.contents import Content, Origin, contents
from arcf.picture.layout import CHIP, LANE, PAD, WORTH, lanes, layout
from arcf.picture.page import shares
from arcf.picture.text import clean, shorten, width_of, wrap
from arcf.picture.verdict import LIKELY, NONE_FOUND, NOT_JUDGED, POSSIBLE, VERDICTS, expectation, in_words, verdict
from arcf.rankers import Autoregressive
from arcf.scorer import STOP, Prefix, ScorerSettings
from arcf.types import Dataset, Fact

FACTS = (
    "ice is a kind of solid",
    "melting means changing from a solid to a liquid",
    "water is a kind of liquid",
    "<script>alert(1)</script> & ice",
    "ice \x00\x1b \u202e\u05d0 " + "long" * 80,
)


class InOrder:
    """Prefers facts in the order of the corpus; stopping is best after `length`."""

    settings = ScorerSettings()

    def __init__(self, length: int) -> None:
        self.length = length

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        stop = 100.0 if len(prefix.facts) >= self.length else -100.0
        return np.where(candidates == STOP, stop, -candidates).astype(np.float32)


def explained(
    facts: Sequence[str] = FACTS,
    length: int = 5,
    start: Sequence[str] = (),
    calibration: Calibration | None = None,
    min_facts: int = 0,
) -> Explanation:
    dataset = Dataset("own", tuple(Fact(str(place), text) for place, text in enumerate(facts)))
    neighborhood = Neighborhood(dataset.facts, recipe("tfidf").build(dataset.facts, ()))
    settings = ChainSettings(min_facts=min_facts)
    ranker = Autoregressive(InOrder(length), neighborhood, settings, calibration=calibration)
    return Explainer(dataset, ranker).explain("What turns <ice> to water?", "melting & more", start=start)


def test_the_picture_shows_the_chain() -> None:
    svg = svg_file(explained(length=3), gold={1})
    root = ElementTree.fromstring(svg)
    texts = [" ".join("".join(text.itertext()).split()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "What turns <ice> to water?" in texts
    assert "melting & more" in texts
    assert [text for text in texts if text in FACTS] == list(FACTS[:3])
    assert texts.count("reference ✓reference ✓") == 1
    assert "fact 1: solidfact 1: solid" in texts  # a label, and what a pointer over it shows
    assert "Ends here: no further fact is better than stopping" in texts
    assert f"{NOT_JUDGED}." in texts


def test_the_picture_can_be_listened_to() -> None:
    explanation = explained(length=3)
    described = ElementTree.fromstring(svg_file(explanation)).find("{http://www.w3.org/2000/svg}desc")
    assert described is not None
    assert described.text == str(explanation)


def test_the_first_letter_decides_the_direction() -> None:
    facts = ["the Hebrew word \u05e7\u05e8\u05d7 means ice", "(1) \u05e7\u05e8\u05d7 means ice"]
    root = ElementTree.fromstring(svg_file(explained(facts, length=2)))
    lines = {"".join(line.itertext()): line.get("direction") for line in root.iter("{http://www.w3.org/2000/svg}text")}
    assert [lines[fact] for fact in facts] == [None, "rtl"]


def luminance(color: str) -> float:
    """As WCAG defines it."""
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("ink", [*svg.LINES, svg.SOFT, svg.INK])
@pytest.mark.parametrize("paper", [svg.PAPER, "#f7f5f1"])
def test_colors_can_be_read(ink: str, paper: str) -> None:
    assert (luminance(paper) + 0.05) / (luminance(ink) + 0.05) >= 4.5


def test_the_page_has_the_same_colors() -> None:
    graph = (files("arcf.serving") / "page" / "graph.js").read_text(encoding="utf-8")
    light = graph.partition("LIGHT")[2].partition("};")[0]
    assert ", ".join(f'"{color}"' for color in svg.LINES) in light
    for color in (svg.GOLD, svg.PINNED, svg.SOFT, svg.INK, svg.QUESTION, svg.ANSWER):
        assert f'"{color}"' in light


@pytest.mark.parametrize(("bias", "word"), [(3.0, "likely"), (-0.2, "possible"), (-1.0, "a guess")])
def test_the_verdict_is_in_words_then_in_numbers(bias: float, word: str) -> None:
    explanation = explained(length=2, calibration=Calibration(bias, {}))
    assert explanation.confidence is not None
    assert in_words(explanation.confidence) == word
    assert verdict(explanation) == VERDICTS[word]
    assert expectation(explanation).endswith(f"belong to it ({explanation.confidence:.0%}).")
    drawn = "".join(ElementTree.fromstring(svg_file(explanation)).itertext())
    assert f"{VERDICTS[word]}. {expectation(explanation)}" in drawn
    page = html_page(explanation)
    assert page.index(VERDICTS[word]) < page.index(expectation(explanation)) < page.index("<svg")
    assert page.count("What turns &lt;ice&gt; to water?") == 4  # heading, title, and two to be listened to


def test_the_verdict_where_nothing_is_sure() -> None:
    assert verdict(explained(calibration=Calibration(-9.0, {}))) == NONE_FOUND
    assert FACTS[0] in html_page(explained(calibration=Calibration(-9.0, {})))  # the nearest facts
    assert (verdict(explained()), expectation(explained())) == (NOT_JUDGED, "")
    pinned = explained(length=2, start=["0"], calibration=Calibration(3.0, {}))
    assert (
        expectation(pinned)
        == "The fact that was chosen belongs to it with a probability of 95%. Pinned facts are not counted."
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_surer_is_never_called_less(one: float, other: float) -> None:
    order = ["a guess", "possible", "likely"]
    low, high = sorted((one, other))
    assert order.index(in_words(low)) <= order.index(in_words(high))
    assert (in_words(LIKELY), in_words(POSSIBLE)) == ("likely", "possible")


def test_a_fact_that_stopping_would_have_beaten_says_why() -> None:
    page = html_page(explained(length=1, min_facts=3))
    assert page.count("Stopping scored higher, but the chain was to have at least 3 facts.") == 2
    assert "Stopping scored higher" not in html_page(explained(length=2))


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_bars_are_shares_of_one(scores: list[float]) -> None:
    np.testing.assert_allclose(shares(scores), softmax(scores), atol=1e-12)


@pytest.mark.parametrize("write", [svg_file, html_page])
def test_hostile_facts_stay_text(write: Callable[[Explanation], str]) -> None:
    written = write(explained())
    assert "<script" not in written
    assert "\x00" not in written
    assert "\x1b" not in written
    if write is svg_file:
        ElementTree.fromstring(written)


def test_the_page_needs_nothing_else() -> None:
    found: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.append((tag, dict(attributes)))

    page = html_page(explained(length=3), gold={0})
    Reader().feed(page)
    tags = [tag for tag, _ in found]
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert not any({"src", "href"} & set(attributes) for _, attributes in found)
    assert tags.count("details") == 4
    assert page.count('class="chosen"') == 3
    assert page.count('class="chosen stop"') == 1
    assert "default-src 'none'" in page


def test_the_command_line_writes_both(
    arcf: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: InOrder(3))
    svg, html = tmp_path / "chain.svg", tmp_path / "chain.html"
    assert arcf("explain", "--id", "science-001", "--model", "any", "--svg", svg, "--html", html) == 0
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_given_facts_and_endings_without_a_stop() -> None:
    cards = contents(explained(length=99, start=["2"]))
    assert [chip.text for chip in cards[1].chips] == ["pinned"]
    assert (cards[1].worth, cards[1].sources) == (None, ())
    assert cards[-1].texts == (("stop", "Ends here: no other fact is visible"),)
    assert svg_file(explained(["moss"]))  # an empty chain is the question alone
    assert "no fact shares a word" in html_page(explained(["moss"])).lower()
    assert NONE_FOUND in html_page(explained(["moss"]))


chains = st.integers(1, 10).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, place), max_size=3, unique=True) for place in range(size)))
)


@settings(max_examples=50)
@given(chains)
def test_nothing_overlaps(chain: tuple[list[int], ...]) -> None:
    facts = [
        Content(
            "fact",
            (("fact", f"fact {place}"),),
            ("likely", "74%"),
            sources=tuple(Origin(one, ("a", "long", "list", "of", "words") * place) for one in sorted(seen)),
        )
        for place, seen in enumerate(chain, start=1)
    ]
    cards = layout([Content("question", (("question", "What?"),)), *facts])
    for above, below in pairwise(cards):
        assert above.y + above.height < below.y
    for card in cards:
        assert all(entry.y + 10 < card.leave for entry in card.entries)
        assert all(low.y - high.y >= 10 for high, low in pairwise(card.entries))
        assert all(entry.lane + LANE <= card.x for entry in card.entries)
        assert all(one.x + one.width <= two.x or one.y + CHIP < two.y for one, two in pairwise(card.chips))
        assert all(chip.x + chip.width <= card.x + card.width - WORTH + PAD for chip in card.chips)
        assert all(chip.y + CHIP < card.y + card.height for chip in card.chips)


@settings(max_examples=50)
@given(chains)
def test_no_two_lines_share_a_lane_at_the_same_height(chain: tuple[list[int], ...]) -> None:
    cards = [Content("question", ())] + [
        Content("fact", (), sources=tuple(Origin(one, ()) for one in seen)) for seen in chain
    ]
    lane_of = lanes(cards)
    last = {source.place: place for place, card in enumerate(cards) for source in card.sources}
    assert set(lane_of) == set(last)
    for one, other in ((a, b) for a in last for b in last if a < b and lane_of[a] == lane_of[b]):
        assert last[one] <= other


@given(st.text(max_size=200))
def test_lines_hold_all_words_and_fit(text: str) -> None:
    lines = wrap(clean(text), 120, 15)
    assert "".join("".join(lines).split()) == "".join(clean(text).split())
    assert all(width_of(line, 15) <= 120 for line in lines)


def test_labels_are_cut() -> None:
    assert shorten("short", 100, 12) == "short"
    cut = shorten("a label that is far too long for its place", 100, 12)
    assert cut.endswith("…")
    assert width_of(cut, 12) <= 100
    assert clean("a\x00\ud800b") == "a\ufffd\ufffdb"
