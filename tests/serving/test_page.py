"""The page in a real browser: asking, watching, replaying, changing; hostile text; copies and files."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Semaphore
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect, sync_playwright

from arcf.explainer import Explainer
from arcf.rankers import Autoregressive
from arcf.scorer.base import Prefix
from arcf.serving import ServingSettings

Running = Callable[[Explainer, ServingSettings], AbstractContextManager[str]]
Open = Callable[..., Page]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUESTION = "Which process turned the ice cube to water?"
SHOTS = os.environ.get("ARCF_SHOTS")
"""A folder for pictures of the page, to be looked at."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: run make browser as root, or install it")
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(explainer: Explainer, running: Running) -> Iterator[str]:
    with running(explainer, ServingSettings(model="stand-in")) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """Opens pages, and fails if one of them complains: an error, or something that the policy forbids."""
    complaints: list[str] = []
    contexts = []

    def opened(at: str = "", base: str = address, **options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(base + at)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def finished(page: Page) -> None:
    expect(page.locator("#waiting")).to_be_empty()
    expect(page.locator("#status")).to_contain_text("facts considered")


def cards(page: Page) -> list[str]:
    """The uids of the facts in the picture."""
    uids: list[str] = page.locator("#graph [data-uid]").evaluate_all("all => all.map(one => one.dataset.uid)")
    return uids


def explain(page: Page) -> None:
    page.get_by_role("button", name="Explain", exact=True).click()


def wanted(page: Page, place: int) -> str:
    """Show a step, and return the uid of its second runner-up."""
    page.locator(f"#graph [data-step='{place}']").click()
    return page.locator("button.bar-row").nth(1).get_attribute("data-uid") or ""


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.mouse.move(0, 0)
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=name.startswith("hostile"))


class StepByStep:
    """Scores as another scorer, once for every permit."""

    def __init__(self, explainer: Explainer) -> None:
        search = explainer.ranker.search
        self.scorer, self.permits = search.scorer, Semaphore(0)
        self.explainer = Explainer(explainer.dataset, Autoregressive(self, search.neighborhood, search.settings))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        assert self.permits.acquire(timeout=30)
        return self.scorer.score(prefix, candidates)


def test_steps_appear_as_they_are_found(explainer: Explainer, running: Running, open_page: Open) -> None:
    slow = StepByStep(explainer)
    with running(slow.explainer, ServingSettings()) as address:
        page = open_page(base=address)
        page.get_by_label("Question").fill(QUESTION)
        page.get_by_label("Answer", exact=True).fill("melting")
        explain(page)
        for number in (1, 2, 3):
            slow.permits.release()
            expect(page.locator("#graph [data-step]")).to_have_count(number)
            expect(page.locator("#status")).to_contain_text(f"{number} fact")
            expect(page.locator("#inspected h2")).to_have_text(f"Fact {number} was chosen")
        slow.permits.release(20)
        finished(page)
    assert cards(page) == [fact.uid for fact in explainer.explain(QUESTION, "melting").facts]
    expect(page.locator("#gold-line")).to_be_hidden()


