"""What an encoding is: a way in which the network reads a prefix and a candidate.

The paper's reads them as one sequence; others share what they can between candidates. All have the same parameters.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from arcf.scorer.network.backbone import Backbone
from arcf.scorer.ragged import Ragged
from arcf.scorer.tokens import Batch


class Candidates(Protocol):
    """What is known of candidates before any prefix: `take` gives that of some of them, in the given order."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each candidate."""
        ...

    def take(self, rows: NDArray[np.int64]) -> Self:
        """These candidates; one may repeat, and -1 is the last."""
        ...


Read = TypeVar("Read")
Known = TypeVar("Known", bound=Candidates)


class Encoding(nn.Module, ABC, Generic[Read, Known]):
    """f_theta: a network that reads prefixes, then candidates after them."""

    name: ClassVar[str]
    #: Whether the cosine of prefix and candidate is part of a score, where the settings give it a weight.
    has_similarity: ClassVar[bool] = False
    #: Whether `prepare` computes hidden states, which are worth keeping; `restore` takes them back.
    keeps_states: ClassVar[bool] = False

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.model = backbone.model
        self.backbone = backbone

    def forward(self, batch: Batch) -> Tensor:
        """Scores of all candidates, flat and in the batch's order: (candidates,)."""
        return self.score(self.read(batch.prefixes), self.prepare(batch.candidates), batch.counts)

    @abstractmethod
    def prepare(self, candidates: Ragged) -> Known:
        """What can be computed from candidates before any prefix is known, given their tokens.

        It is computed once for a corpus, and is stale when the weights change.
        """

    def restore(self, states: NDArray[np.float16], offsets: NDArray[np.int64]) -> Known:
        """What `prepare` made of candidates, from the states that were kept of it: (tokens, hidden)."""
        raise NotImplementedError(f"The {self.name} encoding keeps no states.")

    @abstractmethod
    def read(self, prefixes: Ragged) -> Read:
        """What can be computed from prefixes before any candidate is known, given their tokens."""

    @abstractmethod
    def score(self, prefixes: Read, candidates: Known, counts: NDArray[np.int64]) -> Tensor:
        """Score candidates, the first `counts[0]` of which belong to the first prefix, and so on: (candidates,)."""

    @abstractmethod
    def tokens(self, prefix: int, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many tokens `score` computes for each candidate, given its length and that of its prefix."""

    @abstractmethod
    def cost(self, prefix: int, candidates: NDArray[np.int64]) -> int:
        """How many tokens `forward` computes for one prefix and its candidates, given their lengths."""
