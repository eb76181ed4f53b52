"""Training samples: a prefix of gold facts, and the visible facts that should or should not come next.

Each sample is drawn by a generator of its own, seeded by (seed, epoch, question, number of the prefix). So what is
drawn depends on nothing else: not on the number of workers, not on the order, not on where a run was interrupted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.neighborhood import FactIds, Neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.types import ANSWER_MARK, Dataset, Question, number_texts

_NONE: FactIds = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Conditioning:
    """Conditioning on negatives (CN): prefixes like those of inference, with wrong facts among the chosen ones.

    From epoch `start` on, a share of the prefix's gold facts, uniform from 0 to `share`, is replaced by visible facts
    that are not gold; at least one gold fact stays.
    """

    share: float = 0.3
    start: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or self.start < 0:
            raise SettingError(
                f"Conditioning takes a share in (0, 1] and a start >= 0, not {self.share}, {self.start}."
            )


@dataclass(frozen=True, slots=True)
class Mining:
    """Hard negatives: wrong facts that a ranker took for right ones.

    `run` is a run file of the training questions (`arcf rank --split train`). `share` of a sample's negatives, as far
    as they are visible, come from the first `depth` wrong facts of its question there; the others stay uniform.
    """

    run: str
    share: float = 0.5
    depth: int = 64

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or self.depth < 1:
            raise SettingError(f"Mining takes a share in (0, 1] and a depth >= 1, not {self.share}, {self.depth}.")


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a sample looks like.

    `k`: size of a neighborhood. `prefixes`: samples per question and epoch. `negatives`: how many wrong facts a sample
    has, uniform among the visible ones; None takes all of them. `word_dropout`: the share of a query's words that a
    sample leaves out, at random: a question that is never read twice the same is harder to learn by heart.
    """

    k: int = 180
    prefixes: int = 4
    negatives: int | None = 32
    word_dropout: float = 0.0
    conditioning: Conditioning | None = None
    mining: Mining | None = None

    def __post_init__(self) -> None:
        for name in ("k", "prefixes", "negatives"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingError(f"The setting {name} must be at least 1, not {value}.")
        if not 0 <= self.word_dropout < 1:
            raise SettingError(f"The setting word_dropout must be in [0, 1), not {self.word_dropout}.")


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One term of the loss: candidates after one prefix (fact ids, or `STOP`), and which of them are right."""

    prefix: Prefix
    candidates: NDArray[np.int64]
    labels: NDArray[np.bool_]


class Sampler:
    """Draws the samples of a dataset's questions.

    `mined` gives the facts of the mining's run, best first, by question id.
    """

    def __init__(
        self,
        dataset: Dataset,
        questions: Sequence[Question],
        sampling: Sampling,
        seed: int,
        mined: Mapping[str, FactIds] = MappingProxyType({}),
    ) -> None:
        self.questions = [question for question in questions if dataset.gold_ids(question)]
        self.sampling = sampling
        self._gold = [np.array(dataset.gold_ids(question), dtype=np.int64) for question in self.questions]
        self._seed = seed
        self._text_of = number_texts(dataset.facts)
        depth = sampling.mining.depth if sampling.mining else 0
        self._hard = [
            self._wrong(mined.get(question.id, _NONE), gold)[:depth]
            for question, gold in zip(self.questions, self._gold, strict=True)
        ]

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

    def draw(self, neighborhood: Neighborhood, epoch: int, number: int) -> Sample | None:
        """A sample, or None where there is nothing to learn: no right candidate is in sight, or no wrong one."""
        index, repeat = divmod(number, self.sampling.prefixes)
        rng = np.random.default_rng([self._seed, epoch, index, repeat])
        question, gold = self.questions[index], self._gold[index]
        chosen = rng.permutation(gold)[: rng.integers(len(gold) + 1)]
        visible = neighborhood.visible(question.text, chosen.tolist(), self.sampling.k)
        conditioning = self.sampling.conditioning
        if conditioning and epoch >= conditioning.start:
            chosen = _replace_some(chosen, self._wrong(visible, gold), conditioning.share, rng)
            visible = neighborhood.visible(question.text, chosen.tolist(), self.sampling.k)
        right = visible[np.isin(visible, gold)]
        wrong = self._negatives(self._wrong(visible, gold), self._hard[index], rng)
        query = _without_some_words(question.query(), self.sampling.word_dropout, rng)
        return _sample(Prefix(query, tuple(chosen.tolist())), right, wrong)

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


def _sample(prefix: Prefix, right: FactIds, wrong: FactIds) -> Sample | None:
    """The stop sample is right if and only if nothing right is left to see; without a chosen fact it does not exist."""
    stop = np.full(1 if prefix.facts else 0, STOP, dtype=np.int64)
    candidates = np.concatenate([right, wrong, stop])
    labels = np.arange(len(candidates)) < len(right)
    labels[len(right) + len(wrong) :] = not len(right)
    return Sample(prefix, candidates, labels) if labels.any() and not labels.all() else None


def _without_some_words(query: str, share: float, rng: np.random.Generator) -> str:
    """The query without a random share of its words; never without all, and always with the mark of its answer."""
    if not share:
        return query
    words = query.split()
    kept = [
        word for word, draw in zip(words, rng.random(len(words)), strict=True) if draw >= share or word == ANSWER_MARK
    ]
    return " ".join(kept) if set(kept) - {ANSWER_MARK} else query


def _replace_some(chosen: FactIds, wrong: FactIds, share: float, rng: np.random.Generator) -> FactIds:
    """The prefix with some of its facts, but not all, replaced by wrong ones at random places."""
    count = min(round(rng.uniform(0, share) * len(chosen)), len(chosen) - 1, len(wrong))
    if count <= 0:
        return chosen
    places = rng.choice(len(chosen), count, replace=False)
    mixed = chosen.copy()
    mixed[places] = rng.choice(wrong, count, replace=False)
    return mixed
