"""Loading a scorer, whichever kind of model it is given, and importing only the library that runs it."""

from collections.abc import Sequence
from pathlib import Path

from arcf.errors import MissingExtraError
from arcf.models import find_model
from arcf.scorer.base import LoadedScorer
from arcf.scorer.exported import CONFIG, MODEL, TOKENIZER, FileRecord, is_exported
from arcf.scorer.prior import with_prior

IDENTIFYING = (MODEL, CONFIG, TOKENIZER)


def load_scorer(name: str | Path, facts: Sequence[str]) -> LoadedScorer:
    """A scorer of the facts' texts.

    Args:
        name: the folder of an exported model, which ONNX Runtime runs; a folder with torch weights, or that of the run
            that trained them; or the name of a model on the Hugging Face hub.
        facts: texts of the corpus; a fact's id is its position.

    Raises:
        InputError: the model cannot be loaded.
        MissingExtraError: it has torch weights, and torch or transformers is not installed.
    """
    folder = find_model(name)
    if folder is not None and is_exported(folder):
        from arcf.scorer import onnx
        from arcf.scorer.form import read_config

        exported = onnx.load_scorer(folder, facts)
        return with_prior(exported, facts, read_config(folder / CONFIG).get("arcf_prior", 0.0))
    try:
        from arcf.scorer import torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("Scoring with torch", "train") from error
    scorer = torch.load_scorer(folder or name, facts)
    return with_prior(scorer, facts, scorer.model.backbone.prior)


def model_identity(name: str | Path) -> dict[str, str]:
    """What tells a model from another, and from itself after more training: the checksums of its files.

    A model of the hub is only known by its name.
    """
    folder = find_model(name)
    if folder is None:
        return {"name": str(name)}
    files = [path for path in folder.iterdir() if path.name in IDENTIFYING or path.suffix == ".safetensors"]
    return {path.name: FileRecord.of(path).sha256 for path in sorted(files)}
