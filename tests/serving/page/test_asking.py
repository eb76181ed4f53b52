"""Asking in a real browser: the chain grows, can be cancelled, and outlives failures; hostile text stays text."""

from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Route, expect

from arcf.explainer import Explainer
from arcf.serving import ServingSettings

QUESTION = "Which process turned the ice cube to water?"

Visiting = Callable[..., Any]


def places(page: Page) -> list[list[float]]:
    """Where the cards are, and how large: the stop card and those to come are left out."""
    found: list[list[float]] = page.locator("#graph [data-uid] > rect").evaluate_all(
        "all => all.map(one => ['x', 'y', 'width', 'height'].map(name => Number(one.getAttribute(name))))"
    )
    return found


def test_steps_appear_as_they_are_found_and_move_nothing(
    explainer: Explainer, step_by_step: Any, serve: Visiting
) -> None:
    visit = serve(step_by_step.explainer)
    visit.ask(QUESTION, "melting")
    before: list[list[float]] = []
    top = None
    for number in (1, 2, 3):
        step_by_step.permits.release()
        expect(visit.find("#graph [data-step]")).to_have_count(number)
        expect(visit.find("#waiting")).to_contain_text(f"{number} fact")
        visit.told("Why fact 1 is there")
        now = places(visit.page)
        assert now[: len(before)] == before
        assert top in (None, visit.find("#graph").bounding_box()["y"])
        before, top = now, visit.find("#graph").bounding_box()["y"]
    step_by_step.permits.release(20)
    visit.finished()
    assert places(visit.page)[:3] == before
    assert visit.find("#graph").bounding_box()["y"] == top
    assert visit.cards() == [fact.uid for fact in explainer.explain(QUESTION, "melting").facts]
    expect(visit.find("#status")).not_to_contain_text("reference")


def test_the_title_is_the_question(visit: Visiting) -> None:
    visit = visit()
    expect(visit.page).to_have_title("arcf")
    visit.ask(QUESTION, "melting")
    visit.finished()
    expect(visit.page).to_have_title(f"{QUESTION} · arcf")
    visit.button("New question").click()
    expect(visit.page).to_have_title("arcf")
    expect(visit.find("#question")).to_be_focused()
    expect(visit.find("#question")).to_have_value("")


def test_a_search_is_cancelled_before_and_after_its_first_fact(step_by_step: Any, serve: Visiting) -> None:
    visit = serve(step_by_step.explainer)
    visit.ask(QUESTION, "melting")
    expect(visit.button("Cancel")).to_be_visible()
    step_by_step.permits.release(2)
    expect(visit.find("#graph [data-step]")).to_have_count(2)
    visit.button("Cancel").click()
    expect(visit.find("#cancel")).to_be_hidden()
    expect(visit.find("#verdict")).to_contain_text("Cancelled 2 facts until then.", use_inner_text=True)
    visit.select(2)
    visit.told("Why fact 2 is there")
    step_by_step.permits.release(2)
    visit.button("Edit").click()
    visit.ask("Why does ice float?")
    expect(visit.find("#cancel")).to_be_visible()
    visit.button("Cancel").click()
    expect(visit.find("#cancel")).to_be_hidden()
    step_by_step.permits.release(40)


@pytest.mark.parametrize(
    ("failure", "notice"),
    [
        (
            'event: error\ndata: {"status": 504, "title": "Gateway Timeout", "detail": "It took too long."}\n\n',
            "It took too long.",
        ),
        ("", "The answer broke off; ask again."),
        ('event: end\ndata: {"facts"', "The answer broke off; ask again."),
    ],
)
def test_a_search_that_breaks_off_says_so(visit: Visiting, address: str, failure: str, notice: str) -> None:
    visit = visit()
    whole = visit.page.request.post(f"{address}api/explain/stream", data={"question": QUESTION}).text()
    body = "\n\n".join([*whole.split("\n\n")[:3], failure])  # the start and two steps
    visit.page.route("**/api/explain/stream", lambda route: route.fulfill(body=body))
    visit.ask(QUESTION)
    expect(visit.find("#notice")).to_have_text(notice)
    expect(visit.find("#verdict")).to_contain_text("Not finished 2 facts until then.", use_inner_text=True)
    expect(visit.button("Cancel")).to_be_hidden()
    assert len(visit.cards()) == 2


