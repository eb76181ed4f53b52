"""Rankers: a question in, all facts out, best first."""

from arcf.rankers.autoregressive import Autoregressive
from arcf.rankers.base import Ranker
from arcf.rankers.ensemble import Ensemble
from arcf.rankers.fusion import FUSIONS, fuse
from arcf.rankers.lexical import Expansion, Iterated
from arcf.rankers.nearest import Nearest
from arcf.rankers.on_cluster import OnCluster
from arcf.rankers.path import PathRerank, PathResult
from arcf.rankers.registry import RANKERS, build_autoregressive, build_ranker, find_kind
from arcf.rankers.settings import EnsembleSettings, PathSettings, RankerSettings, Tiers
from arcf.rankers.single_fact import SingleFact

__all__ = [
    "FUSIONS",
    "RANKERS",
    "Autoregressive",
    "Ensemble",
    "EnsembleSettings",
    "Expansion",
    "Iterated",
    "Nearest",
    "OnCluster",
    "PathRerank",
    "PathResult",
    "PathSettings",
    "Ranker",
    "RankerSettings",
    "SingleFact",
    "Tiers",
    "build_autoregressive",
    "build_ranker",
    "find_kind",
    "fuse",
]
