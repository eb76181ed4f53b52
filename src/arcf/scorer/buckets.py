"""Grouping sequences of similar length, so that attention pads little and the linear layers not at all."""

import numpy as np
from numpy.typing import NDArray


def bucket(lengths: NDArray[np.int64], slack: float = 0.2) -> list[NDArray[np.int64]]:
    """Indices of sequences, in groups whose shortest is at most `slack` shorter than their longest.

    A little padding is cheaper than many small matrix products. Groups come longest first; equal lengths keep their
    order.
    """
    order = np.argsort(-lengths, kind="stable")
    groups = []
    start = 0
    while start < len(order):
        shortest = int(lengths[order[start]] * (1 - slack))
        end = int(np.searchsorted(-lengths[order], -shortest, side="right"))
        groups.append(order[start:end])
        start = end
    return groups
