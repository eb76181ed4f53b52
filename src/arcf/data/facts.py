"""Facts of one's own, in one file: JSON lines, CSV, TSV, or plain text with one fact per line.

JSON lines hold {"uid", "text", "table", "core"}; CSV and TSV have columns of these names. Only `text` is required. `id`
is as good as `uid`; a fact without either is named after its line (`line-12`), so its uid stays the same as long as
facts are only appended.

A file's name tells its format. What has a name without ending, such as a pipe (`/dev/stdin`, `<(...)`), is JSON lines
if it begins with a brace, and else plain text.
"""

from collections.abc import Callable, Iterator
from pathlib import PurePath

from arcf.data.assembly import assemble
from arcf.data.delimited import Table, read_csv, read_tsv
from arcf.data.record import Record, json_lines
from arcf.data.source import SingleFile, Source
from arcf.errors import InputError
from arcf.files import lines_of
from arcf.progress import tracked
from arcf.types import Dataset, Fact


def recognises(source: Source) -> bool:
    """Whether a source is a single file. Whatever its name: reading it says which ones there are."""
    return isinstance(source, SingleFile)


def read(source: Source, name: str) -> Dataset:
    """The facts of a single file, without questions."""
    file = PurePath(source.place).name
    return assemble(name, source.place, read_facts(source, file), {})


def read_facts(source: Source, file: str) -> tuple[Fact, ...]:
    """The facts of one file of a source, in order; a fact that is there twice counts once.

    Raises:
        InputError: the format is unknown, a fact has no text, or one uid stands for two texts.
    """
    suffix = PurePath(file).suffix.lower()
    if suffix and suffix not in FORMATS:
        raise InputError(f"is no facts file; its name should end in one of {', '.join(FORMATS)}.", source.at(file))
    facts: dict[str, Fact] = {}
    lines: dict[str, int] = {}
    text = source.text(file)
    parse = FORMATS[suffix or (".jsonl" if text.lstrip().startswith("{") else ".txt")]
    records = parse(text, source.at(file)) if text.strip() else ()
    for record in tracked(records, "reading facts", text.count("\n")):
        fact = _fact(record)
        known = facts.setdefault(fact.uid, fact)
        first = lines.setdefault(fact.uid, record.line)
        if known.text != fact.text:
            raise record.error(f"uid '{fact.uid}' already stands for another text in line {first}; make uids unique.")
    return tuple(facts.values())


def _fact(record: Record) -> Fact:
    uid = record.string("uid", "id") or f"line-{record.line}"
    return Fact(uid, record.required("text"), record.string("table"), record.string("core"))


def _plain_lines(text: str, place: str) -> Iterator[Record]:
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            yield Record({"text": line}, place, number)


def _rows(table: Table) -> Iterator[Record]:
    table.required("text")
    found = {name: table.column(name) for name in ("uid", "id", "text", "table", "core")}
    columns = {name: index for name, index in found.items() if index is not None}
    for line, cells in table.rows:
        yield Record({name: cells[index] for name, index in columns.items()}, table.place, line)


FORMATS: dict[str, Callable[[str, str], Iterator[Record]]] = {
    ".jsonl": json_lines,
    ".csv": lambda text, place: _rows(read_csv(text, place)),
    ".tsv": lambda text, place: _rows(read_tsv(text, place)),
    ".txt": _plain_lines,
}
