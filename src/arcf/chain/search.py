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

from arcf.chain.scoreboard import Scoreboard
from arcf.errors import SettingError
from arcf.neighborhood import Neighborhood
from arcf.scorer.base import Prefix, Scorer
from arcf.types import Candidate, Chain, QueryForm, Question, SeenFrom, Step

FactIds = NDArray[np.int64]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How a chain is searched for.

    `k` facts are visible from the question and from each chosen fact. At most `max_facts` (L) facts are chosen, and at
    least `min_facts` (L_min) before the stop sample may end the chain; if that is not less than `max_facts`, it never
    does. One iteration (`max_facts` = 1) is the single pass, "SF inf" in the paper.

    `rescored` (m) old facts are scored again in every iteration; None: all, as in the paper. See `Scoreboard`.
    `skip_repeats`: a fact with the text of a chosen one is ranked, but not chosen as well. `average_scores`: facts that
    are not chosen are ranked by their mean score over the iterations, an option of the paper that ranks a little better
    than their last score. `runners_up`: how many facts a step remembers besides the one that it chose. `num_beams`: how
    many chains are followed at once; see `BeamSearch`.
    """

    k: int = 290
    max_facts: int = 9
    min_facts: int = 3
    rescored: int | None = 96
    skip_repeats: bool = True
    average_scores: bool = True
    runners_up: int = 5
    num_beams: int = 1

    def __post_init__(self) -> None:
        least = {"k": 1, "max_facts": 1, "min_facts": 0, "rescored": 0, "runners_up": 0, "num_beams": 1}
        for name, minimum in least.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise SettingError(f"The setting {name} of a chain is at least {minimum}, not {value}.")


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
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
class Choices:
    """What one iteration chooses from: the facts that it may take, best first, and the score of taking none."""

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
    """Finds the chain that explains a question's answer, always taking the best next fact. Threads may share it.

    `query` is the form in which the question is asked.
    """

    def __init__(
        self,
        scorer: Scorer,
        neighborhood: Neighborhood,
        settings: ChainSettings | None = None,
        query: QueryForm = "answer",
    ) -> None:
        self.scorer = scorer
        self.neighborhood = neighborhood
        self.settings = settings or ChainSettings()
        self.query = query

    def find(self, question: Question, start: Sequence[int] = (), excluded: Collection[int] = ()) -> SearchResult:
        """The chain of a question, begun with the facts `start` and never using the facts `excluded`."""
        return result_of(self.steps(question, start, excluded))

    def steps(
        self, question: Question, start: Iterable[int] = (), excluded: Collection[int] = ()
    ) -> Generator[Step, None, SearchResult]:
        """Yield the steps of the chain, and return what was found."""
        settings, chain, board = self.settings, Chain(question, (), False, tuple(start)), self.new_board()
        while len(chain.facts) < settings.max_facts:
            choices = self.score_visible(chain, board, excluded)
            if not len(choices.facts):
                break
            if choices.stop_wins and len(chain.facts) >= settings.min_facts:
                chain = self.stop(chain, choices)
                break
            chain = self.extend(chain, choices)
            yield chain.steps[-1]
        return self.finish(chain, board)

    def score_visible(self, chain: Chain, board: Scoreboard, excluded: Collection[int] = ()) -> Choices:
        """Score what is visible from the chain."""
        question, facts = chain.question.asked(self.query), chain.facts
        visible = self.neighborhood.visible(question.text, facts, self.settings.k)
        visible = visible[~np.isin(visible, list(excluded))]
        if not len(visible):
            return Choices(visible, np.empty(0), None)
        stop_score = board.update(Prefix(question.query(), facts), visible)
        if self.settings.skip_repeats:
            texts, taken = self.neighborhood.texts, [*facts, *excluded]
            visible = visible[~np.isin(texts[visible], texts[taken])]
        ordered = best_first(visible, board.scores)
        return Choices(ordered, board.scores[ordered], stop_score)

    def extend(self, chain: Chain, choices: Choices, place: int = 0) -> Chain:
        """The chain with the best of the choices (or the one at that place) appended."""
        chosen = choices.candidates(place, 1)[0]
        best = choices.candidates(0, self.settings.runners_up + 1)
        others = tuple(candidate for candidate in best if candidate != chosen)[: self.settings.runners_up]
        step = Step(chosen, self.seen_from(chosen.fact, chain.question, chain.facts), others, choices.stop_score)
        return Chain(chain.question, (*chain.steps, step), False, chain.start)

    def seen_from(self, fact: int, question: Question, chosen: Sequence[int]) -> tuple[SeenFrom, ...]:
        """From which of the question and the chosen facts a fact is visible."""
        return self.neighborhood.seen_from(fact, question.asked(self.query).text, chosen, self.settings.k)

    def stop(self, chain: Chain, choices: Choices) -> Chain:
        """The chain, ended by the stop sample."""
        left_out = choices.candidates(0, self.settings.runners_up)
        return Chain(chain.question, chain.steps, True, chain.start, choices.stop_score, left_out)

    def new_board(self) -> Scoreboard:
        """An empty scoreboard."""
        return Scoreboard(self.scorer, len(self.neighborhood.facts), self.settings.rescored)

    def finish(self, chain: Chain, board: Scoreboard, scorings: int | None = None) -> SearchResult:
        """The result; unless given, the number of scorings is the board's."""
        scores = board.averages() if self.settings.average_scores else board.scores
        known = board.known()
        others = best_first(np.setdiff1d(known, chain.facts), scores)
        return SearchResult(chain, others, scores[others], len(known), board.scorings if scorings is None else scorings)


def best_first(facts: FactIds, scores: NDArray[np.float64]) -> FactIds:
    """Facts by descending score (`scores` is by fact id), equal ones by id."""
    return facts[np.lexsort((facts, -scores[facts]))]


def result_of(steps: Generator[Step, None, Result]) -> Result:
    """What a search returns when all of its steps are taken."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Result = end.value
            return found
