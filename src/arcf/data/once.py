"""Reading a large corpus once: what was read is kept, and mapped into memory as long as its files do not change.

A million facts take half a minute to read and half a gigabyte to hold, and no time and no memory to map.
"""

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from time import perf_counter
from typing import Any, Final

import numpy as np

from arcf.data.readers import Reader
from arcf.data.remarks import hearing
from arcf.data.source import Source
from arcf.errors import ArcfWarning
from arcf.kept.arrays import Arrays
from arcf.kept.facts import KeptFacts
from arcf.kept.head import FORMAT, About
from arcf.kept.keeping import find, keep
from arcf.types import Dataset, Gold, Option, Question

KIND: Final = "corpora"
VERSION: Final = 2
"""Goes up when a reader makes something else of the same files."""
WORTH_FACTS: Final = 5_000
"""A smaller corpus is read as fast as it is mapped."""


def read_once(reader: Reader, source: Source, name: str) -> Dataset:
    """What a reader makes of a source, from the cache if the same files were read before under that name.

    Raises:
        InputError: something in the files is wrong.
    """
    content = source.fingerprint(reader.files)
    mark = sha256(json.dumps([KIND, FORMAT, VERSION, reader.looks, name, content]).encode()).hexdigest()
    found = None if content is None else find(KIND, mark)
    if found is not None:
        dataset, said = _restored(found, name)
        _repeat(said)
        return dataset
    start = perf_counter()
    with hearing() as said:  # Whoever maps what was read should hear it as well.
        dataset = reader.read(source, name)
    _repeat(said)
    if content is None or len(dataset.facts) < WORTH_FACTS or source.fingerprint(reader.files) != content:
        return dataset  # The last: a file has changed while it was read, and nobody knows before or after which line.
    arrays = _arrays(dataset, said)
    about = About("facts and questions", len(dataset.facts), KeptFacts(arrays).texts.digest, name)
    return _restored(keep(KIND, mark, about, arrays, perf_counter() - start), name)[0]


def _repeat(said: list[str]) -> None:
    for message in said:
        warnings.warn(message, ArcfWarning, stacklevel=4)


def _arrays(dataset: Dataset, said: list[str]) -> Arrays:
    questions = {split: [asdict(question) for question in asked] for split, asked in dataset.splits.items()}
    text = json.dumps({"splits": questions, "warnings": said})
    return {**KeptFacts.arrays(dataset.facts), "questions": np.frombuffer(text.encode(), dtype=np.uint8)}


def _restored(arrays: Arrays, name: str) -> tuple[Dataset, list[str]]:
    record = json.loads(arrays["questions"].tobytes())
    splits = {split: tuple(map(_question, asked)) for split, asked in record["splits"].items()}
    return Dataset(name, KeptFacts(arrays), splits), record["warnings"]


def _question(values: Mapping[str, Any]) -> Question:
    options = tuple(Option(**option) for option in values["options"])
    return Question(**{**values, "options": options, "gold": tuple(Gold(**gold) for gold in values["gold"])})
