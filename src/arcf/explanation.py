"""A found chain in the form in which people and programs read it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arcf.chain import Found
from arcf.types import Candidate, Chain, Fact, SeenFrom, Step

SOURCES_SHOWN = 3
"""In a small corpus nearly everything is seen from everything; the sources with the most shared words say enough."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """A chain together with the facts that its ids stand for, and what it took to find it.

    `longest` is the length that chains were allowed to have, `seconds` the time that the search took. `print` shows
    the facts in order, each with its score and where it was seen from; `record` is the same for JSON.
    """

    found: Found = field(repr=False)
    corpus: Sequence[Fact] = field(repr=False)
    longest: int
    seconds: float

    @property
    def chain(self) -> Chain:
        """The chain, by fact ids."""
        return self.found.chain

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the chain, in order."""
        return tuple(self.corpus[fact] for fact in self.chain.facts)

    def __str__(self) -> str:
        question = self.chain.question
        head = f"{question.stem} -> {question.answer}" if question.answer else question.stem
        given = [f"{place:2}. (given) {self.corpus[fact].text}" for place, fact in enumerate(self.chain.start, start=1)]
        chosen = [
            f"{place:2}. {step.chosen.score:6.2f}  {self.corpus[step.chosen.fact].text}\n{'':12}{self.origin(step)}"
            for place, step in enumerate(self.chain.steps, start=len(given) + 1)
        ]
        return "\n".join([head, *given, *chosen, self.ending()])

    def origin(self, step: Step) -> str:
        """Where a chosen fact was seen from, in words: `from the question (ice), 2 (solid)`."""
        shown = self.sources(step)
        places = {fact: place for place, fact in enumerate(self.chain.facts, start=1)}
        parts = [
            ("the question" if seen.source is None else str(places[seen.source]))
            + (f" ({', '.join(seen.words)})" if seen.words else "")
            for seen in shown
        ]
        more = len(step.seen_from) - len(shown)
        return "from " + ", ".join(parts) + (f" and {more} more" if more else "")

    def sources(self, step: Step) -> tuple[SeenFrom, ...]:
        """The sources of a fact that share the most words with it, in chain order."""
        best = sorted(range(len(step.seen_from)), key=lambda place: -len(step.seen_from[place].words))
        return tuple(step.seen_from[place] for place in sorted(best[:SOURCES_SHOWN]))

    def ending(self) -> str:
        """Why the chain ends where it does, in words."""
        chain = self.chain
        if not chain.facts:
            return "no fact shares a word with the question"
        if not chain.stopped:
            why = "no longer chain is allowed" if len(chain.facts) >= self.longest else "no other fact is visible"
            return f"ended after {_count(len(chain.facts), 'fact')}: {why}"
        against = f", the next fact scores {chain.left_out[0].score:.2f}" if chain.left_out else ""
        return f"stopped after {_count(len(chain.facts), 'fact')}: stopping scores {chain.stop_score:.2f}{against}"

    def record(self) -> dict[str, Any]:
        """The explanation as plain values; facts by uid."""
        chain = self.chain
        question = {"id": chain.question.id} if chain.question.id else {}
        given = [{**self._named(fact), "given": True} for fact in chain.start]
        return {
            **question,
            "question": chain.question.stem,
            "answer": chain.question.answer,
            "facts": [*given, *(self._step(step) for step in chain.steps)],
            "stopped": chain.stopped,
            "stop_score": chain.stop_score,
            "left_out": [self._candidate(candidate) for candidate in chain.left_out],
            "considered": self.found.considered,
            "scorings": self.found.scorings,
            "seconds": round(self.seconds, 4),
        }

    def _step(self, step: Step) -> dict[str, Any]:
        return {
            **self._candidate(step.chosen),
            "seen_from": [
                {"source": None if seen.source is None else self.corpus[seen.source].uid, "words": list(seen.words)}
                for seen in step.seen_from
            ],
            "runners_up": [self._candidate(candidate) for candidate in step.runners_up],
            "stop_score": step.stop_score,
        }

    def _candidate(self, candidate: Candidate) -> dict[str, Any]:
        return {**self._named(candidate.fact), "score": candidate.score}

    def _named(self, fact: int) -> dict[str, str]:
        return {"uid": self.corpus[fact].uid, "text": self.corpus[fact].text}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
