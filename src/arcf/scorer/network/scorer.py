"""The torch scorer: a model, in the encoding that it was trained in, bound to a corpus."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from arcf.errors import ArcfWarning, SettingError
from arcf.registry import pick
from arcf.scorer.base import Prefix
from arcf.scorer.calls import calls
from arcf.scorer.kept import FactReader, KeptStates
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.scorer.network.encoding import Encoding
from arcf.scorer.network.joint import Joint
from arcf.scorer.network.late import Late
from arcf.scorer.network.shared_prefix import SharedPrefix
from arcf.scorer.ragged import Ragged
from arcf.scorer.settings import ScorerSettings
from arcf.scorer.tokens import FactTokens, ShorteningLog

Network = Encoding[Any, Any]
"""An encoding, whatever it makes of prefixes and candidates: what it has read goes back to itself only."""

ENCODINGS: dict[str, type[Network]] = {encoding.name: encoding for encoding in (SharedPrefix, Late, Joint)}

TOKENS_PER_CALL = {"cpu": 1024, "cuda": 65_536, "mps": 16_384}
"""Tokens that are computed at a time, by kind of device. On a processor more no longer fit the cache and fewer leave it
waiting; a GPU wants enough to fill all of its cores."""


class TorchScorer:
    """Scores candidates with a torch model.

    The model may be in the middle of training: scoring switches dropout off and restores the mode afterwards. But what
    is prepared of the facts belongs to the weights as they are now: make a new scorer when they have changed. Threads
    may share a scorer whose model is not training (`load_scorer` gives such).

    `files` is what the model's files are known by, if it has any: what was read of facts with them may be on disk.
    """

    def __init__(self, model: Network, facts: FactTokens, files: str | None = None) -> None:
        self.model = model
        self.facts = facts
        self.shortening = ShorteningLog(facts.shortening)
        reader = FactReader(self._read_facts, model.backbone.head.in_features, self._tokens_per_call, model=files)
        self.kept = KeptStates(facts.candidates, reader) if model.keeps_states else None

    @property
    def settings(self) -> ScorerSettings:
        """What the model was trained with."""
        return self.model.backbone.settings

    def for_facts(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model."""
        files = self.kept.reader.model if self.kept else None
        return type(self)(self.model, self.model.backbone.tokenizer.facts(facts), files)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        with _without_dropout(self.model), torch.inference_mode():
            return self._score(prefix, candidates)

    def _score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        encoded = self.model.backbone.tokenizer.prefix(prefix.query, prefix.facts, self.facts)
        self.shortening.add(encoded.shortening)
        read = self.model.read(Ragged.of([encoded.tokens]))
        scores = np.empty(len(candidates), dtype=np.float32)
        tokens = self.model.tokens(len(encoded.tokens), self.facts.candidates.lengths_of(candidates))
        for call in calls(tokens, self._tokens_per_call):
            known = self._known(candidates[call])
            scores[call] = self.model.score(read, known, np.array([len(call)])).float().cpu().numpy()
        return scores

    @property
    def _tokens_per_call(self) -> int:
        return TOKENS_PER_CALL.get(self.model.backbone.head.weight.device.type, TOKENS_PER_CALL["cpu"])

    def _known(self, candidates: NDArray[np.int64]) -> Any:
        """What was computed from candidates before any prefix."""
        if self.kept is None:
            return self.model.prepare(self.facts.candidates.take(candidates))
        return self.model.restore(*self.kept.take(candidates))

    def _read_facts(self, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        with _without_dropout(self.model), torch.inference_mode():
            states = self.model.prepare(self.facts.candidates.take(facts)).states.float().cpu()
        found: NDArray[np.float32] = states.numpy()
        return found


def load_scorer(
    name: str | Path,
    facts: Sequence[str],
    device: str = "auto",
    threads: int | None = None,
    identify: Callable[[], str | None] = lambda: None,
) -> TorchScorer:
    """A scorer of the facts' texts, from a model folder or a model of the Hugging Face hub.

    Args:
        name: the folder, or the name on the hub. Its encoding is that which it was trained in; shared_prefix if none.
        facts: texts of the corpus; a fact's id is its position.
        device: as torch names them (cpu, cuda, cuda:1, mps), or auto: a GPU if there is one.
        threads: of the processor, for the whole process; torch's own choice unless given.
        identify: gives what the model's files are known by; asked only if something of them may be on disk.

    Raises:
        InputError: the model cannot be loaded.
        SettingError: there is no such device.
    """
    place = find_device(device)
    if threads is not None:
        torch.set_num_threads(threads)
    backbone = load_backbone(name)
    if not backbone.has_trained_head:
        warnings.warn(
            f"{name}: its score head was never trained, so its scores are random; train it first (arcf train).",
            ArcfWarning,
            stacklevel=3,
        )
    model = make_model(backbone, backbone.settings.encoding or SharedPrefix.name)
    model.to(place).eval()
    return TorchScorer(model, backbone.tokenizer.facts(facts), identify() if model.keeps_states else None)


def find_device(name: str) -> torch.device:
    """The device of that name, if torch can use it here; auto is a GPU if there is one.

    Raises:
        SettingError: it cannot.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        raise SettingError(f"The device {name} is none that torch can use here; take cpu or auto.") from error
    return device


def make_model(backbone: Backbone, encoding: str) -> Network:
    """The backbone run in the encoding of that name.

    Raises:
        UnknownNameError: there is no such encoding.
    """
    return pick(ENCODINGS, encoding, "encoding")(backbone)


@contextmanager
def _without_dropout(model: Network) -> Iterator[None]:
    """The model in eval mode. One that is in it already is left alone: another thread may be using it."""
    training = model.training
    if training:
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()
