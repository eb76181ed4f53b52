"""Loading a scorer, whichever kind of model it is given, and importing only the library that runs it."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from arcf.errors import InputError, MissingExtraError
from arcf.files import read_json_object
from arcf.pretrained.location import CALIBRATION, CONFIG, TOKENIZER, find_folder, locate
from arcf.scorer.base import LoadedScorer, Scorer
from arcf.scorer.dense_prior import DensePrior
from arcf.scorer.exported.folder import MODEL, UNTRAINED, FileRecord, is_exported
from arcf.scorer.precedents import MIN_SHARED, Precedents, explained_in, shared_uses
from arcf.scorer.prior import LexicalPrior, Prior, SumOfPriors, WithPrior
from arcf.scorer.settings import ScorerSettings
from arcf.sentences import load_encoder
from arcf.sentences.folder import LOWER
from arcf.types import Dataset, QueryForm, Question

if TYPE_CHECKING:
    from arcf.scorer.exported.scorer import OnnxScorer
    from arcf.scorer.network.scorer import TorchScorer

IDENTIFYING = (MODEL, LOWER, CONFIG, TOKENIZER)


def load_scorer(
    name: str | Path,
    facts: Sequence[str],
    device: str = "auto",
    threads: int | None = None,
    vectors: bool | None = None,
) -> LoadedScorer:
    """A scorer of the facts' texts.

    Args:
        name: the folder of an exported model, which ONNX Runtime runs; a folder with torch weights, or that of the run
            that trained them; or the name of a model on the Hugging Face hub.
        facts: texts of the corpus; a fact's id is its position.
        device: where torch weights are run; an exported model runs on the processor.
        threads: how many of the processor are used; all of them unless given.
        vectors: whether its dense prior, if it has one, has the vectors of all facts; if they are few, or kept, unless
            given.

    Raises:
        InputError: the model cannot be loaded.
        SettingError: there is no such device.
        MissingExtraError: it has torch weights, and torch or transformers is not installed.
    """
    folder = locate(name)
    with _loading_encoder(folder, threads):
        network = load_network(folder, facts, device, threads)
    return with_prior(network, facts, folder, threads, vectors)


@contextmanager
def _loading_encoder(folder: Path, threads: int | None) -> Iterator[None]:
    """Load the encoder of an exported model's dense prior, which is remembered, while the block loads the model.

    ONNX Runtime does not hold the interpreter up meanwhile. What is wrong with the encoder is for `with_prior` to say.
    """
    if not is_exported(folder) or not (folder / UNTRAINED).is_dir():
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(load_encoder, str(folder / UNTRAINED), threads)
        yield


def load_network(
    name: str | Path, facts: Sequence[str], device: str = "auto", threads: int | None = None
) -> "OnnxScorer | TorchScorer":
    """The same without the prior: what the network alone says. Raises what `load_scorer` does."""
    folder = locate(name)
    if is_exported(folder):
        from arcf.scorer.exported.scorer import load_scorer as load_exported

        return load_exported(folder, facts, threads)
    try:
        from arcf.scorer.network.scorer import load_scorer as load_torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("Scoring with torch", "train") from error
    return load_torch(folder, facts, device, threads, lambda: json.dumps(scores_identity(folder), sort_keys=True))


def with_prior(
    scorer: LoadedScorer,
    facts: Sequence[str],
    folder: Path | None = None,
    threads: int | None = None,
    vectors: bool | None = None,
) -> LoadedScorer:
    """A model's scorer of these facts with the prior that the model was trained with, if any; see `make_prior`.

    Raises:
        InputError: the encoder of its dense prior cannot be loaded.
    """
    prior = make_prior(scorer.settings, facts, folder, threads, vectors)
    return scorer if prior is None else WithPrior(scorer, prior)


def make_prior(
    settings: ScorerSettings,
    facts: Sequence[str],
    folder: Path | None = None,
    threads: int | None = None,
    vectors: bool | None = None,
) -> Prior | None:
    """The prior of a model with these settings, if it has any; `folder` is the model's, where it has one.

    `threads` are those of the dense prior's encoder, all unless given; `vectors`: see `DensePrior`.

    Raises:
        InputError: the encoder of its dense prior cannot be loaded.
    """
    parts: list[Prior] = []
    if settings.prior:
        parts.append(LexicalPrior(facts, settings.prior))
    encoder = untrained_encoder(settings, folder)
    if encoder is not None:
        parts.append(DensePrior(encoder, facts, settings.dense, threads, vectors))
    return SumOfPriors(parts) if len(parts) > 1 else next(iter(parts), None)


def with_precedents(
    scorer: LoadedScorer, dataset: Dataset, threads: int | None = None, query: QueryForm | None = None
) -> LoadedScorer:
    """A scorer of a dataset's facts that goes by its training questions too: never by what is evaluated elsewhere.

    `query` is the form that questions are asked in, the model's own unless given: in another form, a training question
    would not be known for itself.
    """
    settings = replace(scorer.settings, query=query or scorer.settings.query)
    precedents = make_precedents(settings, dataset, dataset.training, dense_encoder(scorer), threads)
    if precedents is None:
        return scorer
    network = scorer.scorer if isinstance(scorer, WithPrior) else scorer
    return WithPrior(network, SumOfPriors([*_priors(scorer), precedents]))


def make_precedents(
    settings: ScorerSettings,
    dataset: Dataset,
    questions: Sequence[Question],
    encoder: str | None,
    threads: int | None = None,
) -> Precedents | None:
    """What questions of a dataset say to a model with these settings; `encoder` is that of its dense prior, if any.

    None, where they weigh nothing, or hardly share facts.
    """
    explained = explained_in(dataset, questions, settings.query) if settings.precedents else ()
    if shared_uses(explained) < MIN_SHARED:
        return None
    return Precedents(explained, settings.precedents, encoder, threads)


def dense_encoder(scorer: Scorer) -> str | None:
    """The encoder of a scorer's dense prior, by its folder or its name on the hub, if it has one."""
    return next((part.encoder for part in _priors(scorer) if isinstance(part, DensePrior)), None)


