"""What the cards of a picture say."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from arcf.explanation import Explanation
from arcf.picture.text import clean
from arcf.picture.verdict import expectation, in_words, verdict
from arcf.types import SeenFrom, Step

Kind = Literal["question", "fact", "stop"]
#: Font size and line height of each style of text.
SIZES: dict[str, tuple[int, int]] = {
    "question": (20, 27), "answer": (20, 27), "verdict": (14, 24), "root": (14, 22), "fact": (15, 22), "stop": (14, 22),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact was found from: the place of a card (0 is the question), and the shared words."""

    place: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """It in words: `fact 1: solid`."""
        name = f"fact {self.place}" if self.place else "question"
        return f"{name}: {', '.join(self.words)}" if self.words else f"near {'the ' * (not self.place)}{name}"


@dataclass(frozen=True, slots=True)
class Chip:
    """A short mark below a fact's text; `source` is the place of the card that it names, if it names one."""

    kind: Literal["source", "pinned", "gold"]
    text: str
    source: int = 0


@dataclass(frozen=True, slots=True)
class Content:
    """What a card says: texts with their styles, how sure it is (word and number), and where it was found from."""

    kind: Kind
    texts: tuple[tuple[str, str], ...]
    worth: tuple[str, str] | None = None
    is_gold: bool = False
    is_pinned: bool = False
    sources: tuple[Origin, ...] = ()

    @property
    def chips(self) -> tuple[Chip, ...]:
        """Its marks, in order."""
        return (
            *([Chip("pinned", "pinned")] if self.is_pinned else ()),
            *(Chip("source", source.text, source.place) for source in self.sources),
            *([Chip("gold", "reference ✓")] if self.is_gold else ()),
        )


def contents(explanation: Explanation, gold: Collection[int] = (), is_alone: bool = True) -> list[Content]:
    """What the cards of a chain say: the question, the facts, and why it ends.

    A picture that `is_alone` says the question and the verdict itself; beside others, it only shows where they are.
    """
    chain, corpus = explanation.chain, explanation.corpus
    places = {fact: place for place, fact in enumerate(chain.facts, start=1)}

    def fact(uid: int, seen: Sequence[SeenFrom], step: Step | None = None) -> Content:
        sources = tuple(
            Origin(0 if one.source is None else places[one.source], tuple(map(clean, one.words))) for one in seen
        )
        text = (("fact", clean(corpus[uid].text)),)
        return Content("fact", text, _worth(step), uid in gold, step is None, sources)

    cards = [Content("question", _asked(explanation) if is_alone else (("root", _root(explanation)),))]
    cards += [fact(given, ()) for given in chain.start]
    cards += [fact(step.chosen.fact, explanation.sources(step), step) for step in chain.steps]
    return [*cards, Content("stop", (("stop", _end(explanation)),))] if chain.facts else cards


def _asked(explanation: Explanation) -> tuple[tuple[str, str], ...]:
    question = explanation.chain.question
    judged = f"{verdict(explanation)}. {expectation(explanation)}".strip()
    texts = (("question", clean(question.stem)), ("answer", clean(question.answer)), ("verdict", judged))
    return tuple((style, text) for style, text in texts if text)


def _root(explanation: Explanation) -> str:
    return "Question and answer" if explanation.chain.question.answer else "Question"


def _worth(step: Step | None) -> tuple[str, str] | None:
    if step is None:
        return None
    if step.confidence is None:
        return f"{step.chosen.score:.2f}", "score"
    return in_words(step.confidence), f"{step.confidence:.0%}"


def _end(explanation: Explanation) -> str:
    """Why the chain ends, in plain words."""
    chain = explanation.chain
    if chain.unsure:
        return f"Ends here: the next fact is too doubtful ({chain.next_confidence:.0%})"
    if chain.stopped:
        return "Ends here: no further fact is better than stopping"
    return f"Ends here: {explanation.ending().partition(': ')[2]}"
