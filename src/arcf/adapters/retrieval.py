"""What every retriever does: a query in, the facts that explain it out."""

from dataclasses import dataclass
from typing import Any

from arcf.explainer import Explainer


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A fact, its score, and how it was found: `place` in the chain from 1 on, and the words that it was seen by.

    A fact that is not in the chain has the place 0.
    """

    uid: str
    text: str
    score: float
    place: int = 0
    words: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """What other libraries keep beside a text."""
        return {"uid": self.uid, "place": self.place, "words": list(self.words)}


def retrieve(explainer: Explainer, query: str, answer: str = "", top_k: int | None = None) -> list[Retrieved]:
    """The facts of the chain; with `top_k`, that many: the chain's first, then the best of the others.

    Scores are those of the ranking, which never increase: whoever sorts by them keeps the order. What the model gave a
    chain's facts would not do, as each was scored after another prefix.
    """
    explanation = explainer.explain(query, answer, whole=top_k is not None)
    steps = explanation.chain.steps
    if top_k is None:
        ranked = explanation.ranker.ranking(explanation.found).top(len(steps)).named(explanation.corpus)
    else:
        ranked = explanation.ranking(top_k)
    words = [tuple(dict.fromkeys(word for seen in step.seen_from for word in seen.words)) for step in steps]
    chain = [
        Retrieved(fact.uid, fact.text, fact.score, place, own)
        for place, (fact, own) in enumerate(zip(ranked, words, strict=False), start=1)
    ]
    return [*chain, *(Retrieved(fact.uid, fact.text, fact.score) for fact in ranked[len(chain) :])]
