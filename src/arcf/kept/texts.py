"""Many texts as two arrays, decoded one by one when they are asked for; and their places, looked up by hash."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from arcf.kept.arrays import Arrays

BLOCK = 4096
"""Texts that are decoded together when all are asked for in turn."""


class PackedTexts(Sequence[str]):
    """Texts in UTF-8, one after the other; `offsets` says where each begins and the last one ends.

    `digest` is the sha256 of both: two corpora with the same one have the same texts in the same order.
    """

    def __init__(self, content: NDArray[np.uint8], offsets: NDArray[np.int64], digest: str) -> None:
        self.content = content
        self.offsets = offsets
        self.digest = digest

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """Texts, packed."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        content = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        digest = sha256(offsets.astype("<i8").tobytes())
        digest.update(content.data)
        return cls(content, offsets, digest.hexdigest())

    @classmethod
    def of_arrays(cls, arrays: Arrays, name: str) -> "PackedTexts":
        """Texts from what `arrays` made of them."""
        digest = arrays[f"{name}.digest"].tobytes().hex()
        return cls(arrays[name], arrays[f"{name}.offsets"], digest)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """The texts as plain arrays, to be kept under that name."""
        digest = np.frombuffer(bytes.fromhex(self.digest), dtype=np.uint8)
        return {name: self.content, f"{name}.offsets": self.offsets, f"{name}.digest": digest}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        places = range(len(self))[place]
        return self._text(places) if isinstance(places, int) else tuple(map(self._text, places))

    def _text(self, place: int) -> str:
        return _decoded(self.content[self.offsets[place] : self.offsets[place + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), BLOCK):
            offsets = self.offsets[first : first + BLOCK + 1].tolist()
            content = self.content[offsets[0] : offsets[-1]].tobytes()
            for start, end in pairwise(offsets):
                yield _decoded(content[start - offsets[0] : end - offsets[0]])


class Places(Mapping[str, int]):
    """The place of each text among texts without repeats: found by its hash, compared by its letters.

    A dict of a million uids takes 150 MB and half a second to make; this takes 8 bytes a uid and no time.
    """

    def __init__(self, texts: PackedTexts, hashes: NDArray[np.uint32], order: NDArray[np.int32]) -> None:
        self._texts = texts
        self._hashes = hashes  # ascending
        self._order = order  # the place of the text that has the hash

    @classmethod
    def of(cls, texts: PackedTexts) -> "Places":
        """The places of these texts."""
        hashes = np.fromiter(map(_hash, texts), dtype=np.uint32, count=len(texts))
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return cls(texts, hashes[order], order)

    @classmethod
    def of_arrays(cls, texts: PackedTexts, arrays: Arrays, name: str) -> "Places":
        """The places from what `arrays` made of them."""
        return cls(texts, arrays[f"{name}.hashes"], arrays[f"{name}.order"])

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """The places as plain arrays, to be kept beside the texts under that name."""
        return {f"{name}.hashes": self._hashes, f"{name}.order": self._order}

    def __getitem__(self, text: str) -> int:
        wanted = np.uint32(_hash(text))
        first, last = (int(np.searchsorted(self._hashes, wanted, side)) for side in ("left", "right"))
        for place in self._order[first:last].tolist():
            if self._texts[place] == text:
                return int(place)
        raise KeyError(text)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def digest_of(texts: Sequence[str]) -> str:
    """What tells texts from other texts; see `PackedTexts`."""
    return texts.digest if isinstance(texts, PackedTexts) else PackedTexts.of(texts).digest


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
