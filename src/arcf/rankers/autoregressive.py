"""The paper's ranking: the facts of the chain, then what was scored on the way, then the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.beam import BeamSearch
from arcf.chain import ChainSearch, ChainSettings, Found
from arcf.neighborhood import Neighborhood
from arcf.scorer.base import Scorer
from arcf.types import Question, Ranking


@dataclass(frozen=True, slots=True)
class Tiers:
    """What follows the chain in the ranking; without a tier, its facts are left out (the paper's ablations).

    `scored` (S2): facts that were scored but not chosen, by score. `rest` (R3): facts that were never visible, by
    their distance from the question and the chain.
    """

    scored: bool = True
    rest: bool = True


class Autoregressive:
    """Ranks facts by a chain: ARCF. Threads may share it if they may share the scorer."""

    def __init__(
        self,
        scorer: Scorer,
        neighborhood: Neighborhood,
        settings: ChainSettings | None = None,
        tiers: Tiers | None = None,
    ) -> None:
        settings = settings or ChainSettings()
        kind = BeamSearch if settings.beams > 1 else ChainSearch
        self.search = kind(scorer, neighborhood, settings)
        self.tiers = tiers or Tiers()

    def rank(self, question: Question) -> Ranking:
        """All facts, best first."""
        return self.ranking(self.search.find(question))

    def ranking(self, found: Found) -> Ranking:
        """The ranking that a search gives.

        The scored facts have their scores. The chain stands above them and the rest below, at distances that mean
        nothing: scores of different prefixes, and similarities, are not on one scale.
        """
        chosen = np.array(found.chain.facts, dtype=np.int64)
        others, scores = found.others, found.scores
        rest, nearness = self._rest(found)
        top, bottom = (scores[0], scores[-1]) if len(scores) else (0.0, 0.0)
        tiers = [(chosen, top + np.arange(len(chosen), 0.0, -1.0))]
        if self.tiers.scored:
            tiers.append((others, scores))
        if self.tiers.rest:
            tiers.append((rest, bottom - 1 + nearness - nearness.max(initial=0.0)))
        facts, values = zip(*tiers, strict=True)
        return Ranking(found.chain.question.id, np.concatenate(facts), np.concatenate(values))

    def _rest(self, found: Found) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The facts that are neither chosen nor scored, nearest first, and how near they are."""
        neighborhood, chain = self.search.neighborhood, found.chain
        texts = [neighborhood.facts[fact].text for fact in chain.facts]
        never_seen = np.ones(len(neighborhood.facts), dtype=bool)
        never_seen[[*chain.facts, *found.others.tolist()]] = False
        rest = np.flatnonzero(never_seen)
        nearness = -neighborhood.distances(" ".join([chain.question.text, *texts]))[rest]
        order = np.argsort(-nearness, kind="stable")
        return rest[order], nearness[order]
