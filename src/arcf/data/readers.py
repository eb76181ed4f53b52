"""The formats that datasets can be read from. A new one is a file with `recognises` and `read`, and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from arcf.data import beir, corpus, facts, worldtree
from arcf.data.source import Source
from arcf.types import Dataset


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: what it looks like (for messages), how to tell it, how to read it under a name.

    `files` are patterns of all files that reading may look at: what was read is read again when one of them changes.
    """

    looks: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source, str], Dataset]
    files: tuple[str, ...] = ()


READERS: dict[str, Reader] = {
    "worldtree": Reader(
        "WorldTree (tables/ and questions.train.tsv, ...)", worldtree.recognises, worldtree.read, worldtree.FILES
    ),
    "corpus": Reader("an own corpus (facts.jsonl, .csv, .tsv or .txt)", corpus.recognises, corpus.read, corpus.FILES),
    "beir": Reader("a BEIR folder (corpus.jsonl)", beir.recognises, beir.read, beir.FILES),
    "facts": Reader("a single file of facts", facts.recognises, facts.read),
}
