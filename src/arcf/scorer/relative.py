"""Relative positions in MPNet's buckets: near ones apart, far ones together, those before and those after apart."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

BUCKETS: Final = 32
"""Half of them for keys up to the query's own position, half for those after it."""

EXACT: Final = 8
"""Distances below this have a bucket of their own; the others share 8 more, in logarithmic steps."""

FARTHEST: Final = 128
"""From this distance on, all are in the last bucket."""


def relative_buckets(queries: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of every key's position as seen from every query's: (queries,), (keys,) -> (queries, keys)."""
    offset = keys[None, :] - queries[:, None]
    distance = np.abs(offset)
    # In single precision, as the pretrained tables were made: it decides where a step falls.
    steps = np.log(np.maximum(distance, EXACT).astype(np.float32) / EXACT) / np.float32(math.log(FARTHEST / EXACT))
    far = EXACT + (steps * (BUCKETS // 2 - EXACT)).astype(np.int64)
    bucket: NDArray[np.int64] = np.where(distance < EXACT, distance, np.minimum(far, BUCKETS // 2 - 1))
    return bucket + np.where(offset > 0, BUCKETS // 2, 0)
