"""Algorithm 1 of the paper: the chain of facts that explains an answer, found one fact at a time.

    facts <- ()
    while fewer than L facts are chosen:
        candidates <- vis_k(q, facts)
        scores     <- f_theta([q | facts | candidate]) for every candidate
        stop, if the chain without a new fact scores highest and L_min facts are chosen
        facts      <- facts + the candidate that scores highest

`ChainSearch.steps` is that loop. It yields each step as it is found, so that a page can show the chain grow.
"""

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import Neighborhood
from arcf.scoreboard import Scoreboard
from arcf.scorer.base import Prefix, Scorer
from arcf.types import Candidate, Chain, Question, Step

FactIds = NDArray[np.int64]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How a chain is searched for.

    `k` facts are visible from the question and from each chosen fact. At most `longest` (L) facts are chosen, and at
    least `shortest` (L_min) before the stop sample may end the chain; if that is not less than `longest`, it never
    does. One iteration (`longest` = 1) is the single pass, "SF inf" in the paper.

    `rescored` (m) old facts are scored again in every iteration; None: all, as in the paper. See `Scoreboard`.
    `skip_repeats`: a fact with the text of a chosen one is ranked, but not chosen as well. `averaged`: facts that are
    not chosen are ranked by their mean score over the iterations, an option of the paper that ranks a little better
    than their last score. `runners_up`: how many facts a step remembers besides the one that it chose. `beams`: how
    many chains are followed at once; see `BeamSearch`.
    """

    k: int = 290
    longest: int = 9
    shortest: int = 3
    rescored: int | None = 96
    skip_repeats: bool = True
    averaged: bool = True
    runners_up: int = 5
    beams: int = 1

    def __post_init__(self) -> None:
        least = {"k": 1, "longest": 1, "shortest": 0, "rescored": 0, "runners_up": 0, "beams": 1}
        for name, minimum in least.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise SettingError(f"The setting {name} of a chain is at least {minimum}, not {value}.")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A chain, and what the search for it learned about the facts that it did not choose.

    `others` are the scored but unchosen facts, best first, with their `scores` in the last iteration (or averaged).
    `considered` facts were scored, in `scorings` forward passes (stop samples included).
    """

    chain: Chain
    others: FactIds
    scores: NDArray[np.float64]
    considered: int
    scorings: int


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One iteration's view: the facts that may be chosen, best first, and the score of choosing none."""

    facts: FactIds
    scores: NDArray[np.float64]
    stop_score: float | None

    @property
    def stop_wins(self) -> bool:
        """Whether the chain without a new fact scores highest. In a tie, the shorter chain explains as much."""
        return self.stop_score is not None and self.stop_score >= self.scores[0]

    def candidates(self, first: int, count: int) -> tuple[Candidate, ...]:
        """`count` facts from the `first` best on."""
        places = slice(first, first + count)
        pairs = zip(self.facts[places].tolist(), self.scores[places].tolist(), strict=True)
        return tuple(Candidate(fact, score) for fact, score in pairs)


class ChainSearch:
    """Finds the chain that explains a question's answer, always taking the best next fact. Threads may share it."""

    def __init__(self, scorer: Scorer, neighborhood: Neighborhood, settings: ChainSettings | None = None) -> None:
        self.scorer = scorer
        self.neighborhood = neighborhood
        self.settings = settings or ChainSettings()

    def find(self, question: Question, start: Sequence[int] = (), excluded: Collection[int] = ()) -> Found:
        """The chain of a question, begun with the facts `start` and never using the facts `excluded`."""
        return result(self.steps(question, start, excluded))

    def steps(
        self, question: Question, start: Iterable[int] = (), excluded: Collection[int] = ()
    ) -> Generator[Step, None, Found]:
        """Yield the steps of the chain, and return what was found."""
        settings, chain, board = self.settings, Chain(question, (), False, tuple(start)), self.board()
        while len(chain.facts) < settings.longest:
            look = self.look(chain, board, excluded)
            if not len(look.facts):
                break
            if look.stop_wins and len(chain.facts) >= settings.shortest:
                chain = self.stopped(chain, look)
                break
            chain = self.extended(chain, look)
            yield chain.steps[-1]
        return self.found(chain, board)

    def look(self, chain: Chain, board: Scoreboard, excluded: Collection[int] = ()) -> Look:
        """Score what is visible from the chain."""
        question, facts = chain.question, chain.facts
        visible = self.neighborhood.visible(question.text, facts, self.settings.k)
        visible = visible[~np.isin(visible, list(excluded))]
        if not len(visible):
            return Look(visible, np.empty(0), None)
        stop_score = board.update(Prefix(question.query(), facts), visible)
        if self.settings.skip_repeats:
            texts, taken = self.neighborhood.texts, [*facts, *excluded]
            visible = visible[~np.isin(texts[visible], texts[taken])]
        ordered = best_first(visible, board.scores)
        return Look(ordered, board.scores[ordered], stop_score)

    def extended(self, chain: Chain, look: Look, place: int = 0) -> Chain:
        """The chain with the best fact of a look (or the one at that place) appended."""
        chosen = look.candidates(place, 1)[0]
        best = look.candidates(0, self.settings.runners_up + 1)
        others = tuple(candidate for candidate in best if candidate != chosen)[: self.settings.runners_up]
        question = chain.question
        seen_from = self.neighborhood.seen_from(chosen.fact, question.text, chain.facts, self.settings.k)
        step = Step(chosen, seen_from, others, look.stop_score)
        return Chain(question, (*chain.steps, step), False, chain.start)

    def stopped(self, chain: Chain, look: Look) -> Chain:
        """The chain, ended by the stop sample."""
        left_out = look.candidates(0, self.settings.runners_up)
        return Chain(chain.question, chain.steps, True, chain.start, look.stop_score, left_out)

    def board(self) -> Scoreboard:
        """An empty scoreboard."""
        return Scoreboard(self.scorer, len(self.neighborhood.facts), self.settings.rescored)

    def found(self, chain: Chain, board: Scoreboard, scorings: int | None = None) -> Found:
        """The result; unless given, the number of scorings is the board's."""
        scores = board.averages() if self.settings.averaged else board.scores
        known = board.known()
        others = best_first(np.setdiff1d(known, chain.facts), scores)
        return Found(chain, others, scores[others], len(known), board.scorings if scorings is None else scorings)


def best_first(facts: FactIds, scores: NDArray[np.float64]) -> FactIds:
    """Facts by descending score (`scores` is by fact id), equal ones by id."""
    return facts[np.lexsort((facts, -scores[facts]))]


def result(steps: Generator[Step, None, Result]) -> Result:
    """What a search returns when all of its steps are taken."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Result = end.value
            return found
