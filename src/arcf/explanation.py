"""A found chain in the form in which people and programs read it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Self

from arcf.account import GOLD, Account, Line, numbered
from arcf.chain import ChainSearch, SearchResult
from arcf.display import shown
from arcf.errors import SettingError
from arcf.rankers import Autoregressive
from arcf.types import Candidate, Chain, Dataset, Fact, Question, RankedFact, SeenFrom, Step

SOURCES_SHOWN = 3
"""In a small corpus nearly everything is seen from everything; the sources with the most shared words say enough."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """A chain together with the facts that its ids stand for, and what it took to find it.

    `seconds` is the time that the search took. `print` shows the facts in order, each with how sure it is (its score,
    for a model without calibration) and where it was seen from; `to_dict` is the same for JSON; `ranking` goes on with
    all other facts. That searches once more, for longer, unless the search was `whole`. The chain has none of the facts
    `excluded`.
    """

    found: SearchResult
    dataset: Dataset
    ranker: Autoregressive
    seconds: float
    excluded: tuple[int, ...] = ()

    @property
    def chain(self) -> Chain:
        """The chain, by fact ids."""
        return self.found.chain

    @property
    def corpus(self) -> Sequence[Fact]:
        """The facts that ids stand for."""
        return self.dataset.facts

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the chain, in order."""
        return tuple(self.corpus[fact] for fact in self.chain.facts)

    @property
    def gold(self) -> tuple[int, ...]:
        """The ids of the question's gold facts, where they are known."""
        return self.dataset.gold_ids(self.chain.question)

    @property
    def confidence(self) -> float | None:
        """The share of the chain's facts that can be expected to belong to the explanation; see `Chain.confidence`."""
        return self.chain.confidence

    @property
    def average_precision(self) -> float | None:
        """That of the ranking of all facts, by the official rule; None for a question without gold."""
        from arcf.evaluation.judgement import judge_ranking

        if not self.gold:
            return None
        return judge_ranking(self.chain.question, [fact.uid.lower() for fact in self.ranking()]).average_precision

    def ranking(self, top_k: int | None = None) -> tuple[RankedFact, ...]:
        """The `top_k` best facts of the corpus, best first: the chain's, what was scored beside them, then the rest.

        Raises:
            SettingError: there is no such number of facts.
        """
        if top_k is not None and top_k < 0:
            raise SettingError(f"The number of facts (top_k) is at least 0, not {top_k}.")
        return self.ranker.ranking(self._whole).top(top_k).named(self.corpus)

    @cached_property
    def _whole(self) -> SearchResult:
        """What a search finds that does not end with the explanation."""
        settings = self.ranker.search.settings
        if settings.whole or settings.num_beams > 1:
            return self.found
        search = self.ranker.with_settings(replace(settings, whole=True)).search
        return search.find(self.chain.question, self.chain.start, self.excluded)

    def __repr__(self) -> str:
        question, uids = self.chain.question.query(), [fact.uid for fact in self.facts]
        return f"Explanation(question={question!r}, facts={uids}, confidence={self.confidence})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: nothing of it changes, and its model cannot be copied."""
        return self

    def __str__(self) -> str:
        question = self.chain.question
        head = f"{shown(question.stem)} -> {shown(question.answer)}" if question.answer else shown(question.stem)
        texts = [shown(fact.text) for fact in self.facts]
        given = [f"{place:2}. (given) {text}" for place, text in enumerate(texts[: len(self.chain.start)], start=1)]
        chosen = [
            f"{place:2}. {worth(step):>6}  {texts[place - 1]}\n{'':12}{shown(self.origin(step))}"
            for place, step in enumerate(self.chain.steps, start=len(given) + 1)
        ]
        return "\n".join([head, *given, *chosen, self.ending(), *self.nearest()])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.account().html()

    def to_markdown(self, top_k: int = 0) -> str:
        """The explanation as Markdown; with `top_k`, a list of so many facts of its ranking as well."""
        ranked = numbered(fact.text for fact in self.ranking(top_k)) if top_k else ""
        return self.account().markdown() + (f"\nRanking:\n\n{ranked}\n" if ranked else "")

    def account(self) -> Account:
        """What people are told of the explanation, in words."""
        gold, texts = set(self.gold), [fact.text for fact in self.facts]
        worths = [("given", "")] * len(self.chain.start) + [
            (worth(step), self.origin(step)) for step in self.chain.steps
        ]
        lines = [
            Line(text, how_sure, origin, fact in gold)
            for fact, text, (how_sure, origin) in zip(self.chain.facts, texts, worths, strict=True)
        ]
        return Account(self.chain.question, tuple(lines), tuple(self.closing()))

    def closing(self) -> list[str]:
        """How sure the chain is, why it ends where it does, the nearest facts where it has none, and gold's part."""
        sure, gold, chain = self.confidence, set(self.gold), self.chain
        hit, which = len(gold.intersection(chain.facts)), "the facts that were chosen" if chain.start else "these facts"
        return [
            *([f"{sure:.0%} of {which} can be expected to explain the answer"] if sure is not None else []),
            self.ending(),
            *self.nearest(),
            *([f"{GOLD} in the gold explanation: {hit} of its {len(gold)} facts are in the chain"] if gold else []),
        ]

    def nearest(self) -> list[str]:
        """The facts that come nearest to an explanation where none was found, as lines."""
        if self.chain.facts or not self.chain.left_out:
            return []
        near = [(candidate.score, shown(self.corpus[candidate.fact].text)) for candidate in self.chain.left_out]
        return ["the nearest facts:", *(f"{score:10.2f}  {text}" for score, text in near)]

    def origin(self, step: Step) -> str:
        """Where a chosen fact was seen from, in words: `from the question (ice), 2 (solid)`."""
        sources = self.sources(step)
        places = {fact: place for place, fact in enumerate(self.chain.facts, start=1)}
        parts = [
            ("the question" if seen.source is None else str(places[seen.source]))
            + (f" ({', '.join(seen.words)})" if seen.words else "")
            for seen in sources
        ]
        more = sum(seen.is_telling for seen in step.seen_from) - len(sources)
        return "from " + ", ".join(parts) + (f" and {more} more" if more > 0 else "")

    def sources(self, step: Step) -> tuple[SeenFrom, ...]:
        """The sources of a fact that share the most words with it, in chain order; by light words only if all are.

        Light words link facts of any two subjects ("kind", "used"): such a link explains nothing.
        """
        telling = [place for place, seen in enumerate(step.seen_from) if seen.is_telling]
        places = telling or range(len(step.seen_from))
        best = sorted(places, key=lambda place: -len(step.seen_from[place].words))
        return tuple(step.seen_from[place] for place in sorted(best[:SOURCES_SHOWN]))

    def ending(self) -> str:
        """Why the chain ends where it does, in words."""
        chain = self.chain
        if chain.unsure:
            return self._doubt()
        if not chain.facts and not self.found.considered:
            return "no other fact is visible" if self.excluded else "no fact shares a word with the question"
        if not chain.stopped:
            at_limit = len(chain.facts) >= self.ranker.search.settings.max_facts
            why = "no longer chain is allowed" if at_limit else "no other fact is visible"
            return f"ended after {_count(len(chain.facts), 'fact')}: {why}"
        against = f", the next fact scores {chain.left_out[0].score:.2f}" if chain.left_out else ""
        return f"stopped after {_count(len(chain.facts), 'fact')}: stopping scores {chain.stop_score:.2f}{against}"

    def _doubt(self) -> str:
        """Why a chain ends before a fact that is too doubtful, in words."""
        chain = self.chain
        nearest = f"the {'next' if chain.facts else 'best'} fact belongs to it with {chain.next_confidence or 0.0:.0%}"
        if not chain.facts:
            return f"no good explanation found: {nearest}"
        return f"ended after {_count(len(chain.facts), 'fact')}: {nearest}"

    def to_dict(self, top_k: int = 0) -> dict[str, Any]:
        """The explanation as plain values for JSON, facts by uid; with `top_k`, so many facts of its ranking too."""
        chain = self.chain
        return {
            **question_to_dict(chain.question, self.dataset),
            "facts": [
                *given_to_dict(chain.start, chain.question, self.ranker.search),
                *(step_to_dict(step, self.corpus) for step in chain.steps),
            ],
            "confidence": self.confidence,
            "stopped": chain.stopped,
            "unsure": chain.unsure,
            "next_confidence": chain.next_confidence,
            "stop_score": chain.stop_score,
            "left_out": [_candidate(candidate, self.corpus) for candidate in chain.left_out],
            "considered": self.found.considered,
            "scorings": self.found.scorings,
            "seconds": round(self.seconds, 4),
            **({"ranking": [asdict(fact) for fact in self.ranking(top_k)]} if top_k else {}),
        }


