"""The paper's ranking: the facts of the chain, then what was scored on the way, then the rest."""

import numpy as np
from numpy.typing import NDArray

from arcf.chain import BeamSearch, Calibration, ChainSearch, ChainSettings, SearchResult
from arcf.neighborhood import Neighborhood
from arcf.rankers.settings import Tiers
from arcf.scorer import Scorer
from arcf.types import Chosen, QueryForm, Question, Ranking


class Autoregressive:
    """Ranks facts by a chain: ARCF. Threads may share it if they may share the scorer."""

    def __init__(
        self,
        scorer: Scorer,
        neighborhood: Neighborhood,
        settings: ChainSettings | None = None,
        tiers: Tiers | None = None,
        query: QueryForm = "answer",
        calibration: Calibration | None = None,
    ) -> None:
        settings = settings or ChainSettings()
        kind = BeamSearch if settings.num_beams > 1 else ChainSearch
        self.search = kind(scorer, neighborhood, settings, query, calibration)
        self.tiers = tiers or Tiers()

    def with_settings(self, settings: ChainSettings) -> "Autoregressive":
        """A ranker with the same model and facts that searches for chains in another way; costs nothing."""
        search = self.search
        return Autoregressive(
            search.scorer, search.neighborhood, settings, self.tiers, search.query, search.calibration
        )

    def rank(self, question: Question) -> Ranking:
        """All facts, best first."""
        return self.ranking(self.search.find(question))

    def ranking(self, found: SearchResult) -> Ranking:
        """The ranking that a search gives.

        The scored facts have their scores. The chain stands above them, those that were visible but not scored below,
        and then the rest, at distances that mean nothing: scores of different prefixes, estimates and similarities are
        not on one scale. All facts that were chosen rank first, those beyond the end of the explanation too.
        """
        chosen = np.array(found.grown, dtype=np.int64)
        others, scores, unscored = found.others, found.scores, found.unscored
        top, bottom = (scores[0], scores[-1]) if len(scores) else (0.0, 0.0)
        tiers = [(chosen, top + np.arange(len(chosen), 0.0, -1.0))]
        if self.tiers.scored:
            tiers += [(others, scores), (unscored, bottom - np.arange(1.0, len(unscored) + 1))]
        if self.tiers.rest:
            rest, nearness = self._rest(found)
            tiers.append((rest, bottom - len(unscored) - 1 + nearness - nearness.max(initial=0.0)))
        facts, values = zip(*tiers, strict=True)
        chain = Chosen(found.chain.facts, found.chain.stopped or found.chain.unsure, found.chain.confidences)
        return Ranking(found.chain.question.id, np.concatenate(facts), np.concatenate(values), chain)

    def _rest(self, found: SearchResult) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The facts that were never visible, nearest first, and how near they are."""
        neighborhood, question = self.search.neighborhood, found.chain.question
        texts = [neighborhood.facts[fact].text for fact in found.grown]
        never_seen = np.ones(len(neighborhood.facts), dtype=bool)
        never_seen[[*found.grown, *found.others.tolist(), *found.unscored.tolist()]] = False
        rest = np.flatnonzero(never_seen)
        nearness = -neighborhood.distances(" ".join([question.asked(self.search.query).text, *texts]))[rest]
        order = np.argsort(-nearness, kind="stable")
        return rest[order], nearness[order]
