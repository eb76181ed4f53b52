"""Measures of one ranking against its gold facts.

A ranking enters only through the ranks r_1 < r_2 < ... of the gold facts in it (`gold_ranks`, counted from 1), and
the gold only through its size G. A gold fact that the ranking lacks has no rank.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np


def gold_ranks(ranking: Iterable[str], gold: Collection[str]) -> dict[str, int]:
    """The rank of every gold fact that the ranking holds, best first.

    A fact that is ranked twice keeps its first place, and its second one takes up no rank.
    """
    wanted = frozenset(gold)
    return {uid: rank for rank, uid in enumerate(dict.fromkeys(ranking), 1) if uid in wanted}


def average_precision(ranks: Collection[int], gold_size: int) -> float:
    """AP = 1/G * sum_i i / r_i, the precision at each gold fact, averaged; a fact without a rank adds 0."""
    return sum(place / rank for place, rank in enumerate(ranks, 1)) / gold_size


def precision(ranks: Collection[int], cutoff: int) -> float:
    """P@k = |{i: r_i <= k}| / k, also where the ranking is shorter than k."""
    return _found(ranks, cutoff) / cutoff


def recall(ranks: Collection[int], gold_size: int, cutoff: int) -> float:
    """R@k = |{i: r_i <= k}| / G."""
    return _found(ranks, cutoff) / gold_size


def ndcg(ranks: Collection[int], gold_size: int) -> float:
    """Binary nDCG over the whole ranking: sum_i 1 / log2(1 + r_i), over the same sum for ranks 1..G."""
    return _discounts(list(ranks)) / _discounts(range(1, gold_size + 1))


def _found(ranks: Collection[int], cutoff: int) -> int:
    return sum(rank <= cutoff for rank in ranks)


def _discounts(ranks: Sequence[int]) -> float:
    return float(np.sum(1 / np.log2(np.asarray(ranks, dtype=np.float64) + 1)))
