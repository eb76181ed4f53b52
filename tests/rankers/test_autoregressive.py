"""The paper's ranking against its plain re-statement, on random small corpora."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.chain import BeamSearch, ChainSearch, ChainSettings
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.rankers import Autoregressive, Tiers
from arcf.scorer.base import Prefix
from arcf.types import Fact, Question

WORDS = ("ice", "water", "heat", "bird", "egg", "sun", "moss", "rain")


@dataclass(frozen=True)
class HashScorer:
    """Scores and estimates that depend on prefix and candidate and on nothing else."""

    levels: int

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.array([self.one(prefix, candidate) for candidate in candidates.tolist()], dtype=np.float32)

    def one(self, prefix: Prefix, candidate: int) -> float:
        digest = hashlib.sha256(repr((prefix, candidate)).encode()).digest()
        return float(int.from_bytes(digest[:4], "big") % self.levels) - self.levels / 2

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.score(Prefix("estimate", prefix.facts), facts)

    known = estimate


def neighborhood_of(texts: Sequence[str], distance: str = "tfidf") -> Neighborhood:
    facts = tuple(Fact(f"f{index}", text) for index, text in enumerate(texts))
    return Neighborhood(facts, DISTANCES[distance].build(facts, ()))


sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
corpora = st.builds(neighborhood_of, st.lists(sentences, max_size=14), st.sampled_from(("tfidf", "overlap", "bm25")))
questions = st.builds(Question, id=st.just("q"), stem=sentences, answer=st.sampled_from(("", *WORDS)))
scorers = st.builds(HashScorer, st.sampled_from((2, 7, 1000)))
chain_settings = st.builds(
    ChainSettings,
    k=st.integers(1, 20),
    max_facts=st.integers(1, 5),
    min_facts=st.integers(0, 5),
    rescored=st.sampled_from((None, 0, 1, 96)),
    screened=st.sampled_from((None, 1, 2, 96)),
    skip_repeats=st.booleans(),
    average_scores=st.booleans(),
    num_beams=st.sampled_from((1, 1, 3)),
)


@given(questions, corpora, scorers, chain_settings)
def test_every_fact_once_chain_first_then_scored_then_seen_then_the_rest(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    ranker = Autoregressive(scorer, neighborhood, s)
    ranking = ranker.rank(question)
    assert sorted(ranking.facts.tolist()) == list(range(len(neighborhood.facts)))
    found = ranker.search.find(question)
    chain, others = list(found.grown), [*found.others.tolist(), *found.unscored.tolist()]
    texts = [neighborhood.facts[fact].text for fact in chain]
    distances = neighborhood.distances(" ".join([question.text, *texts])).tolist()
    rest = set(range(len(neighborhood.facts))) - set(chain) - set(others)
    expected = [*chain, *others, *sorted(rest, key=lambda fact: (distances[fact], fact))]
    assert ranking.facts.tolist() == expected
    assert ranking.question_id == "q"


@given(questions, corpora, scorers, chain_settings)
def test_scores_give_the_same_order(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    ranking = Autoregressive(scorer, neighborhood, s).rank(question)
    order = np.lexsort((ranking.facts, -ranking.scores))
    assert order.tolist() == list(range(len(ranking.facts)))
    assert np.isfinite(ranking.scores).all()


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("rest", [True, False])
def test_tiers_that_are_switched_off_are_left_out(scored: bool, rest: bool) -> None:
    neighborhood = neighborhood_of(["ice water", "ice heat", "ice sun", "bird egg", "moss"])
    s = ChainSettings(max_facts=1)
    ranking = Autoregressive(HashScorer(1000), neighborhood, s, Tiers(scored, rest)).rank(Question("q", "ice"))
    assert len(ranking.facts) == 1 + 2 * scored + 2 * rest
    assert set(ranking.facts.tolist()) >= ({3, 4} if rest else set())


def test_a_single_pass_is_the_order_of_the_first_scores() -> None:
    neighborhood = neighborhood_of(["ice water", "ice heat", "ice sun", "ice bird", "moss"])
    scorer, question = HashScorer(1000), Question("q", "ice")
    ranking = Autoregressive(scorer, neighborhood, ChainSettings(max_facts=1)).rank(question)
    assert ranking.facts.tolist() == [*sorted(range(4), key=lambda fact: -scorer.one(Prefix("ice"), fact)), 4]


def test_beams_are_a_setting() -> None:
    neighborhood, scorer = neighborhood_of(["ice water"]), HashScorer(7)
    assert type(Autoregressive(scorer, neighborhood).search) is ChainSearch
    assert type(Autoregressive(scorer, neighborhood, ChainSettings(num_beams=2)).search) is BeamSearch


def test_an_empty_corpus() -> None:
    ranking = Autoregressive(HashScorer(7), neighborhood_of([])).rank(Question("q", "ice"))
    assert (len(ranking.facts), len(ranking.scores)) == (0, 0)