def test_the_question_is_edited_in_its_place(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    expect(visit.find("#ask")).to_be_hidden()
    visit.button("Edit").click()
    expect(visit.find("#question")).to_be_focused()
    expect(visit.find("#asked")).to_be_hidden()
    visit.page.keyboard.press("Escape")
    expect(visit.find("#asked")).to_be_visible()
    visit.button("Edit").click()
    visit.ask("Why is ice cold?")
    expect(visit.find("#asked")).to_have_text("Why is ice cold?")
    visit.finished()
    assert "q=Why" in visit.page.url


def test_a_link_with_an_unknown_fact_keeps_the_question(visit: Visiting) -> None:
    at = "#q=Why+is+ice+cold%3F&a=frozen&start=no-such/fact&start=kindof-001&without=nor%20this"
    visit = visit(at, is_refused=True)
    expect(visit.find("#asked")).to_have_text("Why is ice cold?")
    visit.finished()
    expect(visit.find("#notice")).to_contain_text("2 facts that this corpus does not have (no-such/fact, nor this)")
    assert visit.cards()[0] == "kindof-001"
    expect(visit.find("#right")).to_have_text("frozen")


def test_a_link_that_cannot_be_answered_fills_the_form(visit: Visiting) -> None:
    visit = visit("#q=Why+is+ice+cold%3F&a=B&o=hot&o=cold&k=5000", is_refused=True)
    expect(visit.find("#notice")).to_contain_text("at most 1000")
    expect(visit.find("#question")).to_have_value("Why is ice cold?")
    expect(visit.find("#options")).to_have_value("hot\ncold")


def test_back_to_the_beginning(visit: Visiting) -> None:
    visit = visit()
    visit.find("#example-list button").first.click()
    visit.finished()
    visit.page.go_back()
    expect(visit.find("#result")).to_be_hidden()
    expect(visit.find("#question")).to_have_value("")


HOSTILE = [
    "<img src=x onerror=alert(1)> ice is <b>cold</b>",
    "<script>alert('ice')</script> &amp; &lt;ice&gt;",
    "ice \x07\x1b[31m bell \x7f and \ufffe more",
    "\u05e7\u05e8\u05d7 \u05d4\u05d5\u05d0 ice \u202e backwards \u0627\u0644\u062c\u0644\u064a\u062f",
    "ice" + "wonderfully" * 60 + " ice",
    '"]}); alert(1); // ice </svg><svg onload=alert(1)>',
]


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_text_stays_text(corpus_of: Callable[[Sequence[str]], Explainer], serve: Visiting, width: int) -> None:
    question = "<script>alert(2)</script> what is ice \u202e?"
    visit = serve(corpus_of(HOSTILE), viewport={"width": width, "height": 800})
    visit.page.get_by_text("Options and settings").click()
    visit.page.get_by_label("Shortest chain").fill("6")
    visit.ask(question, "<img src=x onerror=alert(3)>")
    visit.finished()
    said = visit.find("#graph [data-uid]").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert any("<img src=x onerror=alert(1)> ice is <b>cold</b>" in text for text in said)
    assert any("<script>alert('ice')</script> &amp; &lt;ice&gt;" in text for text in said)
    assert any("ice \ufffd\ufffd[31m bell \ufffd and \ufffd more" in text for text in said)
    assert len(said) == len(HOSTILE)
    expect(visit.find("#asked")).to_have_text(question)
    assert visit.find("#graph script, #graph img, main img, main script").count() == 0
    wide = visit.page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1]
    visit.shoot(f"hostile-{width}")
    with visit.page.expect_download() as download:
        visit.button("Save SVG").click()
    ElementTree.parse(download.value.path())


