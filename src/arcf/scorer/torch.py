"""The torch scorer: a model, in either encoding, bound to a corpus."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from arcf.errors import ArcfWarning
from arcf.registry import pick
from arcf.scorer.backbone import Backbone, load_backbone
from arcf.scorer.base import Prefix
from arcf.scorer.calls import calls
from arcf.scorer.encoding import FactTokens, ShorteningLog
from arcf.scorer.joint import Joint
from arcf.scorer.ragged import Ragged
from arcf.scorer.shared_prefix import SharedPrefix

Model = SharedPrefix | Joint

ENCODINGS: dict[str, Callable[[Backbone], Model]] = {SharedPrefix.name: SharedPrefix, Joint.name: Joint}

TOKENS_PER_CALL = 1024
"""Tokens that are computed at a time: more no longer fit the cache, fewer leave the processor waiting."""


class TorchScorer:
    """Scores candidates with a torch model.

    The model may be in the middle of training: scoring switches dropout off and restores the mode afterwards. Threads
    may share a scorer whose model is not (`load_scorer` gives such).
    """

    def __init__(self, model: Model, facts: FactTokens) -> None:
        self.model = model
        self.facts = facts
        self.shortening = ShorteningLog(facts.shortening)

    def rebound(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model."""
        return type(self)(self.model, self.model.backbone.encoder.facts(facts))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        with _without_dropout(self.model), torch.inference_mode():
            return self._score(prefix, candidates)

    def _score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        encoded = self.model.backbone.encoder.prefix(prefix.query, prefix.facts, self.facts)
        self.shortening.add(encoded.shortening)
        read = self.model.read(Ragged.of([encoded.tokens]))
        scores = np.empty(len(candidates), dtype=np.float32)
        tokens = self.model.tokens(len(encoded.tokens), self.facts.candidates.lengths[candidates])
        for chunk in calls(tokens, TOKENS_PER_CALL):
            rows = self.facts.candidates.take(candidates[chunk])
            # The union's methods agree, but only on what they themselves have read.
            result = self.model.score(read, rows, np.array([len(chunk)]))  # type: ignore[arg-type]
            scores[chunk] = result.float().cpu().numpy()
        return scores


def load_scorer(name: str | Path, facts: Sequence[str]) -> TorchScorer:
    """A scorer of the facts' texts, from a model folder or a model of the Hugging Face hub.

    Args:
        name: the folder, or the name on the hub. Its encoding is that which it was trained in; shared_prefix if none.
        facts: texts of the corpus; a fact's id is its position.

    Raises:
        InputError: the model cannot be loaded.
    """
    backbone = load_backbone(name)
    if not has_trained_head(backbone):
        warnings.warn(
            f"{name}: its score head was never trained, so its scores are random; train it first (arcf train).",
            ArcfWarning,
            stacklevel=3,
        )
    model = make_model(backbone, backbone.encoding or SharedPrefix.name)
    model.eval()
    return TorchScorer(model, backbone.encoder.facts(facts))


def has_trained_head(backbone: Backbone) -> bool:
    """Whether the files had a score head: arcf's own do, and those of other token classifiers."""
    names = getattr(backbone.model.config, "architectures", None) or ()
    return backbone.encoding is not None or any(name.endswith("ForTokenClassification") for name in names)


def make_model(backbone: Backbone, encoding: str) -> Model:
    """The backbone run in the encoding of that name.

    Raises:
        UnknownNameError: there is no such encoding.
    """
    return pick(ENCODINGS, encoding, "encoding")(backbone)


@contextmanager
def _without_dropout(model: Model) -> Iterator[None]:
    """The model in eval mode. One that is in it already is left alone: another thread may be using it."""
    training = model.training
    if training:
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()
