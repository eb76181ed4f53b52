"""Which candidates are computed together."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def calls(lengths: NDArray[np.int64], tokens: int) -> Iterator[NDArray[np.int64]]:
    """Places of candidates, in calls of about `tokens` tokens, similar lengths together."""
    order = np.argsort(lengths, kind="stable")
    call = np.cumsum(lengths[order]) // tokens
    yield from np.split(order, np.flatnonzero(np.diff(call)) + 1) if len(order) else ()
