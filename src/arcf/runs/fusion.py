"""Several runs as one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from arcf.errors import InputError
from arcf.rankers.fusion import check_weights, fuse
from arcf.runs.run import Run
from arcf.types import Dataset, Ranking

UNKNOWN = -1
Rankings = Mapping[int, Ranking]
"""The rankings of one question by the runs that have it, by the place of the run among all."""


def fuse_runs(
    runs: Sequence[Run], dataset: Dataset, weights: Sequence[float] = (), method: str = "scores"
) -> Iterator[Ranking]:
    """The fused ranking of every question that a run has, in the order of the first runs that have them.

    A question that a run lacks is fused from the others. Facts that are none of the dataset's are passed over.

    Raises:
        UnknownNameError: there is no such method.
        SettingError: the weights do not fit.
        InputError: scores are to be fused, and a run has none.
    """
    check_weights(weights, len(runs))
    for rankings in rankings_of(runs, dataset, method):
        yield fuse_rankings(rankings, weights, method)


def rankings_of(runs: Sequence[Run], dataset: Dataset, method: str) -> Iterator[Rankings]:
    """What is fused: the rankings of one question after the other, in integers.

    Raises:
        InputError: scores are to be fused, and a run has none.
    """
    # A fact is ranked for nearly every question, and looking it up takes longer than all that is done with it.
    fact_of = cache(lambda uid: dataset.ids.get(uid, UNKNOWN))
    for question in dict.fromkeys(question for run in runs for question in run.rankings):
        yield {
            place: _ranking(run, question, fact_of, scored=method == "scores")
            for place, run in enumerate(runs)
            if question in run.rankings
        }


def fuse_rankings(rankings: Rankings, weights: Sequence[float], method: str) -> Ranking:
    """The rankings of one question as one. Where only runs of weight 0 have it, they are all that is known of it."""
    own = [weights[place] for place in rankings] if weights else []
    return fuse(list(rankings.values()), own if any(own) else (), method)


def _ranking(run: Run, question: str, fact_of: Callable[[str], int], *, scored: bool) -> Ranking:
    """A question's ranking in integers."""
    uids = run.rankings[question]
    scores = run.scores.get(question)
    if scored and (scores is None or not np.isfinite(scores).all()):
        raise InputError(
            f"The run '{run.name}' has no finite scores for the question '{question}'; fuse by reciprocal-rank, or "
            "write the run as json or trec."
        )
    values = scores if scores is not None else np.zeros(len(uids))
    facts = np.fromiter(map(fact_of, uids), np.int64, len(uids))
    known = facts != UNKNOWN
    return Ranking(question, facts[known], values[known])
