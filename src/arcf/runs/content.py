"""What the readers of all formats gather from a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arcf.runs.run import ChosenUids, Run, Scores


@dataclass(frozen=True, slots=True)
class Content:
    """The rankings of a file as they are written in it: a uid may come twice. Scores and chains where it has them."""

    rankings: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, Sequence[float]] = field(default_factory=dict)
    chains: dict[str, ChosenUids] = field(default_factory=dict)

    def run(self, name: str) -> Run:
        """The run: of a uid that is ranked twice, the first place counts."""
        rankings = {question: tuple(dict.fromkeys(uids)) for question, uids in self.rankings.items()}
        scores = {
            question: _of_first(uids, np.asarray(self.scores[question], dtype=np.float64), len(rankings[question]))
            for question, uids in self.rankings.items()
            if len(self.scores.get(question, ())) == len(uids)
        }
        return Run(name, rankings, scores, self.chains)


def _of_first(uids: Sequence[str], scores: Scores, distinct: int) -> Scores:
    """The scores of each uid's first place."""
    if distinct == len(uids):
        return scores
    first = {uid: place for place, uid in reversed(list(enumerate(uids)))}
    return scores[sorted(first.values())]
