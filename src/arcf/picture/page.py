"""The picture with the reasons for every step, as one HTML page that needs nothing else and runs no script."""

from collections.abc import Collection, Sequence
from importlib.resources import files
from math import exp
from xml.etree.ElementTree import Element, SubElement, tostring

from arcf.explanation import Explanation
from arcf.picture.faces import font_faces
from arcf.picture.svg import picture
from arcf.picture.text import clean
from arcf.picture.verdict import expectation, in_words, verdict, why_not_stopped
from arcf.types import Candidate, Step

POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:"
STOP = -1


def html_page(explanation: Explanation, gold: Collection[int] = ()) -> str:
    """The content of an HTML file; `gold` facts are marked."""
    question = explanation.chain.question
    root = Element("html", lang="en")
    root.append(_head(clean(question.stem)))
    body = SubElement(root, "body")
    SubElement(body, "h1", dir="auto").text = clean(question.stem)
    if question.answer:
        answer = SubElement(body, "p", {"class": "answer"})
        answer.text = "Answer "
        SubElement(answer, "strong", dir="auto").text = clean(question.answer)
    SubElement(body, "p", {"class": "verdict"}).text = verdict(explanation)
    ending = explanation.ending()
    told = f"{expectation(explanation)} {ending[0].upper()}{ending[1:]}."
    SubElement(body, "p", {"class": "numbers"}).text = told.strip()
    body.extend(_chain(explanation, gold) if explanation.chain.facts else _nearest(explanation))
    return f"<!doctype html>\n{tostring(root, encoding='unicode', method='html')}\n"


def shares(scores: Sequence[float]) -> list[float]:
    """What part of one each score has in their softmax: bars of raw scores would have no zero to start from."""
    best = max(scores)
    parts = [exp(score - best) for score in scores]
    return [part / sum(parts) for part in parts]


def _head(title: str) -> Element:
    head = Element("head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": POLICY})
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    SubElement(head, "title").text = title
    css = files("arcf.picture").joinpath("page.css").read_text(encoding="utf-8")
    SubElement(head, "style").text = f"{font_faces()}\n{css}"
    return head


def _chain(explanation: Explanation, gold: Collection[int]) -> list[Element]:
    frame = Element("div", {"class": "picture"})
    frame.append(picture(explanation, gold, is_alone=False))
    heading = Element("h2")
    heading.text = "Why each fact is there"
    hint = Element("p", {"class": "numbers"})
    hint.text = "Numbers are scores. The bars of a step show how the model's preference divides between them."
    return [frame, heading, hint, *_steps(explanation, gold)]


def _nearest(explanation: Explanation) -> list[Element]:
    """The facts that come nearest, where no chain was found."""
    if not explanation.chain.left_out:
        return []
    heading, nearest = Element("h2"), Element("ul")
    heading.text = "The nearest facts"
    for candidate in explanation.chain.left_out:
        SubElement(nearest, "li", dir="auto").text = clean(explanation.corpus[candidate.fact].text)
    return [heading, nearest]


def _steps(explanation: Explanation, gold: Collection[int]) -> list[Element]:
    chain, steps = explanation.chain, []
    for place, step in enumerate(chain.steps, start=len(chain.start) + 1):
        stop = [] if step.stop_score is None else [Candidate(STOP, step.stop_score)]
        title = f"{place}. {clean(explanation.corpus[step.chosen.fact].text)}"
        steps.append(_folded(title, _reasons(explanation, step)))
        field = [step.chosen, *step.runners_up, *stop]
        steps[-1].append(_bars(explanation, field, step.chosen.fact, gold))
    if chain.stop_score is not None:
        field = [Candidate(STOP, chain.stop_score), *chain.left_out]
        steps.append(_folded("Why it ends", f"{explanation.ending()}."))
        steps[-1].append(_bars(explanation, field, STOP if chain.stopped else None, gold))
    return steps


def _reasons(explanation: Explanation, step: Step) -> str:
    """Why a fact is there, in sentences."""
    probability, sure = step.confidence, ""
    if probability is not None:
        word = in_words(probability)
        sure = f"{word[0].upper()}{word[1:]}: it belongs to the explanation with a probability of {probability:.0%}."
    found = f"Found {clean(explanation.origin(step))}."
    return " ".join(filter(None, [sure, found, why_not_stopped(step, explanation.ranker.search.settings.min_facts)]))


def _folded(title: str, reasons: str) -> Element:
    details = Element("details")
    SubElement(details, "summary", dir="auto").text = title
    SubElement(details, "p").text = f"{reasons[0].upper()}{reasons[1:]}"
    return details


def _bars(explanation: Explanation, field: Sequence[Candidate], chosen: int | None, gold: Collection[int]) -> Element:
    """Every candidate of a step with its score, and its share of the model's preference as a bar."""
    table = Element("table")
    ordered = sorted(field, key=lambda one: (-one.score, one.fact != chosen))
    for candidate, share in zip(ordered, shares([one.score for one in ordered]), strict=True):
        is_stop = candidate.fact == STOP
        kinds = ["chosen"] * (candidate.fact == chosen) + ["stop"] * is_stop
        row = SubElement(table, "tr", {"class": " ".join(kinds)})
        text = SubElement(row, "td", dir="auto")
        text.text = "stop here" if is_stop else clean(explanation.corpus[candidate.fact].text)
        if candidate.fact in gold:
            text.text += " "
            SubElement(text, "span", {"class": "gold"}).text = "reference ✓"
        SubElement(row, "td", {"class": "score"}).text = f"{candidate.score:.2f}"
        SubElement(SubElement(row, "td", {"class": "bar"}), "span", style=f"width: {100 * share:.1f}%")
    return table
