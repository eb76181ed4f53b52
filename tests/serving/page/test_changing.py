"""Changing a chain in a real browser: pin, remove, put back, take instead; the new chain is shown whole."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

Visiting = Callable[..., Any]


def whole(visit: Any) -> None:
    """Nothing of the chain is dimmed, and all of it was found."""
    visit.finished()
    expect(visit.find("#graph [data-step][opacity]")).to_have_count(0)
    expect(visit.find("#graph [data-step]").last).to_contain_text("Ends here")


@pytest.fixture
def found(visit: Visiting) -> Any:
    visit = visit("#id=science-001")
    visit.finished()
    return visit


def test_a_runner_up_is_taken_instead_and_the_link_brings_it_back(found: Any, visit: Visiting) -> None:
    before = found.cards()
    found.select(2)
    other = found.find("button.bar-row").nth(1).get_attribute("data-uid")
    found.find(f"[data-uid='{other}'].bar-row").click()
    expect(found.find("#changed")).to_have_text("2 facts pinned")
    whole(found)
    after = found.cards()
    assert after[:2] == [before[0], other]
    found.told("Why fact 2 is there")
    expect(found.find(".reasons")).to_contain_text("Pinned: the chain begins with it")
    expect(found.find(".bar-score")).to_have_count(7)  # what was learned about the step is not forgotten
    again = visit(found.page.url.removeprefix(found.page.url.partition("#")[0]))
    whole(again)
    assert again.cards() == after
    found.button("Undo all").click()
    expect(found.find("#changes")).to_be_hidden()
    whole(found)
    assert found.cards() == before
    found.page.go_back()
    expect(found.find("#changes")).to_be_visible()
    whole(found)
    assert found.cards() == after


def test_a_removed_fact_is_put_back(found: Any, visit: Visiting) -> None:
    before = found.cards()
    found.select(3)
    text = found.find(".chosen .bar-text").evaluate("one => one.firstChild.data")
    found.button("Remove").click()
    expect(found.find("#removed li")).to_contain_text(text)
    whole(found)
    assert before[2] not in found.cards()
    assert found.cards()[:2] == before[:2]
    expect(found.find("#graph [data-chip='pinned']")).to_have_count(0)  # nothing that the reader did not pin
    found.shoot("removed")
    again = visit(found.page.url.removeprefix(found.page.url.partition("#")[0]))
    expect(again.find("#removed li")).to_contain_text(text)  # not its uid
    put_back = found.find("#removed").get_by_text("Put back")
    expect(put_back).to_be_in_viewport()
    put_back.click()
    expect(found.find("#changes")).to_be_hidden()
    whole(found)
    assert found.cards() == before


def test_a_removed_fact_can_be_taken_all_the_same(found: Any) -> None:
    before = found.cards()
    found.select(1)
    found.find(f"button.bar-row[data-uid='{before[1]}']").wait_for()
    found.select(2)
    found.button("Remove").click()
    expect(found.find("#removed li")).to_have_count(1)
    whole(found)
    found.find("#browser").evaluate("one => one.open = true")
    found.find("#query").fill("ice cube block of frozen water")
    found.find("#fact-list li").filter(has_text="ice cube").get_by_role("button", name="Pin").first.click()
    expect(found.find("#changed")).to_contain_text("1 fact pinned")
    whole(found)


def test_pinned_is_the_one_word_and_has_a_mark(found: Any) -> None:
    before = found.cards()
    found.find(f"#graph [data-uid='{before[-1]}']").click()
    found.button("Pin").click()
    expect(found.find("#graph [data-step='1']")).to_have_attribute("data-uid", before[-1])
    whole(found)
    mark = found.find("#graph [data-step='1'] [data-chip='pinned']")
    expect(mark).to_contain_text("pinned")
    expect(mark.locator("path")).to_have_count(1)
    assert "Pinned." in found.find("#graph [data-step='1']").get_attribute("aria-label")
    expect(found.find("#changed")).to_have_text("1 fact pinned")
    shown = found.page.evaluate("() => document.body.innerText").lower()
    assert not any(word in shown for word in (" kept", "given", "put here"))
    found.button("Unpin").click()
    expect(found.find("#changes")).to_be_hidden()
    whole(found)
    assert found.cards() == before


def test_changes_outlive_other_settings(found: Any) -> None:
    removed = found.cards()[0]
    found.button("Remove").click()
    expect(found.find("#removed li")).to_have_count(1)
    whole(found)
    found.button("Edit").click()
    found.find("#more summary").click()
    found.find("#k").fill("200")
    with found.page.expect_response("**/api/explain/stream"):
        found.button("Explain").click()
    expect(found.find("#asked")).to_be_visible()
    whole(found)
    expect(found.find("#removed li")).to_have_count(1)
    assert removed not in found.cards()
    assert "k=200" in found.page.url
    found.button("Edit").click()
    found.ask("Why is ice cold?")
    expect(found.find("#changes")).to_be_hidden()
    whole(found)


def test_on_a_narrow_screen_the_new_chain_is_in_view(visit: Visiting) -> None:
    visit = visit("#id=science-001", viewport={"width": 390, "height": 844}, has_touch=True)
    visit.finished()
    visit.find("#graph [data-step='2']").tap()
    visit.button("Remove").tap()
    expect(visit.find("#removed li")).to_have_count(1)
    whole(visit)
    expect(visit.find("#inspector")).to_be_hidden()
    box, chain = visit.find("#changes").bounding_box(), visit.find("#graph").bounding_box()
    assert box["y"] + box["height"] <= chain["y"]