def test_the_keyboard_is_enough(visit: Visiting) -> None:
    visit = visit()
    press = visit.page.keyboard.press
    visit.page.get_by_label("Question", exact=True).focus()
    visit.page.keyboard.type(QUESTION)
    press("Enter")
    visit.finished()
    expect(visit.find("#asked")).to_be_focused()
    visit.find("#graph [data-step][tabindex='0']").focus()
    press("ArrowDown")
    visit.told("Why fact 2 is there")
    expect(visit.find("#graph [data-step='2']")).to_be_focused()
    press("Enter")
    expect(visit.find("#inspected h2")).to_be_focused()
    press("Escape")
    expect(visit.find("#graph [data-step='2']")).to_be_focused()
    visit.find("button.bar-row").first.focus()
    press("Enter")
    expect(visit.button("Unpin")).to_be_visible()
    visit.finished()
    expect(visit.find("#inspected :focus")).to_have_count(1)
    visit.button("Remove").focus()
    press("Enter")
    expect(visit.find("#removed li")).to_have_count(1)
    visit.finished()
    expect(visit.find("#inspected :focus")).to_have_count(1)
    visit.button("Undo all").focus()
    press("Enter")
    expect(visit.find("#changes")).to_be_hidden()
    visit.finished()
    expect(visit.find("#asked")).to_be_focused()
    visit.find("#example-list button").first.focus()
    press("Enter")
    expect(visit.find("#asked")).to_be_focused()
    expect(visit.find("#verdict")).to_be_in_viewport()
    visit.finished()


def test_a_token_is_asked_for(explainer: Explainer, running: Visiting, visit: Visiting) -> None:
    with running(explainer, ServingSettings(token="s3cret")) as address:
        visit = visit(base=address, is_refused=True)
        visit.page.get_by_role("textbox", name="Token").fill("guess")
        visit.button("Go on").click()
        expect(visit.page.get_by_text("did not accept that token")).to_be_visible()
        visit.page.keyboard.press("Escape")
        expect(visit.page.get_by_role("textbox", name="Token")).to_be_hidden()
        visit.ask(QUESTION)
        visit.page.get_by_role("textbox", name="Token").fill("s3cret")
        visit.button("Go on").click()
        visit.finished()
        visit.page.reload()
        expect(visit.find("#example-list button")).to_have_count(6)
        expect(visit.find("#corpus")).to_contain_text("science")


def test_a_server_that_says_no(visit: Visiting) -> None:
    visit = visit(is_refused=True)
    visit.page.get_by_text("Options and settings").click()
    visit.page.get_by_label("Answer options").fill("hot\ncold")
    with visit.page.expect_response("**/api/explain/stream") as answer:
        visit.ask("ice", "lukewarm")
    assert answer.value.status == 422
    expect(visit.page.get_by_role("alert")).to_contain_text("neither the letter nor the text")


def test_what_is_shown_outlives_a_failure(visit: Visiting) -> None:
    visit = visit("#id=science-001", is_refused=True)
    visit.finished()
    before, link = visit.cards(), visit.page.url

    def refuse(route: Route) -> None:
        route.abort()

    visit.page.route("**/api/explain/stream", refuse)
    visit.button("Edit").click()
    visit.ask("Why is ice cold?")
    expect(visit.page.get_by_role("alert")).to_contain_text("cannot be reached")
    assert visit.cards() == before
    assert visit.page.url == link
    visit.page.unroute("**/api/explain/stream")
    visit.select(2)
    visit.button("Remove").click()
    expect(visit.find("#removed li")).to_have_count(1)
    visit.finished()
    assert visit.cards()[0] == before[0]
    assert before[1] not in visit.cards()


def test_an_answer_given_by_its_letter_stays_the_same(visit: Visiting) -> None:
    visit = visit()
    visit.page.get_by_text("Options and settings").click()
    visit.page.get_by_label("Answer options").fill("O\nA\nB\nAB")
    visit.ask("Which blood type can melt ice?", "B")
    visit.finished()
    expect(visit.find("#right")).to_have_text("A")
    visit.button("Edit").click()
    with visit.page.expect_response("**/api/explain/stream"):
        visit.button("Explain").click()
    expect(visit.find("#asked")).to_be_visible()
    visit.finished()
    expect(visit.find("#right")).to_have_text("A")