def test_an_example_has_gold_and_can_be_replayed(open_page: Open) -> None:
    page = open_page()
    page.locator("#example-list button").first.click()
    finished(page)
    expect(page.locator("#gold-line")).to_contain_text("of 6 gold facts")
    expect(page.locator("#gold-line")).to_contain_text("average precision 0.")
    expect(page.locator("#inspected h2")).to_have_text("Then it ended")
    expect(page.locator(".bars .stop.chosen .bar-text")).to_have_text("stop here")
    shoot(page, "light")
    page.get_by_label("Step of the chain").focus()
    page.keyboard.press("Home")
    expect(page.locator("#inspected h2")).to_have_text("Fact 1 was chosen")
    expect(page.locator("#graph [data-step][opacity]")).to_have_count(len(cards(page)))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#inspected h2")).to_have_text("Fact 2 was chosen")
    scores = [float(text) for text in page.locator(".bar-score").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 7  # the fact, five runners-up, the stop sample
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Replay the selection").click()
    expect(page.locator("#inspected h2")).to_have_text("Then it ended")
    expect(page.get_by_role("button", name="Replay the selection")).to_be_visible()


def test_a_runner_up_is_taken_instead_and_the_link_brings_it_back(open_page: Open) -> None:
    page = open_page("#id=science-001")
    finished(page)
    before = cards(page)
    other = wanted(page, 2)
    page.locator(f"[data-uid='{other}'].bar-row").click()
    expect(page.locator("#inspected h2")).to_have_text("Fact 2, put here by you")
    finished(page)
    after = cards(page)
    assert after[:2] == [before[0], other]
    expect(page.locator(".bar-score")).to_have_count(7)  # what was learned about the step is not forgotten
    again = open_page(page.url.removeprefix(page.url.partition("#")[0]))
    finished(again)
    assert cards(again) == after
    page.get_by_role("button", name="Undo my changes").click()
    expect(page.locator("#start-over")).to_be_hidden()
    finished(page)
    assert cards(page) == before
    page.go_back()
    expect(page.locator("#start-over")).to_be_visible()
    finished(page)
    assert cards(page) == after


def test_facts_are_removed_and_brought_back(open_page: Open) -> None:
    page = open_page("#id=science-001")
    finished(page)
    before = cards(page)
    page.locator("#graph [data-step='3']").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#left-out")).to_be_visible()
    finished(page)
    assert before[2] not in cards(page)
    assert cards(page)[:2] == before[:2]
    expect(page.locator("#graph [data-step='2']")).to_have_attribute("aria-label", re.compile(r"\(kept\)"))
    page.get_by_role("button", name="Allow again").click()
    expect(page.locator("#left-out")).to_be_hidden()
    finished(page)
    assert cards(page) == before


def test_a_removed_runner_up_can_be_taken_all_the_same(open_page: Open) -> None:
    page = open_page("#id=science-001")
    finished(page)
    before = cards(page)
    first = page.locator("#graph [data-step='1']")
    first.click()
    page.locator(f"button.bar-row[data-uid='{before[1]}']").wait_for()
    page.locator("#graph [data-step='2']").click()
    page.get_by_role("button", name="Remove").click()
    finished(page)
    first.click()
    page.locator(f"button.bar-row[data-uid='{before[1]}']").click()
    expect(page.locator("#left-out")).to_be_hidden()
    finished(page)
    assert cards(page)[0] == before[1]


def test_back_to_the_beginning(open_page: Open) -> None:
    page = open_page()
    page.locator("#example-list button").first.click()
    finished(page)
    page.go_back()
    expect(page.locator("#result")).to_be_hidden()
    expect(page.locator("#question")).to_have_value("")


def test_a_fact_is_pinned(open_page: Open) -> None:
    page = open_page("#id=science-001")
    finished(page)
    before = cards(page)
    page.locator(f"#graph [data-uid='{before[-1]}']").click()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator("#graph [data-step='1']")).to_have_attribute("data-uid", before[-1])
    finished(page)
    page.get_by_role("button", name="Pinned").click()
    expect(page.locator("#start-over")).to_be_hidden()
    finished(page)
    assert cards(page) == before


HOSTILE = [
    "<img src=x onerror=alert(1)> ice is <b>cold</b>",
    "<script>alert('ice')</script> &amp; &lt;ice&gt;",
    "ice \x07\x1b[31m bell \x7f and \ufffe more",
    "\u05e7\u05e8\u05d7 \u05d4\u05d5\u05d0 ice \u202e backwards \u0627\u0644\u062c\u0644\u064a\u062f",
    "ice" + "wonderfully" * 60 + " ice",
    '"]}); alert(1); // ice </svg><svg onload=alert(1)>',
]


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_text_stays_text(
    corpus_of: Callable[[Sequence[str]], Explainer], running: Running, open_page: Open, width: int
) -> None:
    question = "<script>alert(2)</script> what is ice \u202e?"
    with running(corpus_of(HOSTILE), ServingSettings()) as address:
        page = open_page(base=address, viewport={"width": width, "height": 800})
        page.get_by_label("Question").fill(question)
        page.get_by_label("Answer", exact=True).fill("<img src=x onerror=alert(3)>")
        page.get_by_text("Options and settings").click()
        page.get_by_label("Shortest chain").fill("6")
        explain(page)
        finished(page)
        said = page.locator("#graph [data-uid]").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
        assert any("<img src=x onerror=alert(1)> ice is <b>cold</b>" in text for text in said)
        assert any("<script>alert('ice')</script> &amp; &lt;ice&gt;" in text for text in said)
        assert any("ice \ufffd\ufffd[31m bell \ufffd and \ufffd more" in text for text in said)
        assert len(said) == len(HOSTILE)
        expect(page.locator("#asked")).to_have_text(question)
        assert page.locator("#graph script, #graph img, main img, main script").count() == 0
        wide = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1]
        shoot(page, f"hostile-{width}")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save SVG").click()
        ElementTree.parse(download.value.path())


