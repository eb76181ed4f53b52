"""Rankers: a question in, all facts out, best first."""

from arcf.rankers.autoregressive import Autoregressive
from arcf.rankers.base import Ranker
from arcf.rankers.lexical import Expansion, Iterated
from arcf.rankers.nearest import Nearest
from arcf.rankers.registry import RANKERS, build_autoregressive, build_ranker, find_kind
from arcf.rankers.settings import RankerSettings, Tiers

__all__ = [
    "RANKERS",
    "Autoregressive",
    "Expansion",
    "Iterated",
    "Nearest",
    "Ranker",
    "RankerSettings",
    "Tiers",
    "build_autoregressive",
    "build_ranker",
    "find_kind",
]