def question_to_dict(question: Question, dataset: Dataset) -> dict[str, Any]:
    """A question as plain values, with the uids of its gold facts; what it does not have is left out."""
    gold = [dataset.facts[fact].uid for fact in dataset.gold_ids(question)]
    return {
        **({"id": question.id} if question.id else {}),
        "question": question.stem,
        "answer": question.answer,
        **({"options": [option.text for option in question.options]} if question.options else {}),
        **({"gold": gold} if gold else {}),
    }


def given_to_dict(start: Sequence[int], question: Question, search: ChainSearch) -> list[dict[str, Any]]:
    """The facts that a chain begins with as plain values, and where they can be seen from."""
    corpus = search.neighborhood.facts
    return [
        {
            **_named(fact, corpus),
            "given": True,
            "seen_from": _sources(search.seen_from(fact, question, start[:place]), corpus),
        }
        for place, fact in enumerate(start)
    ]


def step_to_dict(step: Step, corpus: Sequence[Fact]) -> dict[str, Any]:
    """A chosen fact as plain values: its score, where it was seen from, and what it was chosen over."""
    return {
        **_candidate(step.chosen, corpus),
        "confidence": step.confidence,
        "seen_from": _sources(step.seen_from, corpus),
        "runners_up": [_candidate(candidate, corpus) for candidate in step.runners_up],
        "stop_score": step.stop_score,
    }


def _sources(seen_from: Sequence[SeenFrom], corpus: Sequence[Fact]) -> list[dict[str, Any]]:
    return [
        {
            "source": None if seen.source is None else corpus[seen.source].uid,
            "words": list(seen.words),
            "light": list(seen.light),
        }
        for seen in seen_from
    ]


def worth(step: Step) -> str:
    """How sure a step is, in words; its score, for a model without calibration."""
    return f"{step.chosen.score:.2f}" if step.confidence is None else f"{step.confidence:.0%}"


def _candidate(candidate: Candidate, corpus: Sequence[Fact]) -> dict[str, Any]:
    return {**_named(candidate.fact, corpus), "score": candidate.score}


def _named(fact: int, corpus: Sequence[Fact]) -> dict[str, Any]:
    return {"uid": corpus[fact].uid, "text": corpus[fact].text}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
