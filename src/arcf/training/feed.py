"""From samples to steps: what is learnt from in one update of the weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arcf.neighborhood import Neighborhood
from arcf.scorer.encoding import Batch, EncodedPrefix, FactTokens, TextEncoder
from arcf.scorer.joint import pair_lengths
from arcf.scorer.prior import LexicalPrior
from arcf.training.samples import Sample, Sampler


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One term of the loss, encoded. `cost` is its number of tokens in the encoding that is trained."""

    prefix: EncodedPrefix
    candidates: NDArray[np.int64]
    labels: NDArray[np.bool_]
    prior: NDArray[np.float32]
    """What is added to the model's scores of the candidates."""
    cost: int


@dataclass(frozen=True, slots=True, eq=False)
class StepTerms:
    """The terms of one step. `position` counts all samples drawn up to its end, from the start of training."""

    terms: tuple[Term, ...]
    position: int

    @property
    def cost(self) -> int:
        """Tokens of the step."""
        return sum(term.cost for term in self.terms)


class Feed:
    """The steps of a training run, from any position on: always the same ones."""

    def __init__(
        self,
        sampler: Sampler,
        neighborhood: Neighborhood,
        encoder: TextEncoder,
        facts: FactTokens,
        prior: LexicalPrior | None = None,
    ) -> None:
        self.sampler = sampler
        self.neighborhood = neighborhood
        self._encoder = encoder
        self.facts = facts
        self.prior = prior
        self._order = lru_cache(maxsize=1)(sampler.order)

    def steps(self, start: int, end: int, tokens: int, *, joint: bool) -> Iterator[StepTerms]:
        """Steps of at least `tokens` tokens each (the last may be smaller) over samples `start` to `end`."""
        terms: list[Term] = []
        cost = 0
        for position in range(start, end):
            term = self._term(position, joint=joint)
            if term is not None:
                terms.append(term)
                cost += term.cost
            if cost >= tokens or position == end - 1:
                if terms:
                    yield StepTerms(tuple(terms), position + 1)
                terms, cost = [], 0

    def batch(self, terms: Sequence[Term]) -> Batch:
        """Terms as the model takes them."""
        return Batch.of([term.prefix for term in terms], [term.candidates for term in terms], self.facts)

    def _term(self, position: int, *, joint: bool) -> Term | None:
        epoch, place = divmod(position, self.sampler.per_epoch)
        sample = self.sampler.draw(self.neighborhood, epoch, int(self._order(epoch)[place]))
        return self._encode(sample, joint=joint) if sample else None

    def _encode(self, sample: Sample, *, joint: bool) -> Term:
        prefix = self._encoder.prefix(sample.prefix.query, sample.prefix.facts, self.facts)
        own = self.facts.candidates.lengths[sample.candidates]  # (candidates,)
        length = len(prefix.tokens)
        cost = pair_lengths(length, own, self._encoder.form).sum() if joint else length + own.sum()
        return Term(prefix, sample.candidates, sample.labels, self._prior(sample), int(cost))

    def _prior(self, sample: Sample) -> NDArray[np.float32]:
        if self.prior is None:
            return np.zeros(len(sample.candidates), dtype=np.float32)
        return self.prior.score(sample.prefix, sample.candidates)


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
