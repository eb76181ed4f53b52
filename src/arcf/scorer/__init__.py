"""Scoring a candidate as the next fact of a chain."""

from arcf.scorer.base import STOP, Prefix, Scorer
from arcf.scorer.loading import load_scorer

__all__ = ["STOP", "Prefix", "Scorer", "load_scorer"]
