"""Loading a torch scorer without importing torch before it is wanted."""

from collections.abc import Sequence
from pathlib import Path

from arcf.errors import MissingExtraError
from arcf.scorer.base import Scorer


def load_scorer(name: str | Path, facts: Sequence[str], encoding: str | None = None) -> Scorer:
    """A scorer of the facts' texts with the model of that folder or hub name; see `arcf.scorer.torch.load_scorer`.

    Raises:
        MissingExtraError: torch or transformers is not installed.
    """
    try:
        from arcf.scorer import torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("Scoring with torch", "train") from error
    return torch.load_scorer(name, facts, encoding)
