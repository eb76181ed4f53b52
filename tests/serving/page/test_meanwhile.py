"""Between asking and the answer: what the reader does meanwhile counts, and what is shown stays what it is."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

QUESTION = "Why does ice melt?"
OTHER = "Why is ice cold?"

Visiting = Callable[..., Any]


@pytest.fixture
def found(visit: Visiting) -> Any:
    visit = visit("#q=Why+does+ice+melt%3F&a=heat", is_refused=True, permissions=["clipboard-read", "clipboard-write"])
    visit.finished()
    return visit


def link_of(visit: Any) -> str:
    visit.page.evaluate("() => navigator.clipboard.writeText('')")
    visit.button("Copy link").click()
    visit.page.wait_for_function("async () => await navigator.clipboard.readText() !== ''")
    text: str = visit.page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_changes_add_up(found: Any) -> None:
    first, second, third = found.cards()[:3]
    held = found.hold()
    for step in (1, 2):
        found.select(step)
        found.button("Remove").click()
    found.select(3)
    found.button("Pin").dblclick()
    held.release()
    expect(found.find("#changed")).to_have_text("1 fact pinned, 2 facts removed")
    found.finished()
    assert found.cards()[0] == third
    assert not {first, second} & set(found.cards())


def test_a_fact_taken_instead_does_not_bring_back_a_removed_one(found: Any) -> None:
    first, held = found.cards()[0], found.hold()
    found.select(1)
    found.button("Remove").click()
    found.select(2)
    other = found.find("button.bar-row").first.get_attribute("data-uid")
    found.find("button.bar-row").first.click()
    held.release()
    found.finished()
    assert found.cards()[0] == other
    assert first not in found.cards()


def test_a_change_that_failed_is_not_built_on(found: Any) -> None:
    first, second = found.cards()[:2]
    found.refuse()
    found.button("Remove").click()
    expect(found.find("#notice")).to_contain_text("busy")
    found.relent()
    found.select(2)
    found.button("Remove").click()
    expect(found.find("#changed")).to_have_text("1 fact removed")
    found.finished()
    assert found.cards()[0] == first
    assert second not in found.cards()


def test_what_is_typed_meanwhile_stays(found: Any) -> None:
    first, held = found.cards()[0], found.hold()
    found.button("Pin").click()
    found.button("Edit").click()
    found.page.keyboard.press("Control+A")
    found.page.keyboard.type(OTHER)
    held.release()
    expect(found.find("#changed")).to_have_text("1 fact pinned")
    found.finished()
    expect(found.find("#question")).to_have_value(OTHER)
    expect(found.find("#question")).to_be_focused()
    expect(found.find("#asked")).to_be_hidden()
    found.find("#question").fill(QUESTION)
    found.button("Explain").click()
    expect(found.find("#asked")).to_be_visible()
    expect(found.find("#changed")).to_have_text("1 fact pinned")
    found.finished()
    assert found.cards()[0] == first


def test_a_form_that_was_opened_meanwhile_stays_open(found: Any) -> None:
    held = found.hold()
    found.button("Remove").click()
    found.button("Edit").click()
    held.release()
    found.finished()
    expect(found.find("#question")).to_be_focused()


def test_the_focus_stays_where_the_reader_went(visit: Visiting) -> None:
    visit = visit()
    held = visit.hold()
    visit.ask(QUESTION, "heat")
    visit.find("#corpus").click()
    expect(visit.find("#fact-list li")).to_have_count(10)
    held.release()
    visit.finished()
    expect(visit.find("#query")).to_be_focused()


def test_an_old_request_tells_nothing_of_a_new_one(visit: Visiting) -> None:
    visit = visit(is_refused=True)
    facts = visit.hold("api/facts/no-such?k=0")
    visit.page.goto(visit.page.url + "#q=Why+does+ice+melt%3F&start=no-such")
    facts.wait()
    held = visit.hold()
    visit.ask(OTHER)
    held.wait()
    with visit.page.expect_response("**/api/facts/no-such?k=0"):
        facts.release()
    held.release()
    visit.finished()
    expect(visit.find("#asked")).to_have_text(OTHER)
    expect(visit.find("#notice")).to_be_hidden()


@pytest.mark.parametrize("how", ["cancelled", "refused"])
def test_the_link_is_that_of_what_is_shown(found: Any, how: str) -> None:
    found.button("Edit").click()
    found.ask(OTHER)
    expect(found.find("#asked")).to_have_text(OTHER)
    found.finished()
    link = found.page.url
    if how == "refused":
        found.refuse()
    else:
        found.hold()
    found.page.go_back()
    if how == "refused":
        expect(found.find("#notice")).to_contain_text("busy")
    else:
        assert link_of(found) == link
        found.button("Cancel").click()
    expect(found.find("#cancel")).to_be_hidden()
    expect(found.find("#asked")).to_have_text(OTHER)
    assert found.page.url == link
    assert link_of(found) == link


def test_after_cancel_the_focus_is_on_what_is_shown(found: Any) -> None:
    held = found.hold()
    found.button("Remove").click()
    held.wait()
    found.button("Cancel").focus()
    found.page.keyboard.press("Enter")
    expect(found.find("#asked")).to_be_focused()
    found.button("New question").click()
    found.ask(OTHER)
    held.wait(2)
    found.button("Cancel").focus()
    found.page.keyboard.press("Enter")
    expect(found.find("#question")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1280])
def test_what_went_wrong_is_in_view(visit: Visiting, width: int) -> None:
    visit = visit("#id=science-001", viewport={"width": width, "height": 700}, is_refused=True)
    visit.finished()
    visit.find("#corpus").click()
    visit.refuse()
    visit.find("#fact-list").get_by_role("button", name="Explain").nth(3).click()
    expect(visit.find("#notice")).to_be_in_viewport(ratio=1)
