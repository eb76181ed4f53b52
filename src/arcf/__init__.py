"""Explain answers with chains of facts."""

from arcf.errors import ArcfError, ArcfWarning
from arcf.types import Chain, Dataset, Fact, Gold, Option, Question, Ranking, Step

__all__ = [
    "ArcfError",
    "ArcfWarning",
    "Chain",
    "Dataset",
    "Fact",
    "Gold",
    "Option",
    "Question",
    "Ranking",
    "Step",
]
