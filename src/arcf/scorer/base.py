"""What every scorer does: f_theta([q | f_1..N | candidate]), one number per candidate, higher is better.

No torch here: the chain, the rankers and the command line know only this file, so an ONNX scorer takes the torch
scorer's place without their noticing. A scorer is made for one corpus, whose facts it has tokenised once; from then on
a fact is its integer id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arcf.scorer.settings import ScorerSettings

STOP: Final = -1
"""The id of the stop sample among candidates: the chain as it is, without a new fact."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The chain so far: the question's query text q and the ids of the chosen facts f_1..N, in order."""

    query: str
    facts: tuple[int, ...] = ()


class Scorer(Protocol):
    """Scores candidates as the next link of a chain."""

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`, in the order of `candidates`.

        Candidates are fact ids; `STOP` among them asks for the score of the chain without a new fact. A candidate's
        score depends on the prefix and on itself only, never on the other candidates; in int8, which rounds what is
        computed together on one scale, up to that rounding.
        """
        ...


@runtime_checkable
class Estimating(Scorer, Protocol):
    """A scorer that can guess, nearly for free, how its scores will come out."""

    def known(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """What is known of each fact's score without the model: the score is this and what the model adds."""
        ...

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """As much of what is `known` as costs next to nothing: all of it, or a part.

        Estimates of one fact after two prefixes differ by as much as its scores would, if the rest said the same.
        """
        ...


class LoadedScorer(Scorer, Protocol):
    """A scorer that has a model, which is loaded once for any number of corpora."""

    @property
    def settings(self) -> ScorerSettings:
        """What the model was trained with."""
        ...

    def for_facts(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model."""
        ...
