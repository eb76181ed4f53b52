"""Weights in torch, loaded with transformers: from safetensors only, since older weight files are pickles."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from numpy.typing import NDArray
from safetensors import SafetensorError
from transformers.utils import logging

from arcf.errors import InputError


@dataclass(frozen=True, slots=True)
class _Kind:
    """A factory of transformers, what a folder holds that it can make nothing of, and which weights may be missing."""

    factory: Any
    complaint: str
    optional: str


def load_classifier(folder: Path, **changes: Any) -> transformers.PreTrainedModel:
    """A token classifier with one label, in full precision. A model without such a head gets a random one.

    Args:
        folder: of the model.
        changes: values of its config that are to be others.

    Raises:
        InputError: the folder is not that of a model, or its weights are not complete.
    """
    kind = _Kind(transformers.AutoModelForTokenClassification, "no model", optional="classifier.")
    model: Any = _load(kind, folder, changes | {"num_labels": 1})
    # Weights may be kept in half precision; training and averaging are not done in it.
    loaded: transformers.PreTrainedModel = model.float()
    return loaded


class TorchStates:
    """An encoder in evaluation mode; `threads` are those of the whole process, torch's own choice unless given."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        if threads is not None:
            torch.set_num_threads(threads)
        kind = _Kind(transformers.AutoModel, "neither an ONNX graph nor a model", optional="pooler.")
        self._model: Any = _load(kind, folder, {}).float().eval()

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The last hidden states, (texts, tokens, dimension)."""
        with torch.inference_mode():
            output = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
        states: NDArray[np.float32] = output.last_hidden_state.numpy()
        return states


def _load(kind: _Kind, folder: Path, changes: Mapping[str, Any]) -> transformers.PreTrainedModel:
    """The model of a folder, with these values of its config changed."""
    try:
        with quiet():
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            config.update(dict(changes))
            model, info = kind.factory.from_pretrained(
                folder, config=config, output_loading_info=True, use_safetensors=True, local_files_only=True
            )
    except (OSError, ValueError, RuntimeError, SafetensorError, StrictDataclassError) as error:
        raise InputError(f"holds {kind.complaint} that transformers can load ({_reason(error)})", folder) from error
    missing = sorted(key for key in info["missing_keys"] if not key.startswith(kind.optional))
    if missing:
        raise InputError(f"lacks {len(missing)} of its weights, the first being {missing[0]}.", folder)
    loaded: transformers.PreTrainedModel = model
    return loaded


@contextmanager
def quiet() -> Iterator[None]:
    """Without a progress bar, and without the report on a new head and an unused pooler: both are meant to be."""
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def _reason(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
