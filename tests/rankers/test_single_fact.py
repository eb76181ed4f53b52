"""Every fact scored alone, against its plain re-statement."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.rankers import RankerSettings, SingleFact, build_ranker
from arcf.scorer import Prefix
from arcf.types import Dataset, Fact, Question

WORDS = ("ice", "water", "heat", "bird", "egg", "sun", "moss")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@dataclass(frozen=True)
class HashScorer:
    """Scores that depend on prefix and candidate and on nothing else."""

    levels: int = 1000

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.array([self.one(prefix, candidate) for candidate in candidates.tolist()], dtype=np.float32)

    def one(self, prefix: Prefix, candidate: int) -> float:
        digest = hashlib.sha256(repr((prefix, candidate)).encode()).digest()
        return float(int.from_bytes(digest[:4], "big") % self.levels) - self.levels / 2


def neighborhood_of(texts: list[str], distance: str = "tfidf") -> Neighborhood:
    facts = tuple(Fact(f"f{index}", text) for index, text in enumerate(texts))
    return Neighborhood(facts, DISTANCES[distance].build(facts, ()))


@given(st.lists(SENTENCES, max_size=10), SENTENCES, st.sampled_from((2, 1000)))
def test_all_facts_by_their_scores_after_the_question_alone(texts: list[str], stem: str, levels: int) -> None:
    scorer, question = HashScorer(levels), Question("q", stem, answer="ice")
    ranking = SingleFact(scorer, neighborhood_of(texts)).rank(question)
    prefix = Prefix(f"{stem} (answer) ice")
    assert ranking.facts.tolist() == sorted(range(len(texts)), key=lambda fact: (-scorer.one(prefix, fact), fact))
    assert ranking.chosen is None


@given(st.lists(SENTENCES, max_size=10), SENTENCES, st.integers(1, 12))
def test_with_a_limit_only_the_nearest_are_scored_and_the_rest_follows(
    texts: list[str], stem: str, retrieved: int
) -> None:
    scorer, neighborhood, question = HashScorer(), neighborhood_of(texts), Question("q", stem)
    ranking = SingleFact(scorer, neighborhood, retrieved).rank(question)
    near = set(neighborhood.nearest(stem, retrieved).tolist())
    scored = sorted(near, key=lambda fact: (-scorer.one(Prefix(stem), fact), fact))
    distances = neighborhood.distances(stem).tolist()
    rest = sorted(set(range(len(texts))) - near, key=lambda fact: (round(distances[fact], 9), fact))
    assert ranking.facts.tolist() == [*scored, *rest]
    assert (np.diff(ranking.scores) <= 0).all()


def test_the_form_of_the_query_is_obeyed() -> None:
    scorer, neighborhood = HashScorer(), neighborhood_of(["ice", "sun", "moss"])
    ranking = SingleFact(scorer, neighborhood, query="stem").rank(Question("q", "What?", answer="ice"))
    assert ranking.facts.tolist() == sorted(range(3), key=lambda fact: -scorer.one(Prefix("What?"), fact))


def test_the_packaged_model_finds_the_fact_that_says_it() -> None:
    facts = ("a bird lays an egg", "melting turns ice into water", "moss is green", "é ß 漢字")
    dataset = Dataset("d", tuple(Fact(str(place), text) for place, text in enumerate(facts)))
    ranking = build_ranker(RankerSettings("single-fact"), dataset).rank(Question("q", "What turns ice into water?"))
    assert ranking.facts[0] == 1
    assert sorted(ranking.facts.tolist()) == [0, 1, 2, 3]


def test_settings_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="At least 1 fact is retrieved, not 0"):
        RankerSettings("single-fact", retrieved=0)
    with pytest.raises(SettingError, match="no use for the setting paths"):
        build_ranker(RankerSettings.from_dict({"kind": "single-fact", "paths": {"retrieved": 3}}), Dataset("d", ()))
