"""8-bit integers for weights.

Symmetric: weight = integer * scale, so that 0 stays 0. One scale per output of a linear layer, or per embedding.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

FACTOR: Final = 64
"""The largest integer of a matrix that is multiplied: 7 of the 8 bits. Processors without VNNI add two products of an
unsigned byte (up to 255) and a signed one in 16 bits: 2 * 255 * 64 = 32,640 fits, 2 * 255 * 127 silently saturates."""

ENTRY: Final = 127
"""The largest integer of a table that is only looked up."""


def quantise(weights: NDArray[np.float32], axis: int, largest: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as integers up to `largest`, and the scales: one for each row (axis 1) or column (axis 0)."""
    extent = np.abs(weights).max(axis=axis, keepdims=True)
    scales = np.where(extent > 0, extent / largest, 1.0).astype(np.float32)
    values = np.clip(np.rint(weights / scales), -largest, largest).astype(np.int8)
    return values, scales.reshape(-1)
