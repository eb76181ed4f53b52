"""The picture with the scores of every step, as one HTML page that needs nothing else and runs no script."""

from collections.abc import Collection, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element, SubElement, tostring

from arcf.explanation import Explanation
from arcf.picture.svg import picture
from arcf.picture.text import clean
from arcf.types import Candidate

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STOP = -1


def html_page(explanation: Explanation, gold: Collection[int] = ()) -> str:
    """The content of an HTML file; `gold` facts are marked."""
    question = explanation.chain.question
    root = Element("html", lang="en")
    root.append(_head(clean(question.stem)))
    body = SubElement(root, "body")
    SubElement(body, "h1", dir="auto").text = clean(question.stem)
    if question.answer:
        SubElement(body, "p", {"class": "answer"}, dir="auto").text = clean(question.answer)
    SubElement(body, "div", {"class": "picture"}).append(picture(explanation, gold))
    ending = explanation.ending()
    SubElement(body, "p", {"class": "ending"}).text = f"{ending[0].upper()}{ending[1:]}."
    SubElement(body, "h2").text = "How each fact was chosen"
    body.extend(_steps(explanation, gold))
    return f"<!doctype html>\n{tostring(root, encoding='unicode', method='html')}\n"


def _head(title: str) -> Element:
    head = Element("head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": POLICY})
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    SubElement(head, "title").text = title
    SubElement(head, "style").text = files("arcf.picture").joinpath("page.css").read_text(encoding="utf-8")
    return head


def _steps(explanation: Explanation, gold: Collection[int]) -> list[Element]:
    chain = explanation.chain
    steps = []
    for place, step in enumerate(chain.steps, start=len(chain.start) + 1):
        stop = [] if step.stop_score is None else [Candidate(STOP, step.stop_score)]
        text = f"{place}. {clean(explanation.corpus[step.chosen.fact].text)}"
        field = [step.chosen, *step.runners_up, *stop]
        steps.append(_step(explanation, text, field, step.chosen.fact, gold))
    if chain.stopped and chain.stop_score is not None:
        field = [Candidate(STOP, chain.stop_score), *chain.left_out]
        steps.append(_step(explanation, "Then it stopped", field, STOP, gold))
    return steps


def _step(
    explanation: Explanation, title: str, field: Sequence[Candidate], chosen: int, gold: Collection[int]
) -> Element:
    """One step, folded: every candidate with its score and a bar from the lowest to the highest."""
    details = Element("details")
    SubElement(details, "summary", dir="auto").text = title
    table = SubElement(details, "table")
    scores = [candidate.score for candidate in field]
    low, span = min(scores), max(scores) - min(scores) or 1.0
    for candidate in sorted(field, key=lambda one: (-one.score, one.fact != chosen)):
        kinds = ["chosen"] * (candidate.fact == chosen) + ["stop"] * (candidate.fact == STOP)
        row = SubElement(table, "tr", {"class": " ".join(kinds)})
        is_stop = candidate.fact == STOP
        text = SubElement(row, "td", dir="auto")
        text.text = "stop here" if is_stop else clean(explanation.corpus[candidate.fact].text)
        if candidate.fact in gold:
            SubElement(text, "span", {"class": "gold"}).text = " gold ✓"
        SubElement(row, "td", {"class": "score"}).text = f"{candidate.score:.2f}"
        share = 6 + 94 * (candidate.score - low) / span
        SubElement(SubElement(row, "td", {"class": "bar"}), "span", style=f"width: {share:.1f}%")
    return details
