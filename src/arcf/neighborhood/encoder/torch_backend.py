"""Running the encoder with torch and transformers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import transformers
from transformers.utils import logging

from arcf.errors import InputError
from arcf.neighborhood.encoder.base import TokenIds, Vectors
from arcf.neighborhood.encoder.folder import ModelFolder


class TorchBackend:
    """A transformers model in evaluation mode, from safetensors only (older weight files are pickles)."""

    def __init__(self, folder: ModelFolder) -> None:
        try:
            with _quiet():
                self._model = transformers.AutoModel.from_pretrained(
                    folder.path, local_files_only=True, use_safetensors=True, dtype=torch.float32
                ).eval()
        except (OSError, ValueError) as error:
            raise InputError(
                f"holds neither an ONNX graph nor a model that transformers can load ({error}).", folder.path
            ) from error

    def states(self, ids: TokenIds, mask: TokenIds) -> Vectors:
        """The last hidden states, (texts, tokens, dimension)."""
        with torch.inference_mode():
            output = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
        states: Vectors = output.last_hidden_state.numpy()
        return states


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bar and no remarks on unused weights (a sentence encoder has no use for the pooler)."""
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
