"""Reading a whole corpus ahead, for all who will ask about it: see `scorer.index`."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcf.kept.folder import Entry, entries, keep_bounded
from arcf.kept.head import About
from arcf.kept.texts import digest_of
from arcf.neighborhood import make_distance
from arcf.pretrained.location import locate
from arcf.progress import report
from arcf.scorer.calls import calls
from arcf.scorer.index import index_path, write_index
from arcf.scorer.kept import KeptStates
from arcf.scorer.loading import dense_encoder, load_network, with_precedents, with_prior
from arcf.types import Dataset

READINGS = "readings of a model"


def index_corpus(
    model: str | Path,
    dataset: Dataset,
    distance: str = "tfidf",
    device: str = "auto",
    threads: int | None = None,
) -> tuple[Entry, ...]:
    """Make all that is kept of a corpus: its words, a distance, tokens, prior and, of a late model, readings.

    Args:
        model: its folder, or its name on the Hugging Face hub.
        dataset: the corpus.
        distance: the name of one.
        device: where torch weights are run.
        threads: how many of the processor are used; all of them unless given.

    Returns:
        The files of the cache that are about the corpus.

    Raises:
        InputError: the model cannot be loaded, or the cache cannot be written to.
        SettingError: there is no such device.
        UnknownNameError: there is no such distance.
        OSError: the disk is full, or fails.
    """
    network = load_network(model, dataset.texts, device, threads)
    scorer = with_precedents(with_prior(network, dataset.texts, locate(model), threads), dataset, threads)
    make_distance(dataset, distance, dense_encoder(scorer), threads)
    texts = digest_of(dataset.texts)
    if network.kept is not None and network.kept.reader.model is not None:
        path = index_path(network.kept.reader.model, network.kept.candidates)
        about = About(READINGS, len(dataset.facts), texts, dataset.name, str(model))
        write_index(path, about, network.kept.candidates, network.kept.reader.width, _read(network.kept))
        keep_bounded()
    return tuple(entry for entry in entries() if entry.about is not None and entry.about.texts == texts)


def _read(kept: KeptStates) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float16]]]:
    """All facts and the stop sample, similar lengths together; tells how far it has come."""
    reader, lengths, done = kept.reader, kept.candidates.lengths, 0
    parts = list(calls(lengths, reader.tokens))
    pool = ThreadPoolExecutor(reader.calls)
    try:
        for part, states in zip(parts, pool.map(reader.read, parts), strict=True):
            yield part, states.astype(np.float16)
            done += len(part)
            report("reading facts ahead", done, len(lengths))
    finally:
        pool.shutdown(cancel_futures=True)  # If nobody wants the rest: the disk may be full.
