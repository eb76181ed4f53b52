"""What a sampler is, and what those have in common that go from question to question.

Each sample is drawn by a generator of its own, seeded by (seed, epoch, question, repetition). So what is drawn depends
on nothing else: not on the number of workers, not on the order, not on where a run was interrupted.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import FactIds, Neighborhood
from arcf.scorer.base import Prefix
from arcf.training.samplers.settings import Paths, Sampling
from arcf.types import ANSWER_MARK, Dataset, Question, number_texts

NO_FACTS: FactIds = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One term of the loss: candidates (fact ids, or `STOP`) after one prefix or several, and which of them are right.

    The first `counts[0]` candidates belong to the first prefix, and so on; all are compared with one another. `query`
    is the whole one, where prefixes have words left out. Of a sample that is not `labelled`, nobody knows what is
    right: only a teacher's scores say anything of it.
    """

    prefixes: tuple[Prefix, ...]
    counts: tuple[int, ...]
    candidates: NDArray[np.int64]
    labels: NDArray[np.bool_]
    query: str
    labelled: bool = True

    @property
    def parts(self) -> tuple[NDArray[np.int64], ...]:
        """The candidates of each prefix."""
        return tuple(np.split(self.candidates, np.cumsum(self.counts)[:-1]))

    @property
    def whole_prefixes(self) -> tuple[Prefix, ...]:
        """The prefixes with the whole query."""
        return tuple(replace(prefix, query=self.query) for prefix in self.prefixes)


class Sampler(Protocol):
    """Draws samples by number."""

    @property
    def per_epoch(self) -> int:
        """Samples of one epoch."""
        ...

    def order(self, epoch: int) -> NDArray[np.int64]:
        """The order in which an epoch's samples are used: numbers from 0 to `per_epoch` - 1."""
        ...

    def draw(self, epoch: int, number: int) -> Sample | None:
        """A sample, always the same one for the same numbers; None where there is no candidate at all."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What samples are drawn from: questions of a dataset, and what they see.

    `mined` gives the facts of a mining's run, best first, by question id.
    """

    dataset: Dataset
    questions: Sequence[Question]
    neighborhood: Neighborhood
    mined: Mapping[str, FactIds] = field(default_factory=lambda: MappingProxyType({}))


class QuestionSampler(ABC):
    """Draws `sampling.prefixes` samples of each question with gold facts in every epoch."""

    #: Whether samples say which candidates are right; where they do not, questions need no gold facts.
    labelled: ClassVar[bool] = True

    def __init__(self, material: Material, sampling: Sampling, seed: int) -> None:
        dataset = material.dataset
        self.sampling = sampling
        self.questions = [
            question.asked(sampling.query)
            for question in material.questions
            if dataset.gold_ids(question) or not self.labelled
        ]
        self.neighborhood = material.neighborhood
        self._gold = [np.array(dataset.gold_ids(question), dtype=np.int64) for question in self.questions]
        self._seed = seed
        self._text_of = number_texts(dataset.facts)
        self._explains = np.isin(np.arange(len(self._text_of)), np.concatenate([NO_FACTS, *self._gold]))
        self._only_explaining = sampling.pool == "explaining" and self.labelled
        depth = sampling.mining.depth if sampling.mining else 0
        self._hard = [
            self._wrong(material.mined.get(question.id, NO_FACTS), gold)[:depth]
            for question, gold in zip(self.questions, self._gold, strict=True)
        ]

    @classmethod
    def check(cls, sampling: Sampling) -> None:
        """Refuse settings that this kind of sample has no use for.

        Raises:
            SettingError: there is one.
        """
        if sampling.conditioning is not None:
            raise SettingError("conditioning replaces facts of a prefix; only samples of the kind prefixes have any.")
        if sampling.paths != Paths():
            raise SettingError("paths tell which chains are compared; only samples of the kind paths are of chains.")

    @property
    def per_epoch(self) -> int:
        """Samples of one epoch."""
        return len(self.questions) * self.sampling.prefixes

    def order(self, epoch: int) -> NDArray[np.int64]:
        """The order in which an epoch's samples are used: numbers from 0 to `per_epoch` - 1.

        Its generator takes the place of one more question: numpy reads missing numbers of a seed as 0, so (seed, epoch)
        would be that of the first sample.
        """
        return np.random.default_rng([self._seed, epoch, len(self.questions)]).permutation(self.per_epoch)

    def draw(self, epoch: int, number: int) -> Sample | None:
        """A sample, or None where there is no candidate."""
        index, repetition = divmod(number, self.sampling.prefixes)
        return self._draw(epoch, index, np.random.default_rng([self._seed, epoch, index, repetition]))

    @abstractmethod
    def _draw(self, epoch: int, index: int, rng: np.random.Generator) -> Sample | None:
        """A sample of the question at that place."""

    def _visible(self, question: Question, chosen: FactIds) -> FactIds:
        """The facts that may come next: those of the pool."""
        if self.sampling.pool == "corpus":
            return np.setdiff1d(np.arange(len(self._text_of)), chosen)
        visible = self.neighborhood.visible(question.text, chosen.tolist(), self.sampling.k)
        return visible[self._explains[visible]] if self._only_explaining else visible

    def _negatives(self, wrong: FactIds, hard: FactIds, rng: np.random.Generator) -> FactIds:
        """As many of the wrong facts as a sample takes: hard ones first, up to their share, then any."""
        count = self.sampling.negatives
        if count is None or len(wrong) <= count:
            return wrong
        if self.sampling.mining is None:
            return rng.choice(wrong, count, replace=False)
        is_hard = np.isin(wrong, hard)
        wanted = min(round(self.sampling.mining.share * count), int(is_hard.sum()))
        taken = rng.choice(wrong[is_hard], wanted, replace=False)
        others = wrong[~np.isin(wrong, taken)]
        return np.concatenate([taken, rng.choice(others, count - wanted, replace=False)])

    def _wrong(self, visible: FactIds, gold: FactIds) -> FactIds:
        """The visible facts that are not gold and do not say the same as a gold fact in the same words."""
        return visible[~np.isin(self._text_of[visible], self._text_of[gold])]

    def _query(self, question: Question, rng: np.random.Generator) -> str:
        """The query without a random share of its words; never without all, and always with its answer's mark."""
        query, share = question.query(), self.sampling.word_dropout
        if not share:
            return query
        words = query.split()
        kept = [
            word
            for word, draw in zip(words, rng.random(len(words)), strict=True)
            if draw >= share or word == ANSWER_MARK
        ]
        return " ".join(kept) if set(kept) - {ANSWER_MARK} else query
