"""Algorithm 1 of the paper: the chain of facts that explains an answer, found one fact at a time.

    facts <- ()
    while fewer than L facts are chosen:
        candidates <- vis_k(q, facts)
        scores     <- f_theta([q | facts | candidate]) for every candidate
        stop, if the chain without a new fact scores highest and L_min facts are chosen
        facts      <- facts + the candidate that scores highest

`ChainSearch.steps` is that loop. It yields each step as it is found, so that a page can show the chain grow.

The ranking of all facts may use all that a long chain has seen, while an explanation should end in time. So
what explains (`SearchResult.chain`) is only the beginning of what has grown (`SearchResult.grown`): up to the fact that
is too doubtful, or scores no higher than stopping.
"""

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from arcf.chain.confidence import Calibration, Evidence, weigh
from arcf.chain.scoreboard import Scoreboard, best_first
from arcf.errors import SettingError
from arcf.neighborhood import FactIds, Neighborhood
from arcf.scorer.base import Estimating, Prefix, Scorer
from arcf.types import Candidate, Chain, QueryForm, Question, SeenFrom, Step

MIN_CONFIDENCE = 0.2
"""Less than what is best on the questions of calibration: of other corpora, more is right; see docs/explaining.md."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How a chain is searched for.

    `k` facts are visible from the question and from each chosen fact. At most `max_facts` (L) facts are chosen. One
    iteration (`max_facts` = 1) is the single pass, "SF inf" in the paper.

    An explanation has at least `min_facts`, if as many are visible. From then on it ends when the stop sample wins, or
    when the next fact belongs to it with a probability below `min_confidence` (None: never for that reason, as in the
    paper; nor without calibration, see `confidence`). For the ranking's sake, the chain grows on until the stop sample
    wins over a fact after `min_grown`: L_min of the paper, where the explanation is all that has grown. Where it need
    not be `whole`, since nobody wants a ranking, it ends with the explanation instead; not with several beams.

    `rescored` (m) old facts are scored again in every iteration, and of the new ones `screened`, those that promise the
    most; None: all. Without `rescored`, all that is visible is scored, as in the paper. See `Scoreboard`.
    `skip_repeats`: a fact with the text of a chosen one is ranked, but not chosen as well. `average_scores`: facts that
    are not chosen are ranked by their mean score over the iterations, an option of the paper that ranks a little better
    than their last score. `runners_up`: how many facts a step remembers besides the one that it chose. `num_beams`: how
    many chains are followed at once; see `BeamSearch`.
    """

    k: int = 290
    max_facts: int = 9
    min_facts: int = 0
    min_grown: int = 3
    min_confidence: float | None = MIN_CONFIDENCE
    rescored: int | None = 48
    screened: int | None = 48
    skip_repeats: bool = True
    average_scores: bool = True
    runners_up: int = 5
    num_beams: int = 1
    whole: bool = True

    def __post_init__(self) -> None:
        least = {"k": 1, "max_facts": 1, "min_facts": 0, "min_grown": 0, "rescored": 0, "screened": 1}
        least |= {"runners_up": 0, "num_beams": 1}
        for name, minimum in least.items():
            value = getattr(self, name)
            if value is None and name in ("rescored", "screened"):
                continue
            if not _is_number(value, Integral):
                raise SettingError(f"The setting {name} of a chain is a whole number, not {value!r}.")
            if value < minimum:
                raise SettingError(f"The setting {name} of a chain is at least {minimum}, not {value}.")
        surety = self.min_confidence
        if surety is not None and not (_is_number(surety, Real) and 0 <= surety <= 1):
            raise SettingError(f"The setting min_confidence of a chain is from 0 to 1, not {surety!r}.")

    @property
    def least_grown(self) -> int:
        """How many facts are chosen before the stop sample may end the growth."""
        return max(self.min_facts, self.min_grown)


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """A chain, and what the search for it learned about the facts that it did not choose.

    `chain` is the explanation, `grown` all facts that were chosen in turn, of which the chain's are the first.
    `others` are the scored but unchosen facts, best first, with their `scores` in the last iteration (or averaged).
    `unscored` facts were visible, but nothing spoke for scoring them; those that promised the most come first.
    `considered` facts were scored, in `scorings` forward passes (stop samples included).
    """

    chain: Chain
    grown: tuple[int, ...]
    others: FactIds
    scores: NDArray[np.float64]
    unscored: FactIds
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

    `query` is the form in which the question is asked; `calibration` is what tells how sure a step is.
    """

    def __init__(
        self,
        scorer: Scorer,
        neighborhood: Neighborhood,
        settings: ChainSettings | None = None,
        query: QueryForm = "answer",
        calibration: Calibration | None = None,
    ) -> None:
        self.scorer = scorer
        self.neighborhood = neighborhood
        self.settings = settings or ChainSettings()
        self.query = query
        self.calibration = calibration

    def find(self, question: Question, start: Sequence[int] = (), excluded: Collection[int] = ()) -> SearchResult:
        """The chain of a question, begun with the facts `start` and never using the facts `excluded`."""
        return result_of(self.steps(question, start, excluded))

    def steps(
        self, question: Question, start: Iterable[int] = (), excluded: Collection[int] = ()
    ) -> Generator[Step, None, SearchResult]:
        """Yield the steps of the explanation as they are found, and return what was found."""
        settings, grown, board = self.settings, Chain(question, (), False, tuple(start)), self.new_board()
        while len(grown.facts) < settings.max_facts:
            choices = self.score_visible(grown, board, excluded)
            if not len(choices.facts):
                break
            if choices.stop_wins and len(grown.facts) >= settings.least_grown:
                grown = self.stop(grown, choices)
                break
            grown = self.extend(grown, choices)
            if self.explanation(grown) is grown:
                yield grown.steps[-1]
            elif not settings.whole:
                break
        return self.finish(grown, board)

    def explanation(self, grown: Chain) -> Chain:
        """The beginning of a chain that explains: up to the first fact that should not be there, or all of it."""
        for place, step in enumerate(grown.steps):
            stopped, unsure = stop_wins(step), self._is_doubtful(step)
            if len(grown.start) + place >= self.settings.min_facts and (stopped or unsure):
                return Chain(
                    grown.question,
                    grown.steps[:place],
                    stopped,
                    grown.start,
                    step.stop_score,
                    (step.chosen, *step.runners_up)[: self.settings.runners_up],
                    unsure and not stopped,
                    step.confidence,
                )
        return grown

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
        ordered = best_first(visible[~np.isnan(board.scores[visible])], board.scores)
        return Choices(ordered, board.scores[ordered], stop_score)

    def extend(self, chain: Chain, choices: Choices, place: int = 0) -> Chain:
        """The chain with the best of the choices (or the one at that place) appended."""
        return Chain(chain.question, (*chain.steps, self.step(chain, choices, place)), False, chain.start)

    def step(self, chain: Chain, choices: Choices, place: int = 0) -> Step:
        """The step that takes the best of the choices, or the one at that place."""
        chosen = choices.candidates(place, 1)[0]
        best = choices.candidates(0, self.settings.runners_up + 1)
        others = tuple(candidate for candidate in best if candidate != chosen)[: self.settings.runners_up]
        seen = self.seen_from(chosen.fact, chain.question, chain.facts)
        evidence = self.evidence(chain, choices, place, seen) if self.calibration else None
        confidence = self.calibration.probability(evidence) if self.calibration and evidence else None
        return Step(chosen, seen, others, choices.stop_score, confidence)

    def evidence(self, chain: Chain, choices: Choices, place: int, seen_from: Sequence[SeenFrom]) -> Evidence:
        """What speaks for the fact at a place of the choices."""
        asked, fact = chain.question.asked(self.query), choices.facts[place : place + 1]
        overlap = self.neighborhood.overlap(int(fact[0]), asked.text, chain.facts)
        found = weigh(choices.scores, place, choices.stop_score, len(chain.facts), overlap, seen_from)
        if not isinstance(self.scorer, Estimating):
            return found
        return found.with_near(float(self.scorer.known(Prefix(asked.query(), chain.facts), fact)[0]))

    def seen_from(self, fact: int, question: Question, chosen: Sequence[int]) -> tuple[SeenFrom, ...]:
        """From which of the question and the chosen facts a fact is visible."""
        return self.neighborhood.seen_from(fact, question.asked(self.query).text, chosen, self.settings.k)

    def stop(self, chain: Chain, choices: Choices) -> Chain:
        """The chain, ended by the stop sample."""
        left_out, refused = choices.candidates(0, self.settings.runners_up), self.step(chain, choices)
        score, confidence = choices.stop_score, refused.confidence
        return Chain(chain.question, chain.steps, True, chain.start, score, left_out, next_confidence=confidence)

    def new_board(self) -> Scoreboard:
        """An empty scoreboard."""
        settings = self.settings
        return Scoreboard(self.scorer, len(self.neighborhood.facts), settings.rescored, settings.screened)

    def finish(self, grown: Chain, board: Scoreboard, scorings: int | None = None) -> SearchResult:
        """The result; unless given, the number of scorings is the board's."""
        scores = board.averages() if self.settings.average_scores else board.scores
        known = board.known()
        others = best_first(np.setdiff1d(known, grown.facts), scores)
        return SearchResult(
            self.explanation(grown),
            grown.facts,
            others,
            scores[others],
            best_first(np.setdiff1d(board.unscored(), grown.facts), board.estimates),
            len(known),
            board.scorings if scorings is None else scorings,
        )

    def _is_doubtful(self, step: Step) -> bool:
        least = self.settings.min_confidence
        return least is not None and step.confidence is not None and step.confidence < least


def _is_number(value: object, kind: type) -> bool:
    """Whether a value is of a kind of numbers, Python's or numpy's; true and false, which Python counts, are none."""
    return isinstance(value, kind) and not isinstance(value, bool)


def stop_wins(step: Step) -> bool:
    """Whether a step was taken although stopping scored as high; see `Choices.stop_wins`."""
    return step.stop_score is not None and step.stop_score >= step.chosen.score


def result_of(steps: Generator[Step, None, Result]) -> Result:
    """What a search returns when all of its steps are taken."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Result = end.value
            return found
