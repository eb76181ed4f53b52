"""What a kept file says of itself, before its arrays: what they are, what they were made from, and where they stand.

    arcf kept 1 734 <sha256 of the head>
    {"mark": ..., "about": ..., "sealed": ..., "arrays": ...}

and the arrays, each at a multiple of 64 bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import prod
from typing import IO, Any, Final, Self

import numpy as np

from arcf.errors import InputError

FORMAT: Final = 1
"""Goes up when the layout of files changes; part of every mark."""
MAGIC: Final = f"arcf kept {FORMAT}"
LONGEST_LINE: Final = 120
LONGEST_HEAD: Final = 100_000
ALIGNMENT: Final = 64


@dataclass(frozen=True, slots=True)
class About:
    """What a file is about, for people: what was kept, of how many facts, of which corpus, by which model.

    `texts` is the digest of the corpus's texts: files that do not know its name are known by it.
    """

    what: str
    facts: int
    texts: str
    corpus: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """An array in a file, without its position: that follows from those before it. `checksum`: its crc32, if known."""

    dtype: str
    shape: tuple[int, ...]
    checksum: int | None = None

    @property
    def nbytes(self) -> int:
        """Its size."""
        return np.dtype(self.dtype).itemsize * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file. `mark` is the hash of all that the arrays were made from.

    `sealed` is the file's date of change, in whole seconds since 1970: it is set when the file is complete, so a file
    of another date was changed, or copied, by somebody else.
    """

    mark: str
    about: About
    sealed: int
    arrays: Mapping[str, Slot] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """The bytes of the head, filled up to where the first array starts."""
        content = json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")).encode()
        line = f"{MAGIC} {len(content)} {sha256(content).hexdigest()}\n".encode()
        return line + content + b"\n" * (-len(line + content) % ALIGNMENT)

    def starts(self) -> tuple[dict[str, int], int]:
        """Where each array starts, and where the file ends."""
        position, starts = len(self.encoded()), {}
        for name, slot in self.arrays.items():
            starts[name] = position
            position += slot.nbytes + -slot.nbytes % ALIGNMENT
        return starts, position

    @classmethod
    def decoded(cls, content: bytes) -> Self:
        """The head from its JSON, whose hash was found right."""
        values: dict[str, Any] = json.loads(content)
        slots = {
            name: Slot(slot["dtype"], tuple(slot["shape"]), slot["checksum"]) for name, slot in values["arrays"].items()
        }
        return cls(values["mark"], About(**values["about"]), values["sealed"], slots)


def read_head(file: IO[bytes]) -> Head:
    """The head of a file that is open at its beginning.

    Raises:
        InputError: it has none, or one that is damaged or of another format.
    """
    line = file.readline(LONGEST_LINE)
    begin, _, numbers = line.decode("ascii", "replace").partition(f"{MAGIC} ")
    length, _, digest = numbers.rstrip("\n").partition(" ")
    if begin or not length.isdecimal() or int(length) > LONGEST_HEAD:
        raise InputError("is not a file that arcf keeps.")
    content = file.read(int(length))
    if sha256(content).hexdigest() != digest:
        raise InputError("is damaged.")
    return Head.decoded(content)
