"""The path re-ranker against its plain re-statement: all chains written out."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.errors import ArcfWarning, SettingError
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.rankers import PathRerank, PathSettings, RankerSettings, build_ranker
from arcf.scorer import Prefix
from arcf.types import Dataset, Fact, Question

WORDS = ("ice", "water", "heat", "bird", "egg", "sun", "moss")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


class Scorer:
    """Scores that depend on prefix and candidate and on nothing else; counts them."""

    def __init__(self) -> None:
        self.scorings = 0

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.scorings += len(candidates)
        return np.array([self.one(prefix.facts, candidate) for candidate in candidates.tolist()], dtype=np.float32)

    @staticmethod
    def one(facts: tuple[int, ...], candidate: int) -> float:
        return float(sum((place + 3) * (fact + 1) for place, fact in enumerate((*facts, candidate))) * 7919 % 101)


def ranker(texts: list[str], settings: PathSettings) -> PathRerank:
    facts = tuple(Fact(f"f{index}", text) for index, text in enumerate(texts))
    near, overlap = (Neighborhood(facts, DISTANCES[name].build(facts, ())) for name in ("tfidf", "overlap"))
    return PathRerank(Scorer(), near, overlap, settings)


def shares_a_word(one: str, other: str) -> bool:
    return bool(set(one.split()) & set(other.split()))


@given(st.lists(SENTENCES, max_size=9), SENTENCES, st.integers(1, 10), st.sampled_from((1, 2)))
def test_a_fact_has_the_score_of_the_best_chain_that_it_is_in(
    texts: list[str], stem: str, retrieved: int, longest: int
) -> None:
    path = ranker(texts, PathSettings(retrieved, longest))
    question = Question("q", stem)
    found = path.find(question)
    first = path.neighborhood.nearest(stem, retrieved).tolist()
    pairs = [
        (one, other)
        for one in first
        for other in range(len(texts))
        if longest > 1 and one != other and shares_a_word(texts[one], texts[other])
    ]
    chains = {chosen: Scorer.one(chosen[:-1], chosen[-1]) for chosen in chain(((fact,) for fact in first), pairs)}
    assert found.chains == len(chains)
    assert found.seconds >= 0
    expected = [
        max((score for chosen, score in chains.items() if fact in chosen), default=np.nan) for fact in range(len(texts))
    ]
    np.testing.assert_array_equal(found.scores, expected)
    distances = path.neighborhood.distances(stem).tolist()
    reached = sorted(
        (fact for fact in range(len(texts)) if expected[fact] == expected[fact]), key=lambda f: (-expected[f], f)
    )
    rest = sorted(set(range(len(texts))) - set(reached), key=lambda fact: (round(distances[fact], 9), fact))
    assert path.rank(question).facts.tolist() == [*reached, *rest]


def test_of_the_facts_that_share_a_word_only_the_nearest_follow_if_so_wanted() -> None:
    texts = ["ice sun", "ice sun", "ice moss heat egg", "ice"]
    path = ranker(texts, PathSettings(retrieved=1, linked=1))
    assert path.find(Question("q", "ice sun")).chains == 2
    assert path.scorer.scorings == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("texts", [[], ["moss"], ["the of and"]])
def test_nothing_to_begin_with(texts: list[str]) -> None:
    path = ranker(texts, PathSettings())
    assert path.find(Question("q", "zebra")).chains == 0
    assert path.rank(Question("q", "zebra")).facts.tolist() == list(range(len(texts)))


def test_the_packaged_model_reads_a_very_long_question_and_any_script() -> None:
    facts = ("melting turns ice into water", "ice is a solid", "ice is a solid", "漢字")
    dataset = Dataset("d", tuple(Fact(str(place), text) for place, text in enumerate(facts)))
    settings = RankerSettings("path-rerank", paths=PathSettings(retrieved=2))
    with pytest.warns(ArcfWarning, match="longer than the model can read"):
        ranking = build_ranker(settings, dataset).rank(Question("q", "Which process melts ice? " * 200))
    assert sorted(ranking.facts.tolist()) == [0, 1, 2, 3]
    assert ranking.facts[-1] == 3


@pytest.mark.parametrize("values", [{"retrieved": 0}, {"max_facts": 3}, {"max_facts": 0}, {"linked": 0}])
def test_settings_that_cannot_be(values: dict[str, int]) -> None:
    with pytest.raises(SettingError, match="Paths take"):
        PathSettings(**values)
