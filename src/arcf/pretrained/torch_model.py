"""Weights in torch, loaded with transformers: from safetensors only, since older weight files are pickles."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors import SafetensorError
from transformers.utils import logging

from arcf.errors import InputError


def load_classifier(folder: Path, **changes: Any) -> transformers.PreTrainedModel:
    """A token classifier with one label. A model without such a head gets a random one.

    Args:
        folder: of the model.
        changes: values of its config that are to be others.

    Raises:
        InputError: the folder is not that of a model, or its weights are not complete.
    """
    try:
        with quiet():
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            config.update(changes | {"num_labels": 1})
            model, info = transformers.AutoModelForTokenClassification.from_pretrained(
                folder, config=config, output_loading_info=True, use_safetensors=True, local_files_only=True
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(f"holds no model that transformers can load ({_reason(error)})", folder) from error
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("classifier."))
    if missing:
        raise InputError(f"lacks {len(missing)} of its weights, the first being {missing[0]}.", folder)
    loaded: transformers.PreTrainedModel = model
    return loaded


class TorchStates:
    """An encoder in evaluation mode."""

    def __init__(self, folder: Path) -> None:
        try:
            with quiet():
                self._model = transformers.AutoModel.from_pretrained(
                    folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
                ).eval()
        except (OSError, ValueError) as error:
            raise InputError(
                f"holds neither an ONNX graph nor a model that transformers can load ({_reason(error)})", folder
            ) from error

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The last hidden states, (texts, tokens, dimension)."""
        with torch.inference_mode():
            output = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
        states: NDArray[np.float32] = output.last_hidden_state.numpy()
        return states


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
