"""The facts of a corpus on disk: decoded when they are asked for, so that a million of them cost nothing to load."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from arcf.kept.arrays import Arrays
from arcf.kept.texts import PackedTexts, Places, digest_of
from arcf.types import Corpus, Fact, cores_of, number_texts, texts_of


class KeptFacts(Corpus):
    """Facts from arrays: texts, uids, cores, the names of tables, and which table each fact is of."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._texts = PackedTexts.of_arrays(arrays, "texts")
        self._uids = PackedTexts.of_arrays(arrays, "uids")
        self._cores = PackedTexts.of_arrays(arrays, "cores")
        self._tables = tuple(PackedTexts.of_arrays(arrays, "tables"))

    @staticmethod
    def arrays(facts: Sequence[Fact]) -> Arrays:
        """Facts as plain arrays, which `KeptFacts` is made from."""
        if isinstance(facts, KeptFacts):
            return facts._arrays
        uids, tables = PackedTexts.of(fact.uid for fact in facts), dict.fromkeys(fact.table for fact in facts)
        number_of = {table: number for number, table in enumerate(tables)}
        return {
            **PackedTexts.of(texts_of(facts)).arrays("texts"),
            **PackedTexts.of(cores_of(facts)).arrays("cores"),
            **PackedTexts.of(tables).arrays("tables"),
            **uids.arrays("uids"),
            **Places.of(uids).arrays("uids"),
            "table_of": np.array([number_of[fact.table] for fact in facts], dtype=np.int32),
            "numbers": number_texts(facts),
        }

    def __eq__(self, other: object) -> bool:
        """Whether all facts are the same, by the digests of what they are made of."""
        if not isinstance(other, KeptFacts):
            return NotImplemented
        return self._digests() == other._digests() and np.array_equal(
            self._arrays["table_of"], other._arrays["table_of"]
        )

    def __hash__(self) -> int:
        return hash(self._digests())

    @property
    def texts(self) -> PackedTexts:
        """The text of every fact."""
        return self._texts

    @property
    def cores(self) -> PackedTexts:
        """The core of every fact, empty where it is the text; none at all if all are."""
        return self._cores

    @cached_property
    def ids(self) -> Places:
        """The integer id of every uid."""
        return Places.of_arrays(self._uids, self._arrays, "uids")

    @property
    def numbers(self) -> NDArray[np.int64]:
        """A number for each fact that only facts of the same text share."""
        numbers: NDArray[np.int64] = self._arrays["numbers"]
        return numbers

    def _digests(self) -> tuple[str, ...]:
        return self._uids.digest, self._texts.digest, self._cores.digest, digest_of(self._tables)

    def __len__(self) -> int:
        return len(self._texts)

    def fact(self, place: int) -> Fact:
        """The fact at a place, from 0 on."""
        core = self._cores[place] if len(self._cores) else ""
        return Fact(self._uids[place], self._texts[place], self._tables[self._arrays["table_of"][place]], core)

    def __iter__(self) -> Iterator[Fact]:
        cores = self._cores if len(self._cores) else repeat("", len(self))
        columns = (self._uids, self._texts, self._arrays["table_of"].tolist(), cores)
        for uid, text, table, core in zip(*columns, strict=True):
            yield Fact(uid, text, self._tables[table], core)


class TextFacts(Corpus):
    """Texts as facts, for what looks at nothing else: their uids are empty."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @property
    def texts(self) -> Sequence[str]:
        """The texts."""
        return self._texts

    @property
    def cores(self) -> Sequence[str]:
        """None has one that is not its text."""
        return ()

    @property
    def ids(self) -> dict[str, int]:
        """There are none."""
        return {}

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """A number for each fact that only facts of the same text share."""
        return number_texts(tuple(self))

    def __len__(self) -> int:
        return len(self._texts)

    def fact(self, place: int) -> Fact:
        """The fact at a place, from 0 on."""
        return Fact("", self._texts[place])

    def __iter__(self) -> Iterator[Fact]:
        return (Fact("", text) for text in self.texts)
