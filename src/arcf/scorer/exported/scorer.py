"""The scorer without torch: an exported model in ONNX Runtime."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcf.files import read_json_object
from arcf.pretrained.location import CONFIG
from arcf.pretrained.onnx_session import open_session
from arcf.pretrained.threads import usable_threads
from arcf.scorer.base import Prefix
from arcf.scorer.calls import calls
from arcf.scorer.exported.folder import MODEL, read_manifest
from arcf.scorer.exported.inputs import TOKENS_PER_CALL, Inputs, StateInputs, TokenInputs
from arcf.scorer.kept import KeptStates
from arcf.scorer.settings import ScorerSettings
from arcf.scorer.tokens import ChainTokenizer, FactTokens, ShorteningLog

CALLS_TOGETHER = 4
"""Calls come in multiples of this, so that two or four threads have equally much to do; also the same everywhere."""

Seen = dict[str, NDArray[np.float32]]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A prefix, and what the graph made of it: keys and values, as inputs of later calls."""

    prefix: Prefix
    seen: Seen


class Pool:
    """Threads that make calls; one alone is the caller's own.

    They begin with the first calls of a process: one that was forked from another has none of that one's threads, and
    would wait for them for ever.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._own: tuple[int, ThreadPoolExecutor] | None = None

    def map(self, call: Callable[[Item], Result], items: Sequence[Item]) -> Iterable[Result]:
        """The result for each item, in order."""
        return self._executor().map(call, items) if self.threads > 1 and len(items) > 1 else map(call, items)

    def _executor(self) -> ThreadPoolExecutor:
        # One reference, replaced as a whole: of two threads that come first, one has its threads for this call alone.
        own = self._own
        if own is None or own[0] != os.getpid():
            own = self._own = os.getpid(), ThreadPoolExecutor(self.threads, "arcf")
        return own[1]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """An exported model, loaded once for any number of corpora.

    `lower` is the graph of the layers that are read ahead, if any; `files` is what the model's files are known by.
    """

    session: Any
    lower: Any | None
    files: str
    tokenizer: ChainTokenizer
    settings: ScorerSettings
    pool: Pool

    def inputs(self, facts: FactTokens) -> Inputs:
        """What goes into the graph for these facts."""
        if self.lower is None:
            return TokenInputs(facts.candidates)
        return StateInputs(self.lower, facts.candidates, self.files, self.pool.threads)


class OnnxScorer:
    """Scores candidates with an exported model. Threads may share it.

    What was made of the last prefix is kept: asking for more candidates of the same one costs only these. Calls run
    side by side, each on one thread of the model's pool.
    """

    def __init__(self, model: Model, facts: FactTokens) -> None:
        self.facts = facts
        self.shortening = ShorteningLog(facts.shortening)
        self._model = model
        self._inputs = model.inputs(facts)
        # A graph's extra inputs are seen_keys_0, seen_values_0, .., seen_state; its outputs have the same names without
        # "seen_". Before anything is seen, they have no tokens, and the state is 0.
        inputs = [value for value in model.session.get_inputs() if value.name.startswith("seen_")]
        self._empty: Seen = {
            value.name: np.zeros([0 if isinstance(size, str) else size for size in value.shape], dtype=np.float32)
            for value in inputs
        }
        self._last: _Read | None = None

    @property
    def settings(self) -> ScorerSettings:
        """What the model was trained with."""
        return self._model.settings

    @property
    def kept(self) -> KeptStates | None:
        """What was read of the facts, if the model reads ahead."""
        return self._inputs.kept

    def for_facts(self, facts: Sequence[str]) -> Self:
        """A scorer of other facts with the same model."""
        return type(self)(self._model, self._model.tokenizer.facts(facts))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        scores = np.empty(len(candidates), dtype=np.float32)
        if not len(candidates):
            return scores
        seen = self._read(prefix)
        parts = list(calls(self.facts.candidates.lengths_of(candidates), TOKENS_PER_CALL, CALLS_TOGETHER))
        results = self._model.pool.map(lambda call: self._call(candidates[call], seen), parts)
        for call, result in zip(parts, results, strict=True):
            scores[call] = result
        return scores

    def _call(self, candidates: NDArray[np.int64], seen: Seen) -> NDArray[np.float32]:
        feed = self._inputs.candidates(candidates) | seen
        scores: NDArray[np.float32] = self._model.session.run(["scores"], feed)[0]
        return scores

    def _read(self, prefix: Prefix) -> Seen:
        # One reference, replaced as a whole: a thread sees the old one or the new one, and both are right.
        last = self._last
        if last is not None and last.prefix == prefix:
            return last.seen
        encoded = self._model.tokenizer.prefix(prefix.query, prefix.facts, self.facts)
        self.shortening.add(encoded.shortening)
        names = [name.removeprefix("seen_") for name in self._empty]
        kept = self._model.session.run(names, self._inputs.prefix(encoded.tokens) | self._empty)
        # Of keys and values, (heads, 1, tokens, size) -> (heads, tokens, size).
        seen = {name: value[:, 0] if value.ndim == 4 else value for name, value in zip(self._empty, kept, strict=True)}
        self._last = _Read(prefix, seen)
        return seen


def load_scorer(folder: Path, facts: Sequence[str], threads: int | None = None) -> OnnxScorer:
    """A scorer of the facts' texts from the folder of an exported model.

    Args:
        folder: what `arcf export` wrote.
        facts: texts of the corpus; a fact's id is its position.
        threads: calls at a time; as many as this process may use processors, or OMP_NUM_THREADS, unless given.

    Raises:
        InputError: the folder is not complete, is damaged, or is of another version.
    """
    manifest = read_manifest(folder)
    with ThreadPoolExecutor(2) as opening:  # The library opens graphs without holding the interpreter up.
        # Calls run side by side, each on one thread: within a call there is too little to share.
        session = opening.submit(open_session, folder / MODEL, threads=1)
        lower = opening.submit(open_session, folder / manifest.lower, threads=1) if manifest.lower else None
        manifest.check(folder)
        tokenizer = ChainTokenizer.load(folder)
        tokens = tokenizer.facts(facts)
    model = Model(
        session=session.result(),
        lower=None if lower is None else lower.result(),
        files=manifest.identity,
        tokenizer=tokenizer,
        settings=ScorerSettings.of(read_json_object(folder / CONFIG)),
        pool=Pool(threads or usable_threads()),
    )
    return OnnxScorer(model, tokens)
