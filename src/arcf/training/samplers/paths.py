"""Chains of up to two facts, as a path re-ranker learns from them (Das et al., 2019).

The chain (f1, f2) is the candidate f2 after the prefix (q, f1), and the chain (f1) the candidate f1 after q alone: in
text they are what the paper scores, and all chains that begin alike share the reading of their beginning. A chain is
right if all of its facts are gold.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import FactIds
from arcf.neighborhood.loading import make_neighborhood
from arcf.scorer.base import Prefix
from arcf.training.samplers.base import Material, QuestionSampler, Sample
from arcf.training.samplers.settings import Paths, Sampling


class PathSampler(QuestionSampler):
    """Compares the retrieved facts alone and the chains that begin with some of them."""

    def __init__(self, material: Material, sampling: Sampling, seed: int) -> None:
        super().__init__(material, sampling, seed)
        self._overlap = make_neighborhood(material.dataset, "overlap")

    @classmethod
    def check(cls, sampling: Sampling) -> None:
        """Refuse what chains have no use for."""
        super().check(replace(sampling, paths=Paths()))
        if sampling.pool != "neighborhood":
            raise SettingError(
                f"Chains begin with retrieved facts; samples of the kind paths have no pool = {sampling.pool}."
            )

    def _draw(self, epoch: int, index: int, rng: np.random.Generator) -> Sample | None:
        del epoch
        question, gold = self.questions[index], self._gold[index]
        retrieved = self.neighborhood.nearest(question.text, self.sampling.paths.retrieved)
        query = self._query(question, rng)
        groups = [(Prefix(query), *self._chosen(retrieved, gold, index, rng))]
        # What only repeats a gold fact's text would begin wrong chains that read like right ones.
        starts = retrieved[np.isin(retrieved, gold) | np.isin(retrieved, self._wrong(retrieved, gold))]
        for start in rng.choice(starts, min(self.sampling.paths.starts, len(starts)), replace=False).tolist():
            linked = self._overlap.nearest(start, len(self._text_of))
            ends, are_gold = self._chosen(linked, gold, index, rng)
            # From a wrong beginning, gold facts make wrong chains, which look most like right ones.
            groups.append((Prefix(query, (start,)), ends, are_gold & (start in gold)))
        groups = [group for group in groups if len(group[1])]
        if not groups:
            return None
        prefixes, facts, labels = zip(*groups, strict=True)
        counts = tuple(map(len, facts))
        return Sample(prefixes, counts, np.concatenate(facts), np.concatenate(labels), question.query())

    def _chosen(
        self, pool: FactIds, gold: FactIds, index: int, rng: np.random.Generator
    ) -> tuple[FactIds, NDArray[np.bool_]]:
        """The last facts of chains, and which are gold: all that the pool has, and some others."""
        positive = pool[np.isin(pool, gold)]
        negative = self._negatives(self._wrong(pool, gold), self._hard[index], rng)
        facts = np.concatenate([positive, negative])
        return facts, np.arange(len(facts)) < len(positive)
