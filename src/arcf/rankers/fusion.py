"""Several rankings of one question as one: each gives every fact a value, and the weighted values are added up."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.registry import pick
from arcf.types import Ranking

Values = NDArray[np.float64]

#: The constant of reciprocal rank fusion (Cormack et al., 2009): the larger, the less the first ranks stand out.
SMOOTHING = 60.0


def by_scores(ranking: Ranking) -> Values:
    """Scores moved and stretched to run from 0 to 1; all 1 where they are equal."""
    scores = ranking.scores
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))


def by_ranks(ranking: Ranking) -> Values:
    """1 / (60 + rank), whatever the scores."""
    return 1 / (SMOOTHING + np.arange(1, len(ranking.facts) + 1))


#: What a ranking says of its facts, best first. A fact that it lacks has 0.
FUSIONS: Mapping[str, Callable[[Ranking], Values]] = MappingProxyType(
    {"scores": by_scores, "reciprocal-rank": by_ranks}
)


def check_weights(weights: Sequence[float], count: int) -> None:
    """Refuse weights that cannot be those of `count` rankings; none at all stand for equal ones.

    Raises:
        SettingError: their number is another, one is negative, or all are 0.
    """
    if weights and len(weights) != count:
        raise SettingError(f"Each ranking that is fused has a weight: give {count} of them, not {len(weights)}.")
    if weights and (min(weights) < 0 or not any(weights)):
        raise SettingError(f"Weights are at least 0, and not all of them 0: not {', '.join(map(str, weights))}.")


def fuse(rankings: Sequence[Ranking], weights: Sequence[float] = (), method: str = "scores") -> Ranking:
    """The facts of any of the rankings by the weighted sum of their values; without weights, all count the same.

    Raises:
        UnknownNameError: there is no such method.
        SettingError: the weights do not fit, or there is nothing to fuse.
    """
    check_weights(weights, len(rankings))
    if not rankings:
        raise SettingError("There is no ranking to fuse; give at least one.")
    value_of = pick(FUSIONS, method, "way to fuse")
    size = max(int(ranking.facts.max(initial=-1)) for ranking in rankings) + 1
    total, ranked = np.zeros(size), np.zeros(size, dtype=bool)
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        total[ranking.facts] += weight * value_of(ranking)
        ranked[ranking.facts] = True
    facts = np.flatnonzero(ranked)
    order = np.argsort(-total[facts], kind="stable")
    return Ranking(rankings[0].question_id, facts[order], total[facts[order]])
