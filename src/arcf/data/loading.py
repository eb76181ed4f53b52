"""From a name or a path to a dataset."""

import logging
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from arcf.data.directory import data_directory
from arcf.data.once import read_once
from arcf.data.readers import READERS
from arcf.data.releases import RELEASES
from arcf.data.source import places
from arcf.errors import InputError, UnknownNameError
from arcf.timing import logged
from arcf.types import Dataset

LOGGER = logging.getLogger(__name__)
PACKAGED = "science"


def load(dataset: str | Path = PACKAGED) -> Dataset:
    """The dataset of a name or at a path.

    A name is `science` (the corpus that comes with arcf) or that of a folder in the data directory (worldtree-2020,
    worldtree-2019 and whatever else is there); a path is that of a zip archive, a folder, or a file or pipe of facts
    (`-` is standard input). Names come first: write ./science for a folder of that name.

    Raises:
        InputError: it is not installed, or something in its files is wrong.
        UnknownNameError: there is nothing of that name.
    """
    path = locate(dataset)
    with logged(LOGGER, "read the dataset %s from %s", dataset, path):
        return read(path)


def locate(dataset: str | Path) -> Path:
    """The folder or file that a name or path of a dataset stands for; see `load`."""
    try:
        return _locate(dataset)
    except (OSError, RuntimeError) as error:  # A name that is too long; a home directory of nobody.
        raise InputError(f"cannot be looked for ({getattr(error, 'strerror', None) or error}).", dataset) from error


def _locate(dataset: str | Path) -> Path:
    if dataset == PACKAGED:
        return Path(str(files("arcf.data") / PACKAGED))
    if isinstance(dataset, str) and is_name(dataset):
        installed = data_directory() / dataset
        if installed.is_dir():
            return installed
    path = Path("/dev/stdin") if dataset == "-" else Path(dataset).expanduser()
    if not path.exists() and is_name(str(dataset)):
        raise _unknown(str(dataset))
    return path


def read(path: Path, name: str | None = None) -> Dataset:
    """The dataset at a path, in whichever format it is; unless given, its name is that of the folder or file.

    Raises:
        InputError: no reader knows the format, or something in the files is wrong.
    """
    entry = path if path.name.strip(".") else path.resolve()  # "." and ".." are no names.
    with closing(places(path)) as sources:
        for source in sources:
            for reader in READERS.values():
                if reader.recognises(source):
                    return read_once(reader, source, name or (entry.name if entry.is_dir() else entry.stem))
    known = "; ".join(reader.looks for reader in READERS.values())
    raise InputError(f"holds no dataset that arcf can read: {known}.", path)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a dataset: one path component, not hidden, not a file's name."""
    plain = bool(text) and text == Path(text).name and not text.startswith((".", "~"))
    return plain and Path(text).suffix not in _FILE_SUFFIXES


_FILE_SUFFIXES = {".zip", ".jsonl", ".csv", ".tsv", ".txt"}


def _unknown(name: str) -> InputError | UnknownNameError:
    if name in RELEASES:
        return InputError(f"The dataset {name} is not installed; run: arcf data install {name}")
    folder = data_directory()
    installed = [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    return UnknownNameError("dataset or file", name, {PACKAGED, *RELEASES, *filter(is_name, installed)})