def _priors(scorer: Scorer) -> tuple[Prior, ...]:
    if not isinstance(scorer, WithPrior):
        return ()
    return scorer.prior.parts if isinstance(scorer.prior, SumOfPriors) else (scorer.prior,)


def untrained_encoder(settings: ScorerSettings, folder: Path | None = None) -> str | None:
    """The encoder of the dense prior of a model with these settings; its own one, if its `folder` has that."""
    if not settings.dense:
        return None
    own = None if folder is None else folder / UNTRAINED
    return str(own) if own is not None and own.is_dir() else settings.untrained


def encoder_of(folder: Path) -> str | None:
    """The encoder of the dense prior of the model in a folder, if it has one; nothing is loaded.

    Raises:
        InputError: what the model says of itself cannot be read.
    """
    if not (folder / CONFIG).is_file():
        return None
    return untrained_encoder(ScorerSettings.of(read_json_object(folder / CONFIG)), folder)


def encoder_elsewhere(folder: Path) -> Path | None:
    """The folder of that encoder, if it is on this machine and not in the model's own folder; see `encoder_of`."""
    encoder = encoder_of(folder)
    return None if not encoder or (folder / UNTRAINED).is_dir() else find_folder(encoder)


def packaged_model() -> Path:
    """The folder of the model that comes with arcf.

    Raises:
        InputError: this arcf has none.
    """
    folder = Path(str(files("arcf.scorer") / "packaged"))
    if not folder.is_dir():
        raise InputError("This arcf comes without a trained model; give a model's folder (--model DIR, or model=...).")
    return folder


def scores_identity(name: str | Path) -> dict[str, str]:
    """What tells a model from another, and from itself after more training: the checksums of what its scores come from.

    A model of the hub is only known by its name.
    """
    folder = find_folder(name)
    if folder is None:
        return {"name": str(name)}
    found = [path for path in folder.iterdir() if path.name in IDENTIFYING or path.suffix == ".safetensors"]
    found += (folder / UNTRAINED).glob("*.onnx")
    return {str(path.relative_to(folder)): FileRecord.of(path).sha256 for path in sorted(found)}


def model_identity(name: str | Path) -> dict[str, str]:
    """The same, and the checksum of its calibration, which decides where a chain ends."""
    folder, scores = find_folder(name), scores_identity(name)
    if folder is None or not (folder / CALIBRATION).is_file():
        return scores
    return scores | {CALIBRATION: FileRecord.of(folder / CALIBRATION).sha256}
