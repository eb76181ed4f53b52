"""Samples of questions that nobody has explained, for a student to learn from a teacher what comes next."""

from dataclasses import replace

import numpy as np

from arcf.neighborhood import FactIds
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers.base import QuestionSampler, Sample
from arcf.training.samplers.settings import Sampling
from arcf.types import Question


class UnlabelledSampler(QuestionSampler):
    """N ~ U(0, `max_facts`) of the question's likely facts as prefix; candidates are the others, and some in sight.

    Likely are the first facts of the question in the run of `sampling.mining` where it has them (a teacher's own
    choice), else those nearest to it. There are no labels; stopping is a candidate as soon as a fact is chosen.
    """

    labelled = False

    @classmethod
    def check(cls, sampling: Sampling) -> None:
        """Refuse what is of no use; other corpora of the same run may have one for conditioning."""
        super().check(replace(sampling, conditioning=None))

    def _draw(self, epoch: int, index: int, rng: np.random.Generator) -> Sample | None:
        del epoch
        question = self.questions[index]
        likely = self._likely(question, self._hard[index])
        most = min(self.sampling.unlabelled.max_facts, len(likely))
        chosen = likely[rng.permutation(len(likely))[: rng.integers(most + 1)]]
        visible = self._visible(question, chosen)
        is_likely = np.isin(visible, likely)
        others = self._negatives(visible[~is_likely], likely, rng)
        stop = np.full(1 if len(chosen) else 0, STOP, dtype=np.int64)
        candidates = np.concatenate([visible[is_likely], others, stop])
        if not len(candidates):
            return None
        prefix = Prefix(self._query(question, rng), tuple(chosen.tolist()))
        nobody_knows = np.zeros(len(candidates), dtype=np.bool_)
        return Sample((prefix,), (len(candidates),), candidates, nobody_knows, question.query(), labelled=False)

    def _likely(self, question: Question, mined: FactIds) -> FactIds:
        nearest = self.sampling.unlabelled.nearest
        return mined[:nearest] if len(mined) else self.neighborhood.nearest(question.text, nearest)
