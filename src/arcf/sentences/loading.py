"""From a model's name to an encoder: which library runs its files."""

from functools import lru_cache

from arcf.errors import MissingExtraError
from arcf.pretrained.location import MINILM, locate, model_stamp
from arcf.sentences.base import Backend, Encoder
from arcf.sentences.folder import SentenceFolder, read_folder


def load_encoder(model: str = MINILM, threads: int | None = None) -> Encoder:
    """The encoder of a local folder or of a model on the Hugging Face hub, on so many threads; all unless given.

    ONNX Runtime runs it where the folder has a graph, torch otherwise. Encoders are remembered as long as their files
    stay as they are: two distances over the same model share one.

    Raises:
        InputError: the model cannot be found or read.
        MissingExtraError: it needs torch, which is not installed.
    """
    return _load(model, threads, model_stamp(model))


@lru_cache(maxsize=2)
def _load(model: str, threads: int | None, stamp: str) -> Encoder:
    from arcf.sentences.encoder import SentenceEncoder

    del stamp
    folder = read_folder(locate(model))
    return SentenceEncoder(folder, _backend(folder, model, threads))


def _backend(folder: SentenceFolder, model: str, threads: int | None) -> Backend:
    """The libraries load here, when a model is first wanted, and not with the package."""
    if graphs := folder.graphs:
        from arcf.pretrained.onnx_session import OnnxPartStates, OnnxStates

        return OnnxPartStates(*graphs, threads) if len(graphs) == 2 else OnnxStates(*graphs, threads)
    try:
        from arcf.pretrained.torch_model import TorchStates
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Running '{model}', which has no ONNX graph,", "train") from error
    return TorchStates(folder.path, threads)
