"""What a reader learns from the page: whether to trust a chain, why each fact is there, and when there is none."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from arcf.explainer import Explainer
from arcf.picture.verdict import expectation, in_words, verdict

QUESTION = "Which process turned the ice cube to water?"

Visiting = Callable[..., Any]


def occurrences(page: Page, text: str) -> int:
    """How often a text can be read: not in what is hidden, nor in what only listeners are told."""
    shown: str = page.evaluate(
        "() => document.body.innerText + [...document.querySelectorAll('textarea, input')]"
        ".filter(one => one.checkVisibility()).map(one => one.value).join(' ')"
    )
    return " ".join(shown.split()).count(text)


@pytest.mark.parametrize(
    ("bias", "level", "title"),
    [
        (2.0, "likely", "Probably a good explanation"),
        (-0.2, "possible", "Perhaps a good explanation: part of it is a guess"),
        (-1.0, "a-guess", "Weak: most of it is guesswork"),
        (-3.0, "none", "No good explanation found"),
    ],
)
def test_the_verdict_comes_first_and_in_words(
    sure_of: Callable[..., Explainer], serve: Visiting, bias: float, level: str, title: str
) -> None:
    explainer = sure_of(bias, max_facts=2)
    visit = serve(explainer, "#id=science-001")
    visit.finished()
    expect(visit.find("#verdict")).to_have_attribute("data-level", level)
    expect(visit.find("#verdict-title")).to_have_text(title)
    explanation = explainer.explain(explainer.dataset.question("science-001"))
    assert verdict(explanation) == title
    if explanation.facts:
        expect(visit.find("#verdict-detail")).to_have_text(expectation(explanation))
        above, below = (visit.find(name).bounding_box() for name in ("#verdict", "#graph"))
        assert above["y"] + above["height"] <= below["y"]
    visit.shoot(f"verdict-{level}")


def test_words_and_numbers_of_each_fact(sure_of: Callable[..., Explainer], serve: Visiting) -> None:
    explainer = sure_of(0.4)
    visit = serve(explainer, "#id=science-001")
    visit.finished()
    steps = explainer.explain(explainer.dataset.question("science-001")).chain.steps
    said = visit.find("#graph [data-uid]").evaluate_all("all => all.map(one => one.textContent)")
    for step, text in zip(steps, said, strict=True):
        assert f"{in_words(step.confidence or 0)}{step.confidence:.0%}" in text
    expect(visit.find(".reasons")).to_contain_text("it belongs to the explanation with a probability of 60%")


def test_the_page_and_files_use_the_same_words(visit: Visiting) -> None:
    probabilities = [place / 1000 + 0.0002 for place in range(1000)]
    found = visit().page.evaluate(
        "async (all) => { const { inWords, percent } = await import('/page/verdict.js');"
        " return all.map(one => [inWords(one), percent(one)]); }",
        probabilities,
    )
    assert found == [[in_words(one), f"{one:.0%}"] for one in probabilities]


def test_a_model_that_knows_no_probabilities_says_so(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    expect(visit.find("#verdict-title")).to_have_text("Not judged: nothing is known of how sure these facts are")


def test_bars_are_shares_of_one(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    visit.select(2)
    scores = [float(text) for text in visit.find(".bar-score").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 7  # the fact, five runners-up, the stop sample
    total = sum(map(math.exp, scores))
    for score, bar in zip(scores, visit.find(".bar").all(), strict=True):
        share = float(bar.evaluate("one => one.style.getPropertyValue('--share')").removesuffix("%"))
        assert share == pytest.approx(100 * math.exp(score) / total, abs=0.6)  # scores are rounded


@pytest.mark.parametrize("width", [390, 1280])
def test_question_and_answer_are_there_once(visit: Visiting, width: int) -> None:
    visit = visit(viewport={"width": width, "height": 900})
    visit.page.get_by_text("Options and settings").click()
    visit.page.get_by_label("Answer options").fill("freezing\nmeltingly")
    visit.ask("Which wondrous process turned the ice cube to water?", "meltingly")
    visit.finished()
    assert occurrences(visit.page, "Which wondrous process") == 1
    assert occurrences(visit.page, "meltingly") == 1
    assert occurrences(visit.page, "freezing") <= 1 + visit.find("#graph").inner_text().count("freezing")
    visit.button("Edit").click()
    assert occurrences(visit.page, "Which wondrous process") == 1


def test_a_question_that_is_asked_is_no_example(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    expect(visit.find("#example-list button:visible")).to_have_count(5)
    assert occurrences(visit.page, QUESTION) == 1
    visit.button("New question").click()
    expect(visit.find("#example-list button:visible")).to_have_count(6)


def test_a_fact_that_stopping_would_have_beaten_says_why(visit: Visiting) -> None:
    visit = visit(f"#q={QUESTION}&a=melting&min_facts=9")
    visit.finished()
    visit.select(9)
    reasons = visit.find(".reasons").inner_text()
    found = re.search(
        r"Stopping scored higher \(([\d.-]+) against ([\d.-]+)\), but the chain was to have at least 9", reasons
    )
    assert found is not None
    assert float(found[1]) >= float(found[2])
    visit.select(1)
    expect(visit.find(".reasons")).not_to_contain_text("Stopping")


def test_why_it_ends(sure_of: Callable[..., Explainer], serve: Visiting, visit: Visiting) -> None:
    stopped = visit("#id=science-001")
    stopped.finished()
    stopped.find("#graph [data-step]").last.click()
    stopped.told("Why it ends here")
    expect(stopped.find(".reasons")).to_have_text("Stopping scored higher than any further fact.")
    expect(stopped.find(".bars .stop.chosen .bar-text")).to_have_text("stop here")
    unsure = serve(sure_of(0.0), "#id=science-001")
    unsure.finished()
    unsure.find("#graph [data-step]").last.click()
    expect(unsure.find(".reasons")).to_contain_text("with a probability of 17% only")
    limited = visit("#id=science-001&max_facts=2")
    limited.finished()
    limited.find("#graph [data-step]").last.click()
    expect(limited.find(".reasons")).to_have_text("No longer chain is allowed.")


def test_the_reference_explanation_is_marked_and_counted(visit: Visiting, explainer: Explainer) -> None:
    visit = visit()
    visit.find("#example-list button").first.click()
    visit.finished()
    explanation = explainer.explain(explainer.dataset.question("science-001"))
    hits = sum(fact in explanation.gold for fact in explanation.chain.facts)
    expect(visit.find("#status")).to_contain_text(f"{hits} of the 6 facts of the reference explanation are here")
    expect(visit.find("#status")).to_contain_text("average precision of the ranking 0.")
    expect(visit.find("#graph [data-chip='gold']")).to_have_count(hits)


def test_the_chain_is_replayed(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    dimmed = visit.find("#graph [data-step][opacity]")
    expect(dimmed).to_have_count(0)
    visit.page.get_by_label("Step of the chain").focus()
    visit.page.keyboard.press("Home")
    visit.told("Why fact 1 is there")
    expect(dimmed).to_have_count(len(visit.cards()))
    visit.page.keyboard.press("ArrowRight")
    visit.told("Why fact 2 is there")
    visit.page.keyboard.press("End")
    visit.page.keyboard.press("ArrowLeft")
    visit.button("Replay how it was found").click()
    visit.told("Why it ends here")
    expect(visit.button("Replay how it was found")).to_be_visible()
    expect(dimmed).to_have_count(0)


def test_on_a_narrow_screen_details_come_into_view(visit: Visiting) -> None:
    visit = visit("#id=science-001", viewport={"width": 390, "height": 844}, has_touch=True)
    visit.finished()
    expect(visit.find("#inspector")).to_be_hidden()
    for step in (2, len(visit.cards())):
        card = visit.find(f"#graph [data-step='{step}']")
        card.tap()
        visit.told(f"Why fact {step} is there")
        expect(visit.find("#inspected h2")).to_be_in_viewport(ratio=1)
        box, sheet = card.bounding_box(), visit.find("#inspector").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= sheet["y"]
        visit.button("Close").tap()
        expect(visit.find("#inspector")).to_be_hidden()


def test_no_result_is_said_and_has_no_dead_controls(
    sure_of: Callable[..., Explainer], serve: Visiting, visit: Visiting
) -> None:
    nothing = visit("#q=zyx+wvu")
    nothing.finished()
    expect(nothing.find("#verdict-title")).to_have_text("No good explanation found")
    expect(nothing.find("#verdict-detail")).to_contain_text("No fact shares a word with the question.")
    for control in ("#graph", "#replay", "#toolbar", "#inspector", "#nearest", "#changes"):
        expect(nothing.find(control)).to_be_hidden()
    doubtful = serve(sure_of(-3.0), "#id=science-001")
    doubtful.finished()
    expect(doubtful.find("#verdict-detail")).to_contain_text(
        "The nearest fact would belong to it with a probability of 5%"
    )
    expect(doubtful.find("#nearest-list li")).to_have_count(5)
    for control in ("#graph", "#replay", "#toolbar", "#inspector"):
        expect(doubtful.find(control)).to_be_hidden()
    doubtful.shoot("none")
    doubtful.find("#nearest-list button").first.click()
    expect(doubtful.find("#graph [data-chip='pinned']")).to_have_count(1)
    doubtful.finished()
    expect(doubtful.find("#toolbar")).to_be_visible()
    expect(doubtful.find("#nearest")).to_be_hidden()


def test_long_answers_are_folded(visit: Visiting) -> None:
    visit = visit()
    visit.ask(QUESTION, "melting in the warm sun, " * 60)
    visit.finished()
    answered, folded = visit.find("#answered"), visit.find("#answered").bounding_box()["height"]
    assert folded < 150
    visit.button("Show all of it").click()
    assert answered.bounding_box()["height"] > folded


def test_long_questions_are_folded(visit: Visiting) -> None:
    visit = visit()
    long = "Ice was lying in the warm sun. " * 40 + "Which process turned it to water?"
    visit.ask(long, "melting")
    visit.finished()
    asked, folded = visit.find("#asked"), visit.find("#asked").bounding_box()["height"]
    visit.button("Show all of it").click()
    assert asked.bounding_box()["height"] > folded
    visit.button("Show less").click()
    assert asked.bounding_box()["height"] == folded
    visit.button("Edit").click()
    visit.ask(QUESTION, "melting")
    expect(asked).to_have_text(QUESTION)
    expect(visit.find("#unfold")).to_be_hidden()
    visit.finished()
