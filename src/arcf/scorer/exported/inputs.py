"""What goes into a model's graph of a prefix and of candidates: their tokens, or what its lower graph made of them."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arcf.scorer.kept import FactReader, KeptStates
from arcf.scorer.ragged import Ragged

TOKENS_PER_CALL = 192
"""Candidate tokens that are computed at a time: what one layer makes of more no longer fits a processor's cache. The
same on every machine, since int8 rounds all tokens of a call on one scale."""

Feed = dict[str, NDArray[Any]]


class Inputs(Protocol):
    """The rows of a call, as inputs of the graph."""

    @property
    def kept(self) -> KeptStates | None:
        """What was read of the facts, in models that read ahead."""
        ...

    def prefix(self, tokens: NDArray[np.int32]) -> Feed:
        """One row: a prefix."""
        ...

    def candidates(self, facts: NDArray[np.int64]) -> Feed:
        """Rows of candidates, by fact id."""
        ...


class TokenInputs:
    """Of the shared-prefix encoding: tokens."""

    kept = None

    def __init__(self, candidates: Ragged) -> None:
        self._candidates = candidates

    def prefix(self, tokens: NDArray[np.int32]) -> Feed:
        """One row: a prefix."""
        return _tokens(Ragged.of([tokens]))

    def candidates(self, facts: NDArray[np.int64]) -> Feed:
        """Rows of candidates, by fact id."""
        return _tokens(self._candidates.take(facts))


class StateInputs:
    """Of the late encoding: hidden states, which the lower graph computes; those of facts only once."""

    def __init__(self, lower: Any, candidates: Ragged, files: str, calls: int) -> None:
        self._lower = lower
        width = lower.get_outputs()[0].shape[2]
        self.kept = KeptStates(candidates, FactReader(self._read, width, TOKENS_PER_CALL, calls, files))

    def prefix(self, tokens: NDArray[np.int32]) -> Feed:
        """One row: a prefix."""
        return self._run(Ragged.of([tokens]), segment=0)

    def candidates(self, facts: NDArray[np.int64]) -> Feed:
        """Rows of candidates, by fact id."""
        states, offsets = self.kept.take(facts)
        lengths = np.diff(offsets)
        return {"states": _padded(states, lengths, np.float32), "lengths": lengths.astype(np.int32)}

    def _read(self, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self.kept.candidates.take(facts)
        states: NDArray[np.float32] = self._run(rows, segment=1)["states"]
        return states[_is_token(rows.lengths)]  # (tokens, hidden)

    def _run(self, rows: Ragged, segment: int) -> Feed:
        feed = _tokens(rows)
        states = self._lower.run(["states"], feed | {"segment": np.array([segment], np.int64)})[0]
        return {"states": states, "lengths": feed["lengths"]}


def _tokens(rows: Ragged) -> Feed:
    return {"tokens": _padded(rows.tokens, rows.lengths, np.int32), "lengths": rows.lengths.astype(np.int32)}


def _padded(flat: NDArray[Any], lengths: NDArray[np.int64], kind: type[Any]) -> NDArray[Any]:
    """Rows as a graph takes them, padded with 0: (tokens, ..) -> (C, L, ..)."""
    is_token = _is_token(lengths)
    rows = np.zeros((*is_token.shape, *flat.shape[1:]), dtype=kind)
    rows[is_token] = flat
    return rows


def _is_token(lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which places of padded rows are no padding: (C, L)."""
    is_token: NDArray[np.bool_] = np.arange(lengths.max()) < lengths[:, None]
    return is_token
