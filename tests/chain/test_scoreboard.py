"""Which facts are scored, against a plain re-statement of the rule, with scores and estimates that are a hash."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.chain.scoreboard import Scoreboard
from arcf.scorer.base import STOP, Estimating, Prefix

SIZE = 12


def hashed(prefix: Prefix, fact: int, levels: int) -> float:
    """Few distinct values, so that there are ties."""
    digest = hashlib.sha256(repr((prefix, fact)).encode()).digest()
    return float(int.from_bytes(digest[:4], "big") % levels)


@dataclass
class Plain:
    """A scorer without estimates."""

    calls: list[tuple[Prefix, list[int]]] = field(default_factory=list)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.calls.append((prefix, candidates.tolist()))
        return np.array([hashed(prefix, fact, 100) for fact in candidates.tolist()], dtype=np.float32)


class Hinting(Plain):
    """A scorer whose estimates say nothing of its scores."""

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.array([self.hint(prefix, fact) for fact in facts.tolist()], dtype=np.float32)

    known = estimate

    def hint(self, prefix: Prefix, fact: int) -> float:
        return hashed(Prefix("estimate", prefix.facts), fact, 5)


def grow(board: Scoreboard, sights: list[set[int]]) -> list[tuple[Prefix, set[int]]]:
    """Update a board as a chain does that sees more with every fact; the prefixes, and what is visible from them."""
    grown: list[tuple[Prefix, set[int]]] = []
    seen: set[int] = set()
    for length, sight in enumerate(sights):
        seen |= sight
        prefix = Prefix("q", tuple(range(SIZE, SIZE + length)))
        board.update(prefix, np.array(sorted(seen), dtype=np.int64))
        grown.append((prefix, set(seen)))
    return grown


sights = st.lists(st.sets(st.integers(0, SIZE - 1), min_size=1), min_size=1, max_size=4)


def test_only_a_scorer_with_estimates_is_taken_for_one() -> None:
    assert isinstance(Hinting(), Estimating)
    assert not isinstance(Plain(), Estimating)


@given(sights, st.integers(0, 4), st.integers(1, 4))
def test_the_best_old_and_the_most_promising_new_facts_are_scored(seen: list[set[int]], m: int, n: int) -> None:
    scorer = Hinting()
    board = Scoreboard(scorer, SIZE + 4, m, n)
    grown = grow(board, seen)
    scored: set[int] = set()
    for (prefix, visible), (asked, candidates) in zip(grown, scorer.calls, strict=True):
        facts = set(candidates) - {STOP}
        assert asked == prefix
        assert (STOP in candidates) == bool(prefix.facts)
        old, new = visible & scored, visible - scored
        assert len(facts & old) == min(m, len(old))
        promising = sorted(new, key=lambda fact: (-scorer.hint(prefix, fact), fact))
        assert facts & new == set(promising[: n + m - len(facts & old)])
        scored |= facts
    assert board.known().tolist() == sorted(scored)
    assert board.unscored().tolist() == sorted(grown[-1][1] - scored)
    assert board.scorings == sum(len(candidates) for _, candidates in scorer.calls)


@given(sights, st.integers(1, 3))
def test_exact_scores_all_that_is_visible_and_estimates_nothing(seen: list[set[int]], n: int) -> None:
    scorer, plain = Hinting(), Plain()
    board, exact = Scoreboard(scorer, SIZE + 4, None, n), Scoreboard(plain, SIZE + 4, None)
    for (_, visible), (_, candidates) in zip(grow(board, seen), scorer.calls, strict=True):
        assert set(candidates) - {STOP} == visible
    grow(exact, seen)
    assert scorer.calls == plain.calls
    np.testing.assert_array_equal(board.averages(), exact.averages())
    assert not len(board.unscored())


@given(sights, st.integers(0, 4), st.integers(1, 3))
def test_without_estimates_every_new_fact_is_scored(seen: list[set[int]], m: int, n: int) -> None:
    screened, all_new = Plain(), Plain()
    grow(Scoreboard(screened, SIZE + 4, m, n), seen)
    grow(Scoreboard(all_new, SIZE + 4, m), seen)
    assert screened.calls == all_new.calls


class Known:
    """A model that says the same after every prefix, and a part that is known and changes with it."""

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        return (self.estimate(prefix, candidates) - candidates).astype(np.float32)

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.where(facts == STOP, 0, 10.0 * ((facts * (len(prefix.facts) + 1)) % 7)).astype(np.float32)

    known = estimate


@pytest.mark.parametrize("rescored", [0, 1, 3])
def test_old_scores_follow_what_is_known_of_them(rescored: int) -> None:
    scorer, visible = Known(), np.arange(SIZE)
    board = Scoreboard(scorer, SIZE, rescored)
    for prefix in (Prefix("q"), Prefix("q", (20,)), Prefix("q", (20, 21))):
        board.update(prefix, visible)
        np.testing.assert_allclose(board.scores, scorer.score(prefix, visible))
    assert board.scorings == SIZE + 2 * (rescored + 1)


def test_a_fork_goes_on_alone() -> None:
    board = Scoreboard(Hinting(), 6, 1, 2)
    board.update(Prefix("q"), np.arange(6))
    before = board.estimates.copy(), board.scores.copy()
    fork = board.fork()
    fork.update(Prefix("q", (0,)), np.arange(1, 6))
    np.testing.assert_array_equal(board.estimates, before[0])
    np.testing.assert_array_equal(board.scores, before[1])
    assert (len(board.unscored()), len(fork.unscored())) == (3, 1)
    assert fork.scorings == 4
