"""The paper's samples: a prefix of gold facts, and the visible facts that should or should not come next."""

from dataclasses import replace

import numpy as np

from arcf.neighborhood import FactIds
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers.base import QuestionSampler, Sample
from arcf.training.samplers.settings import Sampling


class PrefixSampler(QuestionSampler):
    """N ~ U(0, G) gold facts as prefix; right are all others in sight, wrong some of the rest.

    The stop sample is right if and only if nothing right is left to see; without a chosen fact it does not exist.
    """

    @classmethod
    def check(cls, sampling: Sampling) -> None:
        """Refuse what a single prefix has no use for."""
        super().check(replace(sampling, conditioning=None))

    def _draw(self, epoch: int, index: int, rng: np.random.Generator) -> Sample | None:
        question, gold = self.questions[index], self._gold[index]
        chosen = rng.permutation(gold)[: rng.integers(len(gold) + 1)]
        visible = self._visible(question, chosen)
        conditioning = self.sampling.conditioning
        if conditioning and epoch >= conditioning.start:
            chosen = _replace_some(chosen, self._wrong(visible, gold), conditioning.share, rng)
            visible = self._visible(question, chosen)
        right = visible[np.isin(visible, gold)]
        wrong = self._negatives(self._wrong(visible, gold), self._hard[index], rng)
        prefix = Prefix(self._query(question, rng), tuple(chosen.tolist()))
        return _sample(prefix, question.query(), right, wrong)


def _sample(prefix: Prefix, query: str, right: FactIds, wrong: FactIds) -> Sample | None:
    stop = np.full(1 if prefix.facts else 0, STOP, dtype=np.int64)
    candidates = np.concatenate([right, wrong, stop])
    labels = np.arange(len(candidates)) < len(right)
    labels[len(right) + len(wrong) :] = not len(right)
    return Sample((prefix,), (len(candidates),), candidates, labels, query) if len(candidates) else None


def _replace_some(chosen: FactIds, wrong: FactIds, share: float, rng: np.random.Generator) -> FactIds:
    """The prefix with some of its facts, but not all, replaced by wrong ones at random places."""
    count = min(round(rng.uniform(0, share) * len(chosen)), len(chosen) - 1, len(wrong))
    if count <= 0:
        return chosen
    places = rng.choice(len(chosen), count, replace=False)
    mixed = chosen.copy()
    mixed[places] = rng.choice(wrong, count, replace=False)
    return mixed
