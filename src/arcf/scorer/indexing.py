"""Reading a whole corpus ahead, for all who will ask about it: see `scorer.index`."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.kept.folder import Entry, entries, keep_bounded
from arcf.kept.head import About
from arcf.kept.texts import digest_of
from arcf.neighborhood import make_distance
from arcf.pretrained.location import locate
from arcf.progress import report
from arcf.scorer.calls import calls
from arcf.scorer.index import index_path, write_index
from arcf.scorer.kept import KeptStates
from arcf.scorer.loading import dense_encoder, load_network, with_prior
from arcf.types import Dataset

READINGS = "readings of a model"


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """What was written. `tokens` are those of all facts, and of the stop sample."""

    path: Path
    facts: int
    tokens: int
    bytes: int


def build_index(
    model: str | Path,
    facts: Sequence[str],
    device: str = "auto",
    threads: int | None = None,
    after: Callable[[int], None] = lambda _: None,
) -> IndexRecord:
    """Read all facts with a model of the late encoding, into the user's cache, where loading looks for them.

    Args:
        model: its folder, or its name on the Hugging Face hub.
        facts: texts of the corpus; a fact's id is its position.
        device: where torch weights are run.
        threads: how many of the processor are used; all of them unless given.
        after: called after each call of the model, with the number of facts that it read.

    Raises:
        InputError: the model cannot be loaded, or reads nothing ahead; or the cache cannot be written to.
        SettingError: there is no such device.
        OSError: the disk is full, or fails.
    """
    kept = load_network(model, facts, device, threads).kept
    if kept is None or kept.reader.model is None:
        raise InputError("was not trained in the late encoding, so there is nothing that it can read ahead.", model)
    return _write_readings(
        kept, kept.reader.model, About(READINGS, len(facts), digest_of(facts), "", str(model)), after
    )


def index_corpus(
    model: str | Path,
    dataset: Dataset,
    distance: str = "tfidf",
    device: str = "auto",
    threads: int | None = None,
) -> tuple[Entry, ...]:
    """Make all that is kept of a corpus: its words, a distance, tokens, prior and, of a late model, readings.

    Arguments are those of `build_index`, and the name of a distance. `progress` tells how far it has come.

    Returns:
        The files of the cache that are about the corpus.

    Raises:
        InputError: the model cannot be loaded, or the cache cannot be written to.
        SettingError: there is no such device.
        UnknownNameError: there is no such distance.
        OSError: the disk is full, or fails.
    """
    network = load_network(model, dataset.texts, device, threads)
    make_distance(dataset, distance, dense_encoder(with_prior(network, dataset.texts, locate(model))))
    texts = digest_of(dataset.texts)
    if network.kept is not None and network.kept.reader.model is not None:
        about = About(READINGS, len(dataset.facts), texts, dataset.name, str(model))
        _write_readings(network.kept, network.kept.reader.model, about, _counting(about.facts + 1))
    return tuple(entry for entry in entries() if entry.about is not None and entry.about.texts == texts)


def _counting(total: int) -> Callable[[int], None]:
    """Reports facts that are read, and the stop sample, as they are counted."""
    done = 0

    def count(facts: int) -> None:
        nonlocal done
        done += facts
        report("reading facts ahead", done, total)

    return count


def _write_readings(kept: KeptStates, model: str, about: About, after: Callable[[int], None]) -> IndexRecord:
    path = index_path(model, kept.candidates)
    size = write_index(path, about, kept.candidates, kept.reader.width, _read(kept, after))
    keep_bounded()
    return IndexRecord(path, about.facts, len(kept.candidates.tokens), size)


def _read(kept: KeptStates, after: Callable[[int], None]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float16]]]:
    """All facts and the stop sample, similar lengths together."""
    reader = kept.reader
    parts = list(calls(kept.candidates.lengths, reader.tokens))
    pool = ThreadPoolExecutor(reader.calls)
    try:
        for part, states in zip(parts, pool.map(reader.read, parts), strict=True):
            yield part, states.astype(np.float16)
            after(len(part))
    finally:
        pool.shutdown(cancel_futures=True)  # If nobody wants the rest: the disk may be full.
