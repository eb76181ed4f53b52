import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.chain import Calibration, ChainSearch, ChainSettings, Evidence, load_calibration
from arcf.chain.confidence import weigh
from arcf.errors import InputError, SettingError
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.types import Chain, Fact, Question, SeenFrom

ZERO = dict.fromkeys(Evidence.names(), 0.0)
BY_PLACE = Calibration(2.0, ZERO | {"place": -2.0})  # 0.88, 0.65, 0.45, 0.32, ...
TEXTS = ("ice melts", "ice water", "ice heat", "ice cube", "ice age")
QUESTION = Question("q", "ice", answer="ice")


class InOrder:
    """Scores facts by their id; stopping scores what it is told."""

    def __init__(self, stop: float = -100.0) -> None:
        self.stop = stop

    def score(self, prefix: Prefix, candidates: np.ndarray) -> np.ndarray:
        del prefix
        return np.where(candidates == STOP, self.stop, -candidates).astype(np.float32)


def search(calibration: Calibration | None = BY_PLACE, stop: float = -100.0, **settings: object) -> ChainSearch:
    facts = tuple(Fact(str(place), text) for place, text in enumerate(TEXTS))
    near = Neighborhood(facts, DISTANCES["overlap"].build(facts, ()))
    return ChainSearch(InOrder(stop), near, ChainSettings(**settings), calibration=calibration)  # type: ignore[arg-type]


def test_what_speaks_for_a_fact() -> None:
    seen = (SeenFrom(None, ("ice",)), SeenFrom(3, (), ("kind",)), SeenFrom(4, ("heat",)))
    found = weigh(np.array([3.0, 2.0, 1.0]), 0, 0.5, 2, (0.45, 0.95), seen)
    assert found.share == pytest.approx(-math.log(1 + math.exp(-1) + math.exp(-2)))
    assert (found.lead, found.over_stop, found.first) == (1.5, 2.5, 0.0)
    assert (found.place, found.sources) == pytest.approx((math.log(3), math.log(3)))
    assert (found.familiar, found.covered) == (pytest.approx(math.log(0.5)), pytest.approx(0.0))
    assert found.from_question == 1.0


def test_a_lonely_first_fact() -> None:
    found = weigh(np.array([3.0]), 0, None, 0, (0.0, 0.0), (SeenFrom(None, (), ("kind",)),))
    assert (found.share, found.lead, found.over_stop, found.first) == (0.0, 0.0, 0.0, 1.0)
    assert (found.from_question, found.sources) == (0.0, 0.0)


class Guessing(InOrder):
    """Knows of each fact what it will say, less the half."""

    def estimate(self, prefix: Prefix, facts: np.ndarray) -> np.ndarray:
        return self.score(prefix, facts) / 2

    known = estimate


def test_what_a_prior_says_speaks_for_a_fact() -> None:
    plain, question = search(), Question("", "ice heat water")
    for scorer, near in ((plain.scorer, 0.0), (Guessing(-100.0), -0.5)):
        own = ChainSearch(scorer, plain.neighborhood, plain.settings, calibration=BY_PLACE)
        chain = Chain(question, (), False)
        choices = own.score_visible(chain, own.new_board())
        place = choices.facts.tolist().index(1)
        first = own.evidence(chain, choices, place, ())
        assert (first.near, first.first_near) == (near, near)
        later = own.extend(chain, choices, choices.facts.tolist().index(0))
        choices = own.score_visible(later, own.new_board())
        found = own.evidence(later, choices, choices.facts.tolist().index(1), ())
        assert (found.near, found.first_near) == (near, 0.0)


@given(st.floats(-1e6, 1e6))
def test_a_probability_is_one(share: float) -> None:
    chance = Calibration(0.0, ZERO | {"share": 1.0}).probability(Evidence(share, *[0.0] * (len(ZERO) - 1)))
    assert 0 <= chance <= 1
    if abs(share) < 500:
        assert chance == pytest.approx(1 / (1 + math.exp(-share)))


def test_steps_and_chain_have_probabilities() -> None:
    chain = search(min_confidence=None).find(QUESTION).chain
    expected = [1 / (1 + math.exp(-2 + 2 * math.log1p(place))) for place in range(5)]
    assert [step.confidence for step in chain.steps] == pytest.approx(expected)
    assert chain.confidence == pytest.approx(sum(expected) / 5)
    assert not chain.unsure


