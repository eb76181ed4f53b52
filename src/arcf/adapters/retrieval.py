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

    Scores of a chain's facts are not on one scale with each other, nor with those of the others: each was given after
    another prefix. The order is what counts.
    """
    explanation = explainer.explain(query, answer, whole=top_k is not None)
    corpus = explanation.corpus
    found = [
        Retrieved(
            uid=corpus[step.chosen.fact].uid,
            text=corpus[step.chosen.fact].text,
            score=step.chosen.score,
            place=place,
            words=tuple(dict.fromkeys(word for seen in step.seen_from for word in seen.words)),
        )
        for place, step in enumerate(explanation.chain.steps, start=1)
    ]
    if top_k is None:
        return found
    rest = explanation.ranking(top_k)[len(found) :]
    return [*found[:top_k], *(Retrieved(fact.uid, fact.text, fact.score) for fact in rest)]
