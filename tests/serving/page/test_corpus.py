"""Looking around in the corpus: examples of its own, a search, and how to bring facts along."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import expect

from arcf.explainer import Explainer

FACTS = [
    "yeast makes bread rise",
    "bread is made of flour and yeast",
    "hot water kills yeast",
    "flour is ground wheat",
    "wheat is a kind of grass",
    "grass needs rain",
    "rain is a kind of water",
    "yeast eats sugar",
]

Visiting = Callable[..., Any]


@pytest.fixture
def own(corpus_of: Callable[[Sequence[str]], Explainer], serve: Visiting) -> Any:
    return serve(corpus_of(FACTS))


def test_a_corpus_without_questions_offers_its_facts(own: Any) -> None:
    examples = own.find("#example-list button")
    expect(examples).to_have_count(6)
    expect(examples.first).to_have_text("What explains that yeast makes bread rise?")
    example = "For example: What explains that yeast makes bread rise?"
    expect(own.find("#question")).to_have_attribute("placeholder", example)
    own.button("Other examples").click()
    expect(examples.first).to_have_text("What explains that rain is a kind of water?")
    examples.nth(1).click()
    expect(own.find("#asked")).to_have_text("What explains that yeast eats sugar?")
    own.finished()
    assert own.cards()
    assert "f7" not in own.cards()  # a fact does not explain itself
    expect(own.find("#removed li")).to_contain_text("yeast eats sugar")


def test_facts_are_searched_and_explained(own: Any) -> None:
    expect(own.find("#browser")).to_have_attribute("open", "")
    expect(own.find("#fact-list li")).to_have_count(len(FACTS))
    expect(own.find("#pages")).to_be_hidden()
    own.find("#query").fill("wheat")
    expect(own.find("#found")).to_have_text("2 facts, nearest first")
    own.find("#query").fill("zyx")
    expect(own.find("#found")).to_have_text("No fact shares a word with “zyx”.")
    expect(own.find("#fact-list li")).to_have_count(0)
    own.find("#query").fill("grass")
    own.page.get_by_role("button", name="Explain: wheat is a kind of grass").click()
    expect(own.find("#asked")).to_have_text("What explains that wheat is a kind of grass?")
    own.finished()
    own.find("#query").fill("rain")
    own.page.get_by_role("button", name="Pin: grass needs rain").click()
    expect(own.find("#graph [data-chip='pinned']")).to_have_count(1)
    own.finished()
    assert own.cards()[0] == "f5"
    expect(own.find("#asked")).to_be_focused()
    expect(own.page.get_by_role("button", name="Pin: grass needs rain")).to_have_count(0)


def test_the_page_says_how_to_bring_facts(own: Any) -> None:
    expect(own.find("#browser")).to_contain_text("arcf serve --facts FILE")


def test_pages_of_facts(visit: Visiting) -> None:
    visit = visit()
    visit.find("#corpus").click()
    expect(visit.find("#query")).to_be_focused()
    expect(visit.find("#fact-list li")).to_have_count(10)
    first = visit.find("#fact-list li").first.inner_text()
    expect(visit.button("Previous")).to_be_disabled()
    visit.button("Next").click()
    expect(visit.find("#page")).to_contain_text("Page 2 of ")
    assert visit.find("#fact-list li").first.inner_text() != first
    visit.button("Previous").click()
    expect(visit.find("#fact-list li").first).to_have_text(first.replace("\n", ""))


def test_facts_opened_before_the_server_told_of_them_stay_open(visit: Visiting) -> None:
    visit, held = visit(), []
    visit.page.route("**/api/info", lambda route: held.append(route))
    visit.page.reload(wait_until="domcontentloaded")
    visit.find("#corpus").click()
    expect(visit.find("#fact-list li")).to_have_count(10)
    for one in held:
        one.continue_()
    expect(visit.find("#example-list button")).to_have_count(6)
    expect(visit.button("Next")).to_be_enabled()


def test_an_empty_corpus(corpus_of: Callable[[Sequence[str]], Explainer], serve: Visiting) -> None:
    visit = serve(corpus_of(["moss"]))
    expect(visit.find("#example-list button")).to_have_count(1)
    visit.find("#example-list button").click()
    visit.finished()
    expect(visit.find("#verdict-title")).to_have_text("No good explanation found")


def test_what_makes_too_long_a_question_is_not_offered(
    corpus_of: Callable[[Sequence[str]], Explainer], serve: Visiting
) -> None:
    long, longer = "yeast " * 30, "yeast " * 400
    own = serve(corpus_of([longer, long, *FACTS[:6]]))
    expect(own.find("#example-list button")).to_have_count(5)
    placeholder = own.find("#question").get_attribute("placeholder")
    assert placeholder.startswith("For example: What explains that yeast yeast")
    assert len(placeholder.removeprefix("For example: ")) == 120
    expect(own.find("#fact-list li")).to_have_count(8)
    expect(own.find("#fact-list").get_by_role("button", name="Explain")).to_have_count(7)


def test_a_double_click_shows_the_next_examples(visit: Visiting) -> None:
    visit = visit()
    examples = visit.find("#example-list button")
    first = examples.first.get_attribute("data-id")
    held = visit.hold("api/questions*")
    visit.button("Other examples").dblclick()
    held.wait(2)
    for one in held.routes:
        with visit.page.expect_response("**/api/questions*"):
            one.continue_()
    expect(visit.find(f"#example-list [data-id='{first}']")).to_have_count(0)
    visit.page.unroute("**/api/questions*")
    with visit.page.expect_request("**/api/questions*") as request:
        visit.button("Other examples").click()
    assert request.value.url.endswith("page=3")


def test_what_went_wrong_is_told_beside_the_facts(visit: Visiting) -> None:
    visit = visit(is_refused=True)
    visit.refuse("api/facts*")
    visit.find("#corpus").click()
    expect(visit.find("#found")).to_have_text("The server is busy; try again in 7 s.")
    expect(visit.find("#notice")).to_be_hidden()
    visit.relent("api/facts*")
    visit.find("#query").fill("ice cube")
    expect(visit.find("#found")).to_contain_text("nearest first")
