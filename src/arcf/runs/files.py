"""Runs: files that hold, for every question, the facts that a system ranked, best first.

Three formats, told apart by content when read; a name that ends in `.gz` is compressed:

- `textgraphs`, the shared tasks' predict.txt: `questionID<TAB>uid` a line, best first; a field may be quoted.
- `trec`: `questionID Q0 uid rank score tag` a line; the score decides, the rank only between equal scores.
- `json`: an object with one ranking a line, which may hold the chain that it was made from; see `runs.json_format`.

A run is large (WorldTree's dev split: 4.8 million lines), so reading works on bytes and looks closely only at what it
has not seen before, and writing makes one block of text a question.
"""

import gzip
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO

import numpy as np

from arcf.data.delimited import unquote
from arcf.errors import InputError
from arcf.files import atomic_write
from arcf.registry import pick
from arcf.runs.content import Content
from arcf.runs.json_format import json_blocks, read_json_run
from arcf.runs.run import Run
from arcf.runs.scores import numbers, printed, strictly_decreasing
from arcf.types import Dataset, Ranking

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EXPECTED = "a run has 2 columns with one tab (TextGraphs), 6 columns (TREC), or is a JSON object"
SPLITS_LINE = re.compile(r"[\t\r\n]")
SPLITS_COLUMN = re.compile(r"\s")
# On random digits more effort buys few bytes for much time.
COMPRESSION = 3


@dataclass(frozen=True, slots=True)
class RunFormat:
    """How one format is read, and how it is written: as blocks of text, about one a question."""

    read: Callable[[BufferedReader, Path], Content]
    blocks: Callable[[Dataset, Iterable[Ranking]], Iterator[str]]


