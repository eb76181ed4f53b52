"""Single facts, as the paper's baseline learns from them: a question alone, and facts that do or do not explain it."""

import numpy as np

from arcf.scorer.base import Prefix
from arcf.training.samplers.base import QuestionSampler, Sample


class FactSampler(QuestionSampler):
    """An empty prefix; right are the gold facts of the pool, wrong some of its others. There is no stop sample."""

    def _draw(self, epoch: int, index: int, rng: np.random.Generator) -> Sample | None:
        del epoch
        question, gold = self.questions[index], self._gold[index]
        pool = self._visible(question, np.empty(0, dtype=np.int64))
        right = pool[np.isin(pool, gold)]
        wrong = self._negatives(self._wrong(pool, gold), self._hard[index], rng)
        candidates = np.concatenate([right, wrong])
        if not len(candidates):
            return None
        prefix = Prefix(self._query(question, rng))
        labels = np.arange(len(candidates)) < len(right)
        return Sample((prefix,), (len(candidates),), candidates, labels, question.query())
