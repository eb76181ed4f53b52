import numpy as np
import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from arcf.scorer.relative import BUCKETS, relative_buckets


def test_buckets_are_those_of_transformers() -> None:
    positions = np.arange(700)
    offsets = torch.from_numpy(positions[None, :] - positions[:, None])
    expected = MPNetEncoder.relative_position_bucket(offsets, num_buckets=BUCKETS).numpy()
    np.testing.assert_array_equal(relative_buckets(positions, positions), expected)


def test_queries_and_keys_stand_anywhere() -> None:
    square = relative_buckets(np.arange(40), np.arange(40))
    np.testing.assert_array_equal(relative_buckets(np.arange(30, 34), np.arange(40)), square[30:34])
