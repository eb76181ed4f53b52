"""Rankers: a question in, all facts out, best first."""

from arcf.rankers.autoregressive import Autoregressive, Tiers
from arcf.rankers.base import Ranker
from arcf.rankers.lexical import Expansion, Iterated, Nearest
from arcf.rankers.rankers import RANKERS

__all__ = ["RANKERS", "Autoregressive", "Expansion", "Iterated", "Nearest", "Ranker", "Tiers"]
