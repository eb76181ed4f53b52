"""Benchmarks that anyone can run: made-up corpora of any size, and how arcf does on them."""

from arcf.bench.corpus import MadeUp, make_corpus
from arcf.bench.neighborhood import Growth, Latency, Walk, measure_growth, measure_growth_apart, measure_walk

__all__ = [
    "Growth",
    "Latency",
    "MadeUp",
    "Walk",
    "make_corpus",
    "measure_growth",
    "measure_growth_apart",
    "measure_walk",
]
