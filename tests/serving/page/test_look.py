"""How the page looks: heights, lines, paper, contrast, every width."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import expect

from arcf.explainer import Explainer

Visiting = Callable[..., Any]


def test_heights_follow_the_text_and_labels_are_whole(
    corpus_of: Callable[[Sequence[str]], Explainer], serve: Visiting
) -> None:
    short, long = "ice is cold glacial frosty wintry water", "ice " + "is what cold water turns into in winter " * 9
    visit = serve(corpus_of([short, long, "cold ice"]), "#q=Why+is+glacial+frosty+wintry+water+ice+cold%3F&min_facts=3")
    visit.finished()
    cards = visit.find("#graph [data-uid]").evaluate_all(
        "all => all.map(one => [one.querySelectorAll(':scope > text').length, one.firstChild.getBBox().height,"
        " one.getBBox().height, [...one.querySelectorAll('[data-chip] text')].map(chip => chip.textContent).join()])"
    )
    assert all(inner <= outer for _, outer, inner, _ in cards)
    assert all("…" not in chips for *_, chips in cards)
    heights = {lines: height for lines, height, *_ in cards}
    assert heights[max(heights)] > heights[min(heights)]


def test_dimmed_lines_have_no_loose_ends(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    visit.select(3)
    strokes = visit.find("#graph [data-line] path[stroke]").evaluate_all(
        "all => all.map(one => [one.getAttribute('stroke'), one.getAttribute('stroke-width')])"
    )
    assert ["#f7f5f1", "5"] not in strokes  # nothing is cut out of a line that lies below
    assert any(color == "#d3cec4" for color, _ in strokes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper(visit: Visiting, scheme: str) -> None:
    visit = visit("#id=science-001", color_scheme=scheme)
    visit.finished()
    visit.select(2)
    visit.page.emulate_media(media="print")
    expect(visit.find("#asked")).to_be_visible()
    expect(visit.find("#verdict")).to_be_visible()
    for control in ("#ask", "#corpus", "#toolbar", "#inspector", "#examples", "#browser", "#replay"):
        expect(visit.find(control)).to_be_hidden()
    expect(visit.find("#graph [data-step='2'] > rect")).to_have_attribute("fill", "#ffffff")
    expect(visit.find("#graph [aria-pressed='true']")).to_have_count(0)
    assert visit.page.pdf().startswith(b"%PDF")
    visit.shoot(f"print-{scheme}")
    visit.page.emulate_media(media="screen")
    expect(visit.find("#graph [data-step='2']")).to_have_attribute("aria-pressed", "true")


LUMINANCE = """
one => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(Number).map(part => part / 255)
      .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let under = one;
  while (/, 0\\)|transparent/.test(getComputedStyle(under).backgroundColor)) under = under.parentElement;
  const [a, b] = [getComputedStyle(one).color, getComputedStyle(under).backgroundColor].map(light);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(visit: Visiting, scheme: str) -> None:
    visit = visit("#id=science-001", color_scheme=scheme)
    visit.finished()
    for level in ("likely", "possible", "a-guess", "none", "unknown", "open"):
        visit.find("#verdict").evaluate(f"one => one.dataset.level = '{level}'")
        assert visit.find("#verdict-title").evaluate(LUMINANCE) >= 4.5
    single = ["#verdict-detail", "#right", "#others", "#status", "figcaption", ".reasons", "#corpus"]
    listed = [".hint", ".bar-score", ".gold-mark", ".toolbar button", ".examples .a"]
    for text in [*single, *(f"{name} >> nth=0" for name in listed)]:
        assert visit.find(text).evaluate(LUMINANCE) >= 4.5, text
    paper = visit.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(16, 17, 22)") == (scheme == "dark")


@pytest.mark.parametrize("width", [390, 800, 1280, 1920])
def test_nothing_sticks_out(visit: Visiting, width: int) -> None:
    visit = visit("#id=science-001", viewport={"width": width, "height": 900})
    visit.finished()
    visit.find("#browser").evaluate("one => one.open = true")
    expect(visit.find("#fact-list li")).to_have_count(10)
    wide = visit.page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1]
    visit.shoot(f"width-{width}")


def test_forced_colors_leave_the_controls_visible(visit: Visiting) -> None:
    visit = visit("#id=science-001", forced_colors="active")
    visit.finished()
    for drawn in ("#play", ".bar >> nth=0"):
        colors = visit.find(drawn).evaluate(
            "one => ['::before', null].map(part => getComputedStyle(one, part).backgroundColor)"
        )
        assert colors[0] != colors[1], drawn
    slider = visit.find("#slider").evaluate("one => getComputedStyle(one).forcedColorAdjust")
    assert slider == "none"  # its track is drawn with a background
    visit.shoot("forced-colors")


def test_the_notice_keeps_its_distance(visit: Visiting) -> None:
    visit = visit("#id=science-001", is_refused=True)
    visit.finished()
    visit.refuse()
    visit.button("Remove").click()
    expect(visit.find("#notice")).to_be_visible()
    notice, heading = visit.find("#trouble").bounding_box(), visit.find("#heading").bounding_box()
    assert heading["y"] - notice["y"] - notice["height"] >= 16