def test_copies_and_files(open_page: Open, explainer: Explainer) -> None:
    page = open_page("#id=science-001", permissions=["clipboard-read", "clipboard-write"])
    finished(page)

    def copied(name: str) -> str:
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("button", name=name)).to_have_class("done")
        text: str = page.evaluate("() => navigator.clipboard.readText()")
        return text

    question = explainer.dataset.question("science-001")
    explanation = explainer.explain(question)
    assert copied("Copy text") == str(explanation)
    assert json.loads(copied("Copy JSON"))["facts"][0]["uid"] == explanation.facts[0].uid
    assert copied("Copy link") == page.url
    with page.expect_download() as svg:
        page.get_by_role("button", name="Save SVG").click()
    root = ElementTree.parse(svg.value.path()).getroot()
    assert explanation.facts[0].text.split()[1] in "".join(root.itertext())
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    with page.expect_download() as png:
        page.get_by_role("button", name="Save PNG").click()
    assert png.value.path().read_bytes().startswith(b"\x89PNG")
    if SHOTS:
        png.value.save_as(Path(SHOTS) / "saved.png")


def test_the_keyboard_is_enough(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    finished(page)
    page.locator("#graph [data-step][tabindex='0']").focus()
    page.keyboard.press("ArrowUp")
    last = len(cards(page))
    expect(page.locator("#inspected h2")).to_have_text(f"Fact {last} was chosen")
    expect(page.locator(f"#graph [data-step='{last}']")).to_be_focused()
    page.locator("button.bar-row").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#inspected h2")).to_have_text(f"Fact {last}, put here by you")
    finished(page)
    expect(page.locator("#inspected :focus")).to_have_count(1)
    page.get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    finished(page)
    expect(page.get_by_role("button", name="Remove")).to_be_focused()
    page.get_by_role("button", name="Undo my changes").focus()
    page.keyboard.press("Enter")
    finished(page)
    expect(page.locator("#asked")).to_be_focused()
    page.locator("#example-list button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#asked")).to_be_focused()
    expect(page.locator("#status")).to_be_in_viewport()
    finished(page)


def test_a_token_is_asked_for(explainer: Explainer, running: Running, browser: Browser) -> None:
    with running(explainer, ServingSettings(token="s3cret")) as address:
        page = browser.new_page()
        page.goto(address)
        page.get_by_role("textbox", name="Token").fill("guess")
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_text("did not accept that token")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("textbox", name="Token")).to_be_hidden()
        page.get_by_label("Question").fill(QUESTION)
        explain(page)
        page.get_by_role("textbox", name="Token").fill("s3cret")
        page.get_by_role("button", name="Go on").click()
        finished(page)
        page.reload()
        expect(page.locator("#example-list button")).to_have_count(6)
        expect(page.locator("#corpus")).to_contain_text("science")
        page.close()


def test_a_server_that_says_no(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.get_by_text("Options and settings").click()
    page.get_by_label("Question").fill("ice")
    page.get_by_label("Answer options").fill("hot\ncold")
    page.get_by_label("Answer", exact=True).fill("lukewarm")
    with page.expect_response("**/api/explain/stream") as answer:
        explain(page)
    assert answer.value.status == 422
    expect(page.get_by_role("alert")).to_contain_text("neither the letter nor the text")
    page.close()


def test_what_is_shown_outlives_a_failure(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}#id=science-001")
    finished(page)
    before, link = cards(page), page.url
    page.route("**/api/explain/stream", lambda route: route.abort())
    page.locator("#question").fill("Why is ice cold?")
    explain(page)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    assert cards(page) == before
    assert page.url == link
    page.unroute("**/api/explain/stream")
    page.locator("#graph [data-step='2']").click()
    page.get_by_role("button", name="Remove").click()
    finished(page)
    assert cards(page)[0] == before[0]
    assert before[1] not in cards(page)
    page.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dark", {"color_scheme": "dark"}),
        ("narrow", {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}),
    ],
)
def test_dark_and_narrow(open_page: Open, name: str, options: dict[str, object]) -> None:
    page = open_page("#id=science-001", **options)
    finished(page)
    page.locator("#graph [data-step='3']").click()
    wide = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1]
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(16, 17, 22)") == (name == "dark")
    shoot(page, name)
