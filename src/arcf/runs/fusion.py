"""Several runs as one."""

from collections.abc import Iterator, Sequence

import numpy as np

from arcf.errors import InputError
from arcf.rankers.fusion import check_weights, fuse
from arcf.runs.run import Run
from arcf.types import Dataset, Ranking


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
    given = list(weights) or [1.0] * len(runs)
    for question in dict.fromkeys(question for run in runs for question in run.rankings):
        having = [(run, weight) for run, weight in zip(runs, given, strict=True) if question in run.rankings]
        rankings = [_ranking(run, question, dataset, scored=method == "scores") for run, _ in having]
        # Where only runs of weight 0 have the question, they are all that is known of it.
        kept = [weight for _, weight in having]
        yield fuse(rankings, kept if any(kept) else (), method)


def _ranking(run: Run, question: str, dataset: Dataset, *, scored: bool) -> Ranking:
    """A question's ranking in integers."""
    uids = run.rankings[question]
    scores = run.scores.get(question)
    if scored and (scores is None or not np.isfinite(scores).all()):
        raise InputError(
            f"The run '{run.name}' has no finite scores for the question '{question}'; fuse by reciprocal-rank, or "
            "write the run as json or trec."
        )
    values = scores if scores is not None else np.zeros(len(uids))
    known = [place for place, uid in enumerate(uids) if uid in dataset.ids]
    facts = np.array([dataset.ids[uids[place]] for place in known], dtype=np.int64)
    return Ranking(question, facts, values[known])
