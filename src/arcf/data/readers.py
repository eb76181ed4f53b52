"""The formats that datasets can be read from. A new one is a file with `recognises` and `read`, and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from arcf.data import beir, corpus, facts, worldtree
from arcf.data.source import Source
from arcf.types import Dataset


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: what it looks like (for messages), how to tell it, how to read it under a name."""

    looks: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source, str], Dataset]


READERS: dict[str, Reader] = {
    "worldtree": Reader("WorldTree (tables/ and questions.train.tsv, ...)", worldtree.recognises, worldtree.read),
    "corpus": Reader("an own corpus (facts.jsonl, .csv, .tsv or .txt)", corpus.recognises, corpus.read),
    "beir": Reader("a BEIR folder (corpus.jsonl)", beir.recognises, beir.read),
    "facts": Reader("a single file of facts", facts.recognises, facts.read),
}
