"""From samples to steps: what is learnt from in one update of the weights."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood import Neighborhood
from arcf.scorer.precedents import Precedents
from arcf.scorer.prior import Prior
from arcf.scorer.ragged import Ragged
from arcf.scorer.tokens import Batch, ChainTokenizer, EncodedPrefix, FactTokens
from arcf.training.mix import Mix, Rounds
from arcf.training.samplers import Sample, Sampler
from arcf.training.teacher_scores import TeacherScores

Cost = Callable[[int, NDArray[np.int64]], int]
"""Tokens that are computed for a prefix and its candidates, given their lengths; see `Encoding.cost`."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One term of the loss, encoded. The first `counts[0]` candidates belong to the first prefix, and so on.

    `prior` is what is added to the model's scores of the candidates, `cost` the number of tokens that are computed.
    `teacher` has a teacher's scores of them; of a term that is not `labelled`, the labels mean nothing.
    """

    prefixes: tuple[EncodedPrefix, ...]
    counts: tuple[int, ...]
    candidates: Ragged
    labels: NDArray[np.bool_]
    prior: NDArray[np.float32]
    cost: int
    labelled: bool = True
    teacher: NDArray[np.float32] | None = None

    @property
    def has_contrast(self) -> bool:
        """Whether right and wrong candidates are both there."""
        return bool(self.labels.any()) and not bool(self.labels.all())


@dataclass(frozen=True, slots=True, eq=False)
class StepTerms:
    """The terms of one step. `position` counts all samples drawn up to its end, from the start of training.

    `left_out` samples had nothing to learn from.
    """

    terms: tuple[Term, ...]
    position: int
    left_out: int = 0

    @property
    def cost(self) -> int:
        """Tokens of the step."""
        return sum(term.cost for term in self.terms)


@dataclass(frozen=True, eq=False)
class Corpus:
    """What samples of one corpus are made of: its sampler, its tokens, and its prior, where there is one.

    A sample never sees another corpus, so two corpora may even be two annotations of the same facts. `weight` is the
    part of the sampler's samples that an epoch takes; it may be more than 1. `teacher` has the scores that a teacher
    gave the samples, where there is one. `precedents` are its learnt questions, if they count; no sample's own one.
    """

    neighborhood: Neighborhood
    sampler: Sampler
    tokenizer: ChainTokenizer
    facts: FactTokens
    prior: Prior | None = None
    weight: float = 1.0
    teacher: TeacherScores | None = None
    precedents: Precedents | None = None

    @property
    def per_epoch(self) -> int:
        """Samples that an epoch takes."""
        return self._rounds.per_epoch

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self.sampler, self.weight)

    def term(self, number: int, cost: Cost) -> Term | None:
        """The sample of that number, counted from the start of training; None where it has no candidate."""
        sample = self._rounds.draw(number)
        if sample is None:
            return None
        term = self.encode(sample, cost)
        if self.teacher is None:
            return term
        return replace(term, teacher=self.teacher.scores(number, len(sample.candidates)))

    def encode(self, sample: Sample, cost: Cost) -> Term:
        """A sample as the model takes it."""
        prefixes = tuple(self.tokenizer.prefix(prefix.query, prefix.facts, self.facts) for prefix in sample.prefixes)
        lengths = [self.facts.candidates.lengths_of(own) for own in sample.parts]
        costs = (cost(len(prefix.tokens), own) for prefix, own in zip(prefixes, lengths, strict=True))
        candidates = self.facts.candidates.take(sample.candidates)
        return Term(
            prefixes, sample.counts, candidates, sample.labels, self._prior(sample), sum(costs), sample.labelled
        )

    def _prior(self, sample: Sample) -> NDArray[np.float32]:
        """What is known of the candidates. Precedents go by the whole query, which tells a question from all others."""
        known = np.zeros(len(sample.candidates), dtype=np.float32)
        for prior, prefixes in ((self.prior, sample.prefixes), (self.precedents, sample.whole_prefixes)):
            if prior is not None:
                scores = [prior.score(prefix, own) for prefix, own in zip(prefixes, sample.parts, strict=True)]
                known += np.concatenate(scores)
        return known


class Feed:
    """The steps of a training run, from any position on: always the same ones. An epoch mixes the corpora at random.

    `cost` is that of the encoding that is trained. With `contrasts`, samples without right or without wrong candidates
    are left out: the loss compares the two. `seed` decides the order of several corpora.
    """

    def __init__(self, corpora: Sequence[Corpus], cost: Cost, *, contrasts: bool = True, seed: int = 0) -> None:
        self.corpora = tuple(corpora)
        self._cost = cost
        self._contrasts = contrasts
        self.mix = Mix([corpus.per_epoch for corpus in corpora], seed)

    @property
    def per_epoch(self) -> int:
        """Samples of one epoch."""
        return self.mix.per_epoch

    def steps(self, start: int, end: int, tokens: int) -> Iterator[StepTerms]:
        """Steps of at least `tokens` tokens each (the last may be smaller) over samples `start` to `end`."""
        terms: list[Term] = []
        cost = left_out = 0
        for position in range(start, end):
            term = self._term(position)
            if term is None:
                left_out += 1
            else:
                terms.append(term)
                cost += term.cost
            if cost >= tokens or position == end - 1:
                if terms:
                    yield StepTerms(tuple(terms), position + 1, left_out)
                terms, cost, left_out = [], 0, 0

    def _term(self, position: int) -> Term | None:
        turn = self.mix.turn(position)
        term = self.corpora[turn.corpus].term(turn.number, self._cost)
        return term if term is None or term.has_contrast or not self._contrasts else None


def batch_of(terms: Sequence[Term]) -> Batch:
    """Terms, of whichever corpora, as the model takes them."""
    return Batch(
        prefixes=Ragged.of([prefix.tokens for term in terms for prefix in term.prefixes]),
        candidates=Ragged.concatenate([term.candidates for term in terms]),
        counts=np.array([count for term in terms for count in term.counts], dtype=np.int64),
    )


def in_parts(terms: Sequence[Term], tokens: int) -> Iterator[Sequence[Term]]:
    """Consecutive terms in parts of at most `tokens` tokens; a larger term is a part of its own."""
    part: list[Term] = []
    cost = 0
    for term in terms:
        if part and cost + term.cost > tokens:
            yield part
            part, cost = [], 0
        part.append(term)
        cost += term.cost
    if part:
        yield part
