"""While the page loads, and when it could not: nothing that is typed is lost, and nothing is dead."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import expect

from arcf.explainer import Explainer
from arcf.serving import ServingSettings

QUESTION = "Which process turned the ice cube to water?"

Visiting = Callable[..., Any]


def test_what_is_typed_while_the_page_loads_stays(visit: Visiting) -> None:
    visit = visit()
    scripts = visit.hold("page/verdict.js")
    visit.page.reload(wait_until="commit")
    visit.page.get_by_label("Question", exact=True).fill(QUESTION)
    expect(visit.button("Explain")).to_be_disabled()
    scripts.release()
    expect(visit.find("#example-list button")).to_have_count(6)
    expect(visit.find("#question")).to_have_value(QUESTION)
    visit.button("Explain").click()
    visit.finished()


def test_scripts_are_fetched_at_once(visit: Visiting) -> None:
    hrefs = (
        visit()
        .find("link[rel='modulepreload'], script")
        .evaluate_all("all => all.map(one => one.getAttribute('href') ?? one.getAttribute('src'))")
    )
    scripts = [one.name for one in files("arcf.serving").joinpath("page").iterdir() if one.name.endswith(".js")]
    assert hrefs[-1] == "page/app.js"
    assert sorted(hrefs) == sorted(f"page/{name}" for name in scripts)


def test_a_setting_out_of_range_is_shown(visit: Visiting) -> None:
    visit = visit("#q=ice&k=5000", is_refused=True)
    expect(visit.find("#notice")).to_contain_text("at most 1000")
    expect(visit.find("#k")).to_be_visible()
    visit.find("#more summary").click()
    visit.button("Explain").click()
    expect(visit.find("#k")).to_be_focused()
    visit.find("#k").fill("500")
    visit.button("Explain").click()
    visit.finished()


@pytest.mark.parametrize("token", ["s\u00e9cret", "\u0441\u0435\u043a\u0440\u0435\u0442", "two words"])
def test_what_cannot_be_a_token_is_refused(
    explainer: Explainer, running: Visiting, visit: Visiting, token: str
) -> None:
    with running(explainer, ServingSettings(token="s3cret")) as address:
        visit = visit(base=address, is_refused=True)
        box = visit.page.get_by_role("textbox", name="Token")
        box.fill(token)
        visit.button("Go on").click()
        expect(visit.page.get_by_text("did not accept that token")).to_be_visible()
        box.fill(" s3cret\u200b")
        visit.button("Go on").click()
        expect(visit.find("#example-list button")).to_have_count(6)
        visit.page.evaluate("token => sessionStorage.setItem('arcf-token', token)", token)
        visit.page.reload()
        expect(box).to_be_visible()


def test_what_the_server_has_is_told_later(explainer: Explainer, running: Visiting, visit: Visiting) -> None:
    with running(explainer, ServingSettings(token="s3cret")) as address:
        visit = visit(base=address, is_refused=True)
        expect(visit.page.get_by_role("textbox", name="Token")).to_be_visible()
        visit.page.keyboard.press("Escape")
        visit.ask(QUESTION)
        visit.page.get_by_role("textbox", name="Token").fill("s3cret")
        visit.button("Go on").click()
        visit.finished()
        expect(visit.find("#corpus")).to_contain_text("science")
        expect(visit.find("#example-list button")).to_have_count(6)


@pytest.mark.parametrize(
    "link", ["#q=Why+does+ice+melt%3F&a=heat&start=kindof-001&without=kindof-002", "#id=science-001&start=kindof-001"]
)
def test_a_link_is_tried_again(visit: Visiting, link: str) -> None:
    visit = visit(is_refused=True)
    visit.refuse()
    visit.page.goto(visit.page.url + link)
    expect(visit.find("#notice")).to_contain_text("busy")
    visit.relent()
    visit.button("Try again").click()
    visit.finished()
    expect(visit.find("#notice")).to_be_hidden()
    expect(visit.find("#asked")).to_be_focused()
    assert visit.cards()[0] == "kindof-001"
    assert visit.page.url.endswith(link)
    assert visit.page.evaluate("() => history.length") == 3  # the blank tab, the page, the link


def test_what_would_fail_again_is_not_tried_again(visit: Visiting) -> None:
    visit = visit("#id=no-such-question", is_refused=True)
    expect(visit.find("#notice")).to_contain_text("no-such-question")
    expect(visit.find("#retry")).to_be_hidden()


def test_a_link_that_was_refused_keeps_its_changes(visit: Visiting) -> None:
    visit = visit(is_refused=True)
    visit.refuse()
    visit.page.goto(visit.page.url + "#q=Why+does+ice+melt%3F&a=heat&without=kindof-002&start=kindof-001")
    expect(visit.find("#notice")).to_contain_text("busy")
    visit.relent()
    visit.button("Explain").click()
    expect(visit.find("#changed")).to_have_text("1 fact pinned, 1 fact removed")
    visit.finished()
