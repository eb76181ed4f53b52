"""From a model's name to an encoder: which library runs its files."""

from functools import lru_cache

from arcf.errors import MissingExtraError
from arcf.pretrained.location import MINILM, locate
from arcf.sentences.base import Backend, Encoder
from arcf.sentences.folder import SentenceFolder, read_folder


@lru_cache(maxsize=2)
def load_encoder(model: str = MINILM) -> Encoder:
    """The encoder of a local folder or of a model on the Hugging Face hub.

    ONNX Runtime runs it where the folder has a graph, torch otherwise. Encoders are remembered: two distances over the
    same model share one.

    Raises:
        InputError: the model cannot be found or read.
        MissingExtraError: it needs torch, which is not installed.
    """
    from arcf.sentences.encoder import SentenceEncoder

    folder = read_folder(locate(model))
    return SentenceEncoder(folder, _backend(folder, model))


def _backend(folder: SentenceFolder, model: str) -> Backend:
    """The libraries load here, when a model is first wanted, and not with the package."""
    if folder.graph:
        from arcf.pretrained.onnx_session import OnnxStates

        return OnnxStates(folder.graph)
    try:
        from arcf.pretrained.torch_model import TorchStates
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Running '{model}', which has no ONNX graph,", "train") from error
    return TorchStates(folder.path)
