"""What is learnt from: samples of several kinds, drawn by number."""

from arcf.training.samplers.base import Material, Sample, Sampler
from arcf.training.samplers.registry import SAMPLERS, make_sampler
from arcf.training.samplers.settings import Conditioning, Mining, Paths, Sampling, Unlabelled

__all__ = [
    "SAMPLERS",
    "Conditioning",
    "Material",
    "Mining",
    "Paths",
    "Sample",
    "Sampler",
    "Sampling",
    "Unlabelled",
    "make_sampler",
]