def test_the_chain_ends_where_doubt_begins_and_the_ranking_does_not() -> None:
    found, whole = search(min_confidence=0.4).find(QUESTION), search(min_confidence=None).find(QUESTION)
    assert found.chain.facts == (0, 1, 2)
    assert (found.chain.unsure, found.chain.stopped) == (True, False)
    assert found.chain.next_confidence == pytest.approx(whole.chain.steps[3].confidence)
    assert [candidate.fact for candidate in found.chain.left_out] == [3, 4]
    assert found.grown == whole.grown == (0, 1, 2, 3, 4)
    assert found.others.tolist() == whole.others.tolist()


@given(least=st.floats(0, 1), stop=st.floats(-6, 1), facts=st.integers(0, 4), grown=st.integers(0, 6))
def test_who_wants_no_ranking_gets_the_same_explanation_sooner(
    least: float, stop: float, facts: int, grown: int
) -> None:
    settings = {"min_confidence": least, "min_facts": facts, "min_grown": grown}
    whole, short = (search(stop=stop, whole=wanted, **settings).find(QUESTION) for wanted in (True, False))
    assert short.chain == whole.chain
    assert short.grown == whole.grown[: len(short.grown)]
    assert len(short.grown) <= len(short.chain.facts) + 1
    assert short.scorings <= whole.scorings


def test_only_steps_of_the_explanation_are_told() -> None:
    assert [step.chosen.fact for step in search(min_confidence=0.4).steps(QUESTION)] == [0, 1, 2]


def test_no_explanation_is_an_answer_too() -> None:
    chain = search(min_confidence=0.95).find(QUESTION).chain
    assert (chain.facts, chain.unsure, chain.confidence) == ((), True, None)
    assert [candidate.fact for candidate in chain.left_out] == [0, 1, 2, 3, 4]


def test_min_facts_go_before_doubt_and_given_facts_count() -> None:
    assert search(min_confidence=0.95, min_facts=2).find(QUESTION).chain.facts == (0, 1)
    assert search(min_confidence=0.95, min_facts=2).find(QUESTION, start=(4,)).chain.facts == (4, 0)


def test_stopping_ends_an_explanation_before_the_growth() -> None:
    found = search(None, stop=-1.5).find(QUESTION)
    assert (found.chain.facts, found.chain.stopped, found.grown) == ((0, 1), True, (0, 1, 2))
    assert found.chain.stop_score == -1.5


def test_without_calibration_nothing_is_doubtful() -> None:
    chain = search(None, min_confidence=1.0).find(QUESTION).chain
    assert chain.facts == (0, 1, 2, 3, 4)
    assert (chain.confidence, chain.next_confidence) == (None, None)


def test_beams_end_the_same_way() -> None:
    from arcf.chain import BeamSearch

    plain = search(min_confidence=0.4)
    beams = BeamSearch(
        plain.scorer, plain.neighborhood, ChainSettings(min_confidence=0.4, num_beams=2), "answer", BY_PLACE
    )
    assert len(beams.find(QUESTION).chain.facts) == 3


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_confidence_is_a_probability(value: float) -> None:
    with pytest.raises(SettingError, match="from 0 to 1"):
        ChainSettings(min_confidence=value)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    calibration = Calibration(-1.5, ZERO | {"share": 0.25}, {"science": {"questions": 3}})
    calibration.write(tmp_path / "calibration.json")
    assert load_calibration(tmp_path) == calibration


def test_a_model_without_calibration(tmp_path: Path) -> None:
    assert load_calibration(tmp_path) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "else"}, "is not a calibration of version 1"),
        ({"version": 2}, "is not a calibration of version 1"),
        ({"weights": {"share": 1.0}}, "needs the weights share, lead"),
        ({"weights": None}, "needs the weights"),
        ({"bias": "0"}, "needs numbers"),
        ({"bias": float("inf")}, "needs numbers"),
        ({"bias": None}, "needs numbers"),
    ],
)
def test_a_broken_calibration(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "calibration.json"
    BY_PLACE.write(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        load_calibration(tmp_path)
