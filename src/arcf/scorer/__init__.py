"""Scoring a candidate as the next fact of a chain."""

from arcf.scorer.base import STOP, LoadedScorer, Prefix, Scorer
from arcf.scorer.loading import load_scorer, model_identity, packaged_model, scores_identity
from arcf.scorer.settings import ScorerSettings

__all__ = [
    "STOP",
    "LoadedScorer",
    "Prefix",
    "Scorer",
    "ScorerSettings",
    "load_scorer",
    "model_identity",
    "packaged_model",
    "scores_identity",
]
