"""Beam search: Algorithm 1 with several chains at once. The paper tried it and saw no gain; here one can measure it."""

from collections.abc import Collection, Generator, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arcf.chain.scoreboard import Scoreboard
from arcf.chain.search import ChainSearch, Choices, SearchResult
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
class Continuation:
    """A way to go on: the fact at a place of the choices (or `STOP`), and its log-probability."""

    score: float
    place: int


class BeamSearch(ChainSearch):
    """Finds a chain by following the `num_beams` best ones at once.

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
    ) -> Generator[Step, None, SearchResult]:
        """Yield the steps of the best chain, and return what was found."""
        beams = [Beam(Chain(question, (), False, tuple(start)), self.new_board())]
        scorings = 0
        while not all(beam.ended for beam in beams):
            grown: list[Beam] = []
            for beam in beams:
                continuations, scored = self._grow(beam, excluded)
                grown.extend(continuations)
                scorings += scored
            beams = self._best(grown)
        best = beams[0]
        yield from self.explanation(best.chain).steps
        return self.finish(best.chain, best.board, scorings)

    def _grow(self, beam: Beam, excluded: Collection[int]) -> tuple[list[Beam], int]:
        """The ways to go on from a beam, the best first, and the scorings that this took."""
        if beam.ended or len(beam.chain.facts) >= self.settings.max_facts:
            return [replace(beam, ended=True)], 0
        board = beam.board.fork()
        choices = self.score_visible(beam.chain, board, excluded)
        if not len(choices.facts):
            return [replace(beam, board=board, ended=True)], board.scorings
        return [
            self._follow(beam, board, choices, way) for way in self._continuations(beam.chain, choices)
        ], board.scorings

    def _continuations(self, chain: Chain, choices: Choices) -> list[Continuation]:
        """What may be done from the choices: stop, or choose one of the best facts; the best way first."""
        places = range(min(self.settings.num_beams, len(choices.facts)))
        continuations = [Continuation(float(choices.scores[place]), place) for place in places]
        everything = choices.scores
        if choices.stop_score is not None and len(chain.facts) >= self.settings.least_grown:
            continuations.append(Continuation(choices.stop_score, STOP))
            everything = np.append(everything, choices.stop_score)
        norm = _log_sum_exp(everything)
        continuations.sort(key=lambda way: (-way.score, way.place))
        return [Continuation(way.score - norm, way.place) for way in continuations]

    def _follow(self, beam: Beam, board: Scoreboard, choices: Choices, way: Continuation) -> Beam:
        stops = way.place == STOP
        chain = self.stop(beam.chain, choices) if stops else self.extend(beam.chain, choices, way.place)
        return Beam(chain, board, beam.total + way.score, beam.decisions + 1, stops)

    def _best(self, beams: list[Beam]) -> list[Beam]:
        """The best beams, of those with the same facts only one."""
        ordered = sorted(beams, key=lambda beam: -beam.value)
        distinct: dict[tuple[frozenset[int], bool], Beam] = {}
        for beam in ordered:
            distinct.setdefault((frozenset(beam.chain.facts), beam.ended), beam)
        return list(distinct.values())[: self.settings.num_beams]


def _log_sum_exp(scores: NDArray[np.float64]) -> float:
    largest = scores.max()
    return float(largest + np.log(np.exp(scores - largest).sum()))
