"""The chain against a plain re-statement of Algorithm 1, on random small corpora and a scorer that is a hash."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.chain import BeamSearch, ChainSearch, ChainSettings, SearchResult
from arcf.errors import SettingError
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.types import Candidate, Fact, Question

WORDS = ("ice", "water", "heat", "bird", "egg", "sun", "moss", "rain")


@dataclass
class HashScorer:
    """Scores that depend on prefix and candidate and on nothing else; few distinct ones, so that there are ties."""

    levels: int = 7
    stop: float | None = None
    calls: list[tuple[Prefix, list[int]]] = field(default_factory=list)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.calls.append((prefix, candidates.tolist()))
        return np.array([self.one(prefix, candidate) for candidate in candidates.tolist()], dtype=np.float32)

    def one(self, prefix: Prefix, candidate: int) -> float:
        if candidate == STOP and self.stop is not None:
            return self.stop
        digest = hashlib.sha256(repr((prefix.query, prefix.facts, candidate)).encode()).digest()
        return float(int.from_bytes(digest[:4], "big") % self.levels)

    @property
    def scored(self) -> list[int]:
        return [candidate for _, candidates in self.calls for candidate in candidates]


def neighborhood_of(texts: Sequence[str]) -> Neighborhood:
    facts = tuple(Fact(f"f{index}", text) for index, text in enumerate(texts))
    return Neighborhood(facts, DISTANCES["overlap"].build(facts, ()))


sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
corpora = st.lists(sentences, min_size=0, max_size=14).map(neighborhood_of)
questions = st.builds(Question, id=st.just("q"), stem=sentences, answer=st.sampled_from(("", *WORDS)))
scorers = st.builds(HashScorer, levels=st.sampled_from((2, 7, 1000)), stop=st.sampled_from((None, -1.0, 5.0, 1e6)))
chain_settings = st.builds(
    ChainSettings,
    k=st.integers(1, 20),
    max_facts=st.integers(1, 6),
    min_facts=st.integers(0, 6),
    min_grown=st.just(0),
    rescored=st.none(),
    skip_repeats=st.booleans(),
    average_scores=st.booleans(),
)


@dataclass
class Plain:
    """What the re-statement finds."""

    chosen: list[int]
    stopped: bool
    iterations: list[dict[int, float]]
    scorings: int


def algorithm_1(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, start: tuple[int, ...] = ()
) -> Plain:
    """Algorithm 1 with dicts and loops: no order of sight, no scoreboard."""
    facts, iterations, scorings = list(start), [], 0
    while len(facts) < s.max_facts:
        candidates: set[int] = set(neighborhood.nearest(question.text, s.k).tolist())
        for fact in facts:
            candidates |= set(neighborhood.nearest(fact, s.k).tolist())
        candidates -= set(facts)
        if not candidates:
            break
        prefix = Prefix(question.query(), tuple(facts))
        scores = {candidate: scorer.one(prefix, candidate) for candidate in sorted(candidates)}
        scorings += len(scores) + bool(facts)
        iterations.append(scores)
        texts = {neighborhood.facts[fact].text for fact in facts} if s.skip_repeats else set()
        allowed = {fact: score for fact, score in scores.items() if neighborhood.facts[fact].text not in texts}
        if not allowed:
            break
        best = max(allowed, key=lambda fact: (allowed[fact], -fact))
        if facts and len(facts) >= s.min_facts and scorer.one(prefix, STOP) >= allowed[best]:
            return Plain(facts, True, iterations, scorings)
        facts.append(best)
    return Plain(facts, False, iterations, scorings)


def same(found: SearchResult, other: SearchResult) -> None:
    assert found.chain == other.chain
    assert found.others.tolist() == other.others.tolist()
    np.testing.assert_array_equal(found.scores, other.scores)


@given(questions, corpora, scorers, chain_settings)
def test_exact_search_is_algorithm_1(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    found = ChainSearch(scorer, neighborhood, s).find(question)
    plain = algorithm_1(question, neighborhood, scorer, s)
    assert list(found.chain.facts) == plain.chosen
    assert found.chain.stopped == plain.stopped
    assert found.scorings == len(scorer.scored) == plain.scorings
    # What is not chosen is ordered by the last iteration, or by the mean over all of them.
    seen = {fact for iteration in plain.iterations for fact in iteration}
    assert found.considered == len(seen)
    final = {
        fact: np.mean([iteration[fact] for iteration in plain.iterations if fact in iteration])
        if s.average_scores
        else plain.iterations[-1][fact]
        for fact in seen - set(plain.chosen)
    }
    assert found.others.tolist() == sorted(final, key=lambda fact: (-final[fact], fact))
    np.testing.assert_allclose(found.scores, [final[fact] for fact in found.others.tolist()])


@given(questions, corpora, scorers, chain_settings)
def test_steps_tell_what_was_chosen_over_what(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    chain = ChainSearch(scorer, neighborhood, s).find(question).chain
    for length, step in enumerate(chain.steps):
        prefix = Prefix(question.query(), chain.facts[:length])
        assert step.chosen.score == scorer.one(prefix, step.chosen.fact)
        assert step.stop_score == (scorer.one(prefix, STOP) if length else None)
        assert len(step.runners_up) <= s.runners_up
        assert [step.chosen.score, *(other.score for other in step.runners_up)] == sorted(
            (step.chosen.score, *(other.score for other in step.runners_up)), reverse=True
        )
        assert step.seen_from
        for seen in step.seen_from:
            source = question.text if seen.source is None else seen.source
            assert step.chosen.fact in neighborhood.nearest(source, s.k)
            assert seen.words
        if length >= max(s.min_facts, 1):
            assert step.stop_score is not None
            assert step.stop_score < step.chosen.score
    if chain.stopped:
        assert chain.stop_score is not None
        assert all(chain.stop_score >= left.score for left in chain.left_out)


@given(questions, corpora, scorers, chain_settings, st.integers(0, 5))
def test_no_fact_twice_and_the_lengths_hold(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, m: int
) -> None:
    fast = replace(s, rescored=m)
    found = ChainSearch(scorer, neighborhood, fast).find(question)
    facts = found.chain.facts
    assert len(set(facts)) == len(facts) <= s.max_facts
    assert set(facts).isdisjoint(found.others.tolist())
    if found.chain.stopped:
        assert len(facts) >= max(s.min_facts, 1)
    if s.skip_repeats:
        assert len({neighborhood.facts[fact].text for fact in facts}) == len(facts)


@given(questions, corpora, scorers, chain_settings)
def test_fast_search_that_rescores_everything_is_exact(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    fast = ChainSearch(scorer, neighborhood, replace(s, rescored=1000)).find(question)
    exact = ChainSearch(scorer, neighborhood, s).find(question)
    same(fast, exact)
    assert fast.scorings == exact.scorings


@given(questions, corpora, scorers, chain_settings, st.integers(0, 5))
def test_fast_search_scores_the_new_and_the_best_old(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, m: int
) -> None:
    ChainSearch(scorer, neighborhood, replace(s, rescored=m)).find(question)
    known: set[int] = set()
    for prefix, candidates in scorer.calls:
        facts = [candidate for candidate in candidates if candidate != STOP]
        assert len(set(candidates)) == len(candidates)
        assert (STOP in candidates) == bool(prefix.facts)
        visible = set(neighborhood.visible(question.text, prefix.facts, s.k).tolist())
        assert set(facts) - known == visible - known
        assert len(known & set(facts)) == min(m, len(visible & known))
        known |= set(facts)


class Drift:
    """Every score falls by 10 with each chosen fact, and fact 0 falls by more."""

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        length = len(prefix.facts)
        return np.array(
            [-1e6 if fact == STOP else fact - length * (10.0 + 50.0 * (fact == 6)) for fact in candidates.tolist()],
            dtype=np.float32,
        )


def test_old_scores_move_by_the_median_change() -> None:
    neighborhood = neighborhood_of(["ice"] * 8)
    question = Question("q", "ice")
    s = ChainSettings(max_facts=3, rescored=4, skip_repeats=False, average_scores=False)
    found = ChainSearch(Drift(), neighborhood, s).find(question)
    assert found.chain.facts == (7, 5, 4)
    # 0 and 1 were scored once, without a prefix, as 0 and 1; two prefixes later all others are 20 lower.
    assert dict(zip(found.others.tolist(), found.scores.tolist(), strict=True)) == {
        3: -17.0,
        2: -18.0,
        1: -19.0,
        0: -20.0,
        6: -64.0,
    }


@given(questions, corpora, scorers, chain_settings, st.sampled_from((None, 0, 2)))
def test_one_beam_is_greedy(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, m: int | None
) -> None:
    s = replace(s, rescored=m)
    greedy = ChainSearch(scorer, neighborhood, s).find(question)
    beam = BeamSearch(scorer, neighborhood, s).find(question)
    same(beam, greedy)
    assert beam.scorings == greedy.scorings


def all_chains(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, facts: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], bool, list[float]]]:
    """Every complete chain: its facts, whether it was stopped, and the log-probability of each of its decisions."""
    prefix = Prefix(question.query(), facts)
    taken = {neighborhood.facts[fact].text for fact in facts} if s.skip_repeats else set()
    visible = neighborhood.visible(question.text, facts, s.k).tolist()
    ways = [fact for fact in visible if neighborhood.facts[fact].text not in taken]
    if len(facts) == s.max_facts or not ways:
        yield facts, False, []
        return
    if facts and len(facts) >= s.min_facts:
        ways.append(STOP)
    scores = np.array([scorer.one(prefix, way) for way in ways])
    for way, log in zip(ways, scores - np.log(np.exp(scores).sum()), strict=True):
        if way == STOP:
            yield facts, True, [log]
        else:
            for chain, stopped, logs in all_chains(question, neighborhood, scorer, s, (*facts, way)):
                yield chain, stopped, [log, *logs]


@given(questions, corpora, st.builds(HashScorer, levels=st.just(7), stop=st.sampled_from((None, 5.0))), chain_settings)
@settings(max_examples=50)
def test_a_beam_of_everything_finds_the_chain_of_the_highest_mean_log_probability(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings
) -> None:
    s = replace(s, max_facts=min(s.max_facts, 3), k=3, num_beams=5000)
    chain = BeamSearch(scorer, neighborhood, s).find(question).chain
    values = {
        (facts, stopped): float(np.mean(logs)) if logs else 0.0
        for facts, stopped, logs in all_chains(question, neighborhood, scorer, s)
    }
    assert values[chain.facts, chain.stopped] == pytest.approx(max(values.values()))


@given(questions, corpora, scorers, chain_settings, st.integers(1, 4))
def test_same_input_same_result(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, beams: int
) -> None:
    s = replace(s, num_beams=beams, rescored=2)
    again = neighborhood_of([fact.text for fact in neighborhood.facts])
    same(BeamSearch(scorer, neighborhood, s).find(question), BeamSearch(scorer, again, s).find(question))


class HintingScorer(HashScorer):
    """With estimates, by which the new facts to be scored are chosen."""

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.array([self.one(Prefix("estimate", prefix.facts), fact) for fact in facts.tolist()], np.float32)

    known = estimate


@given(questions, corpora, chain_settings, st.sampled_from((None, 2)), st.integers(1, 4))
def test_screened_chains_are_of_scored_facts_and_nothing_is_scored_twice(
    question: Question, neighborhood: Neighborhood, s: ChainSettings, m: int | None, beams: int
) -> None:
    scorer = HintingScorer()
    s = replace(s, rescored=m, screened=2, num_beams=beams)
    found = BeamSearch(scorer, neighborhood, s).find(question)
    pairs = [(prefix, candidate) for prefix, candidates in scorer.calls for candidate in candidates]
    assert len(set(pairs)) == len(pairs)
    assert set(found.grown) <= set(scorer.scored)
    assert set(found.unscored.tolist()).isdisjoint(found.grown)
    if beams == 1:  # of several beams, another may have scored what the best one did not
        assert set(found.unscored.tolist()).isdisjoint(scorer.scored)
        same(found, ChainSearch(HintingScorer(), neighborhood, s).find(question))


def some_facts(data: st.DataObject, neighborhood: Neighborhood) -> tuple[int, ...]:
    ids = range(len(neighborhood.facts))
    return tuple(data.draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))) if ids else ()


@given(questions, corpora, scorers, chain_settings, st.data())
def test_a_given_start_is_gone_on_from(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, data: st.DataObject
) -> None:
    start = some_facts(data, neighborhood)
    found = ChainSearch(scorer, neighborhood, s).find(question, start=start)
    plain = algorithm_1(question, neighborhood, scorer, s, start)
    assert list(found.chain.facts) == plain.chosen
    assert found.chain.start == start
    assert found.chain.stopped == plain.stopped
    assert found.scorings == plain.scorings
    # A chain that is continued from its own beginning comes out as it was.
    whole = ChainSearch(scorer, neighborhood, s).find(question).chain
    rest = ChainSearch(scorer, neighborhood, s).find(question, start=whole.facts[:2]).chain
    assert rest.facts == whole.facts


@given(questions, corpora, scorers, chain_settings, st.data())
def test_excluded_facts_are_neither_scored_nor_repeated(
    question: Question, neighborhood: Neighborhood, scorer: HashScorer, s: ChainSettings, data: st.DataObject
) -> None:
    excluded = set(some_facts(data, neighborhood))
    found = ChainSearch(scorer, neighborhood, s).find(question, excluded=excluded)
    assert excluded.isdisjoint(scorer.scored)
    assert excluded.isdisjoint(found.chain.facts)
    if s.skip_repeats:
        texts = {neighborhood.facts[fact].text for fact in excluded}
        assert texts.isdisjoint(neighborhood.facts[fact].text for fact in found.chain.facts)


def test_steps_come_one_by_one() -> None:
    scorer = HashScorer(stop=-1.0)
    search = ChainSearch(scorer, neighborhood_of(["ice water", "water heat", "heat sun"]), ChainSettings())
    steps = search.steps(Question("q", "ice"))
    first = next(steps)
    assert len(scorer.calls) == 1
    assert first.chosen.fact == 0
    assert [step.chosen.fact for step in steps] == [1, 2]


def test_nothing_visible_is_an_empty_chain() -> None:
    scorer = HashScorer()
    found = ChainSearch(scorer, neighborhood_of(["ice water"])).find(Question("q", "a zebra"))
    assert (found.chain.facts, found.chain.stopped, found.scorings, scorer.calls) == ((), False, 0, [])


def test_one_fact() -> None:
    found = ChainSearch(HashScorer(), neighborhood_of(["ice water"])).find(Question("q", "ice"))
    assert (found.chain.facts, found.chain.stopped, found.scorings) == ((0,), False, 1)


@pytest.mark.parametrize(("min_facts", "length"), [(0, 1), (1, 1), (2, 2), (3, 3), (9, 4)])
def test_the_stop_sample_waits_for_the_shortest_length(min_facts: int, length: int) -> None:
    neighborhood = neighborhood_of(["ice water", "ice heat", "ice sun", "ice moss"])
    s = ChainSettings(min_facts=min_facts)
    found = ChainSearch(HashScorer(stop=1e6), neighborhood, s).find(Question("q", "ice"))
    assert len(found.chain.facts) == length
    assert found.chain.stopped == (length < 4)


def test_runners_up_of_a_beam_leave_out_only_the_chosen() -> None:
    search = BeamSearch(HashScorer(levels=1000), neighborhood_of(["ice"] * 9), ChainSettings(num_beams=3, runners_up=2))
    for step in search.find(Question("q", "ice")).chain.steps:
        assert step.chosen not in step.runners_up
        assert all(isinstance(other, Candidate) for other in step.runners_up)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"max_facts": 0}, {"min_facts": -1}, {"rescored": -1}, {"screened": 0}])
def test_impossible_settings(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=next(iter(wrong))):
        ChainSettings(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"max_facts": 2.5}, {"k": "3"}, {"k": None}, {"num_beams": True}, {"min_confidence": "0.5"}]
)
def test_settings_of_another_kind(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(wrong))):
        ChainSettings(**wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    assert ChainSettings(k=np.int64(3), min_confidence=np.float32(0.5)).k == 3  # type: ignore[arg-type]
