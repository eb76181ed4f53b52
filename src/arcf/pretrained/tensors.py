"""Arrays as torch's tensors, for programs that expect these."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import MissingExtraError


def as_tensor(values: NDArray[np.float32]) -> Any:
    """The tensor of an array, on the processor.

    Raises:
        MissingExtraError: torch is not installed.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("Scores as tensors", "train") from error
    return torch.from_numpy(values)
