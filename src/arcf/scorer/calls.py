"""Which candidates are computed together."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def calls(lengths: NDArray[np.int64], tokens: int, together: int = 1) -> Iterator[NDArray[np.int64]]:
    """Places of candidates, in calls of nearly equal size, of about `tokens` tokens at most, similar lengths together.

    `together` calls can be made at a time: their number is a multiple of it, as far as candidates can be so divided,
    for the last ones not to run alone.
    """
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(lengths[order])
    total = int(lengths.sum())
    count = -(-total // (tokens * together)) * together
    call = (ends - 1) * count // max(total, 1)
    yield from np.split(order, np.flatnonzero(np.diff(call)) + 1) if len(order) else ()