def read_run(path: Path | str) -> Run:
    """A run from a file in any of the formats; it is named after the file, without its endings.

    Raises:
        InputError: the file cannot be read, is empty, or is no run; the message names the line.
    """
    path = Path(path)
    try:
        with _open(path) as file:
            content = FORMATS[_detect(file, path)].read(file, path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({reason}).", path) from error
    if not content.rankings:
        raise InputError(f"holds no ranking; {EXPECTED}.", path)
    return content.run(Path(path.name.removesuffix(".gz")).stem)


def read_runs(paths: Iterable[Path | str]) -> tuple[Run, ...]:
    """Several runs; where files in different folders have the same name, their paths tell them apart."""
    paths = list(paths)
    runs = [read_run(path) for path in paths]
    count = Counter(run.name for run in runs)
    return tuple(
        replace(run, name=str(path)) if count[run.name] > 1 else run for path, run in zip(paths, runs, strict=True)
    )


def write_run(path: Path | str, dataset: Dataset, rankings: Iterable[Ranking], format_name: str = "textgraphs") -> None:
    """Write rankings as they come, never more than one in memory; the file appears only when all are in it.

    Raises:
        UnknownNameError: there is no such format.
        InputError: the file cannot be written, or an id cannot be kept in this format.
    """
    path = Path(path)
    blocks = pick(FORMATS, format_name, "run format").blocks(dataset, rankings)
    with atomic_write(path) as plain, _compressed(plain, path) as file:
        for block in blocks:
            file.write(block.encode())


def _read_textgraphs(file: BufferedReader, path: Path) -> Content:
    rankings: dict[str, list[str]] = {}
    uids: dict[bytes, str] = {}
    question: bytes | None = None
    facts: list[str] = []
    for number, line in enumerate(file, 1):
        name, _, ending = line.partition(b"\t")
        if name != question:
            if not line.strip():
                continue
            question = name
            facts = rankings.setdefault(unquote(_text(name, path, number)), [])
        uid = uids.get(ending)
        if uid is None:
            uid = uids[ending] = _second_of_two(line, path, number)
        facts.append(uid)
    return Content(rankings)


def _second_of_two(line: bytes, path: Path, number: int) -> str:
    columns = [unquote(column) for column in _text(line, path, number).rstrip("\r\n").split("\t")]
    if len(columns) != 2 or not all(columns):
        found = f"{len(columns)} column(s)" if all(columns) else "an empty column"
        raise InputError(f"has {found}; expected questionID<TAB>uid.", path, number)
    return columns[1]


def _read_trec(file: BufferedReader, path: Path) -> Content:
    columns: dict[str, tuple[list[str], array[float], array[int]]] = {}
    uids: dict[bytes, str] = {}
    question: bytes | None = None
    for number, line in enumerate(file, 1):
        try:
            name, _, fact, rank, score, _ = line.split()
            if name != question:
                question = name
                facts, scores, ranks = columns.setdefault(_text(name, path, number), ([], array("d"), array("q")))
            uid = uids.get(fact)
            if uid is None:
                uid = uids[fact] = _text(fact, path, number)
            facts.append(uid)
            scores.append(float(score))
            ranks.append(int(rank))
        except (ValueError, OverflowError):
            if line.strip():
                raise _bad_trec_line(line, path, number) from None
    content = Content()
    for key, column in columns.items():
        content.rankings[key], content.scores[key] = _by_score(key, *column, path)
    return content


def _by_score(
    name: str, facts: list[str], scores: Sequence[float], ranks: Sequence[int], path: Path
) -> tuple[list[str], Sequence[float]]:
    """Facts by descending score, equal scores by ascending rank, equal ranks in the order of the file."""
    falling = -np.asarray(scores)
    if np.all(falling[1:] > falling[:-1]):
        return facts, scores
    if np.isnan(falling).any():
        raise InputError(f"has a score for question '{name}' that is not a number.", path)
    order = np.lexsort((np.asarray(ranks), falling))
    return [facts[index] for index in order], (-falling[order]).tolist()


def _bad_trec_line(line: bytes, path: Path, number: int) -> InputError:
    columns = _text(line, path, number).split()
    if len(columns) != 6:
        found, expected = f"{len(columns)} column(s)", "6: questionID Q0 uid rank score tag"
    else:
        found, expected = f"rank '{columns[3]}' and score '{columns[4]}'", "a whole number and a number"
    return InputError(f"has {found}; expected {expected}.", path, number)


def _textgraphs_blocks(dataset: Dataset, rankings: Iterable[Ranking]) -> Iterator[str]:
    uids = np.array([_kept(fact.uid, "textgraphs", SPLITS_LINE, unquote) for fact in dataset.facts], dtype=object)
    for ranking in rankings:
        start = _kept(ranking.question_id, "textgraphs", SPLITS_LINE, unquote) + "\t"
        if len(ranking.facts):
            yield start + f"\n{start}".join(uids[ranking.facts]) + "\n"


def _trec_blocks(dataset: Dataset, rankings: Iterable[Ranking]) -> Iterator[str]:
    uids = np.array([_kept(fact.uid, "trec", SPLITS_COLUMN) for fact in dataset.facts], dtype=object)
    ranks = [f" {rank} " for rank in range(1, len(uids) + 1)]
    for ranking in rankings:
        size = len(ranking.facts)
        parts = [f" arcf\n{_kept(ranking.question_id, 'trec', SPLITS_COLUMN)} Q0 "] * (4 * size)
        parts[1::4] = uids[ranking.facts]
        parts[2::4] = ranks[:size]
        parts[3::4] = printed(strictly_decreasing(numbers(ranking)))
        yield "".join(parts).removeprefix(" arcf\n") + " arcf\n" * (size > 0)


def _kept(
    name: str, format_name: str, forbidden: re.Pattern[str], as_read: Callable[[str], str] = lambda name: name
) -> str:
    """The id itself, if the format can hold it, and reading gives it back."""
    if not name.strip() or forbidden.search(name) or as_read(name) != name:
        raise InputError(f"The {format_name} format cannot hold the id {name!r}; write the run as json.")
    return name


def _text(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text; save it as UTF-8 and try again.", path, number) from error


def _detect(file: BufferedReader, path: Path) -> str:
    """The name of the format, from the first line that is not blank; only a byte order mark is read away."""
    if file.peek().startswith(BYTE_ORDER_MARK):
        file.read(len(BYTE_ORDER_MARK))
    head = file.peek()
    content = head.lstrip()
    line = content.partition(b"\n")[0]
    if not content:
        raise InputError(f"is empty; {EXPECTED}.", path)
    if content.startswith(b"{"):
        return "json"
    if line.count(b"\t") == 1:
        return "textgraphs"
    if len(line.split()) == 6:
        return "trec"
    number = head.count(b"\n", 0, len(head) - len(content)) + 1
    raise InputError(f"has {len(line.split())} column(s); {EXPECTED}.", path, number)


def _open(path: Path) -> BufferedReader:
    """A file that can be looked into before it is read. A pipe may give less than its first line: it is read first."""
    if path.suffix == ".gz":
        return BufferedReader(gzip.open(path))
    file = path.open("rb")
    if file.seekable():
        return file
    with file:
        return BufferedReader(BytesIO(file.read()))


def _compressed(file: IO[bytes], path: Path) -> AbstractContextManager[IO[bytes] | gzip.GzipFile]:
    """The file itself, or a compressing one around it; without a time stamp, so that equal runs are equal files."""
    if path.suffix != ".gz":
        return nullcontext(file)
    return gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=file, mtime=0)


FORMATS: dict[str, RunFormat] = {
    "textgraphs": RunFormat(_read_textgraphs, _textgraphs_blocks),
    "trec": RunFormat(_read_trec, _trec_blocks),
    "json": RunFormat(read_json_run, json_blocks),
}
