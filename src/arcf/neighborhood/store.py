"""Distances on disk: one .npz of plain arrays each, never a pickle, named by a hash of what they were made from."""

import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import numpy as np

from arcf.errors import ArcfWarning, InputError
from arcf.files import atomic_write, make_folder
from arcf.neighborhood.base import Distance, Recipe
from arcf.types import Fact, Question

#: Raised when files change, or when the same settings make something else of the same text.
FORMAT = 2
#: What builds faster than this is not worth a file. Word counts of ten thousand facts take a fifth of a second; those
#: of a million, or sentence embeddings, take half a minute and more.
WORTH_SECONDS = 2.0

# A dot, so that no distance's own array can have the name.
_FORMAT_KEY = "arcf.format"
_FINGERPRINT_KEY = "arcf.fingerprint"


def fingerprint(recipe: Recipe, facts: Sequence[Fact], questions: Sequence[Question]) -> str:
    """The sha256 of everything that a distance is made from, in hexadecimal.

    Every text is preceded by its length, and every list by its number of texts: no two contents read the same.
    """
    digest = sha256(f"arcf distance {FORMAT}".encode())
    for texts in (
        [recipe.identity()],
        [fact.text for fact in facts],
        [fact.core for fact in facts],
        [question.text for question in questions],
    ):
        digest.update(b"%d:" % len(texts))
        for text in texts:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()


def save(distance: Distance, path: Path, fingerprint: str) -> None:
    """Write a distance, into a new folder if need be; the file appears only when it is complete.

    Raises:
        InputError: the folder cannot be made or written to.
    """
    marks = {_FORMAT_KEY: np.array(FORMAT), _FINGERPRINT_KEY: np.array(fingerprint)}
    make_folder(path.parent)
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, **marks, **distance.state())


def load(recipe: Recipe, path: Path, fingerprint: str) -> Distance:
    """Read a distance that `save` wrote.

    Raises:
        InputError: the file cannot be read, is damaged, or was made from other facts, questions or settings.
    """
    with _explained(path):
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()  # By checksum, before anything in the file is believed.
        if damaged:
            raise zipfile.BadZipFile(damaged)
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        found = int(arrays.pop(_FORMAT_KEY)), str(arrays.pop(_FINGERPRINT_KEY))
    if found != (FORMAT, fingerprint):
        raise InputError("was made from other facts, questions or settings.", path)
    return recipe.restore(arrays)


def load_or_build(
    recipe: Recipe, facts: Sequence[Fact], questions: Sequence[Question], folder: Path | None = None
) -> Distance:
    """The distance of a corpus, from the cache if it is there, else built and, where that took long, kept.

    A file that is damaged is built again and replaced; a folder that cannot be written to costs a warning.
    `folder` is the user's cache directory unless given.
    """
    name = fingerprint(recipe, facts, questions)
    path = (_default_folder() if folder is None else folder) / f"{name}.npz"
    try:
        return load(recipe, path, name)
    except InputError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            warnings.warn(f"{error} It is built again now.", ArcfWarning, stacklevel=2)
    start = perf_counter()
    distance = recipe.build(facts, questions)
    if perf_counter() - start >= WORTH_SECONDS:
        try:
            save(distance, path, name)
        except (InputError, OSError) as error:
            warnings.warn(f"The neighborhood is not kept for next time: {error}", ArcfWarning, stacklevel=2)
    return distance


def _default_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("arcf") / "neighborhoods"


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what goes wrong inside a damaged .npz into one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError("is not there.", path) from error
    except (
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        NotImplementedError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        zlib.error,
    ) as error:
        raise InputError("cannot be read as a saved neighborhood: it is damaged, or something else.", path) from error
