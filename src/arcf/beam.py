"""Beam search: Algorithm 1 with several chains at once. The paper tried it and saw no gain; here one can measure it."""

from collections.abc import Collection, Generator, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arcf.chain import ChainSearch, Found, Look
from arcf.scoreboard import Scoreboard
from arcf.scorer.base import STOP
from arcf.types import Chain, Question, Step


@dataclass(frozen=True, slots=True, eq=False)
class Beam:
    """A chain in the making. `total` is the sum of its `decisions`' log-probabilities (stopping is a decision too)."""

    chain: Chain
    board: Scoreboard
    total: float = 0.0
    decisions: int = 0
    ended: bool = False

    @property
    def value(self) -> float:
        """What beams are compared by."""
        return self.total / max(self.decisions, 1)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to go on: the fact at a place of a look (or `STOP`), and its log-probability."""

    score: float
    place: int


class BeamSearch(ChainSearch):
    """Finds a chain by following the `beams` best ones at once.

    A step's value is its log-softmax over all that could have been chosen in its place, the stop sample included once
    it may win. Raw scores of different prefixes cannot be added or compared, because no loss ever compares them; the
    softmax removes what a prefix adds to all of its candidates, and it is the model that NCE and, for pairs, RankNet
    assume. A chain's value is the mean over its steps. The product of probabilities (the paper's eq. 1) would punish
    length for no fault: while R right facts remain, even a perfect scorer gives each of them 1/R.

    Two chains of the same facts in another order are one explanation, so only the better one stays. One beam is the
    greedy search. Which chain is best is known only at the end, so `steps` yields its steps together.
    """

    def steps(
        self, question: Question, start: Iterable[int] = (), excluded: Collection[int] = ()
    ) -> Generator[Step, None, Found]:
        """Yield the steps of the best chain, and return what was found."""
        beams = [Beam(Chain(question, (), False, tuple(start)), self.board())]
        scorings = 0
        while not all(beam.ended for beam in beams):
            grown: list[Beam] = []
            for beam in beams:
                ways, scored = self._grown(beam, excluded)
                grown.extend(ways)
                scorings += scored
            beams = self._best(grown)
        best = beams[0]
        yield from best.chain.steps
        return self.found(best.chain, best.board, scorings)

    def _grown(self, beam: Beam, excluded: Collection[int]) -> tuple[list[Beam], int]:
        """The ways to go on from a beam, the best first, and the scorings that this took."""
        if beam.ended or len(beam.chain.facts) >= self.settings.longest:
            return [replace(beam, ended=True)], 0
        board = beam.board.fork()
        look = self.look(beam.chain, board, excluded)
        if not len(look.facts):
            return [replace(beam, board=board, ended=True)], board.scorings
        return [self._taken(beam, board, look, way) for way in self._ways(beam.chain, look)], board.scorings

    def _ways(self, chain: Chain, look: Look) -> list[Way]:
        """What may be done after a look: stop, or choose one of the best facts; the best way first."""
        places = range(min(self.settings.beams, len(look.facts)))
        ways = [Way(float(look.scores[place]), place) for place in places]
        everything = look.scores
        if look.stop_score is not None and len(chain.facts) >= self.settings.shortest:
            ways.append(Way(look.stop_score, STOP))
            everything = np.append(everything, look.stop_score)
        norm = _log_sum_exp(everything)
        ways.sort(key=lambda way: (-way.score, way.place))
        return [Way(way.score - norm, way.place) for way in ways]

    def _taken(self, beam: Beam, board: Scoreboard, look: Look, way: Way) -> Beam:
        stops = way.place == STOP
        chain = self.stopped(beam.chain, look) if stops else self.extended(beam.chain, look, way.place)
        return Beam(chain, board, beam.total + way.score, beam.decisions + 1, stops)

    def _best(self, beams: list[Beam]) -> list[Beam]:
        """The best beams, of those with the same facts only one."""
        ordered = sorted(beams, key=lambda beam: -beam.value)
        distinct: dict[tuple[frozenset[int], bool], Beam] = {}
        for beam in ordered:
            distinct.setdefault((frozenset(beam.chain.facts), beam.ended), beam)
        return list(distinct.values())[: self.settings.beams]


def _log_sum_exp(scores: NDArray[np.float64]) -> float:
    largest = scores.max()
    return float(largest + np.log(np.exp(scores - largest).sum()))
