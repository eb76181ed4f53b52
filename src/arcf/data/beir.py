"""BEIR folders: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.

A document becomes a fact (title and text joined, as BEIR's own lexical baselines do), a query a question without
options, and a judgement above 0 gold. Documents without any text are left out: nothing could ever find them.
"""

from collections.abc import Iterator

from arcf.data.assembly import assemble
from arcf.data.questions import DEFAULT_SPLIT
from arcf.data.record import json_lines
from arcf.data.remarks import remark
from arcf.data.source import Source
from arcf.errors import InputError
from arcf.types import Dataset, Fact, Gold, Question

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
QRELS = "qrels/*.tsv"
FILES = (CORPUS, QUERIES, QRELS)


def recognises(source: Source) -> bool:
    """Whether a source has BEIR's file of documents."""
    return bool(source.names(CORPUS))


def read(source: Source, name: str) -> Dataset:
    """The documents as facts, and the queries of each split; without judgements, all queries are the test split.

    Raises:
        InputError: a file lacks a field, a uid stands for two documents, or a judgement is not of the form
            query, document, grade.
    """
    facts = _facts(source)
    stems = _stems(source)
    splits = {_split(file): _judged(source, file, stems, name) for file in source.names(QRELS)}
    if not splits and stems:
        splits = {DEFAULT_SPLIT: [Question(id=query, stem=stem) for query, stem in stems.items()]}
    return assemble(name, source.place, facts, splits)


def _facts(source: Source) -> Iterator[Fact]:
    lines: dict[str, int] = {}
    for record in json_lines(source.text(CORPUS), source.at(CORPUS)):
        uid = record.required("_id")
        text = f"{record.string('title')} {record.string('text')}".strip()
        first = lines.setdefault(uid, record.line)
        if first != record.line:
            raise record.error(f"repeats the _id '{uid}' of line {first}.")
        if text:
            yield Fact(uid, text)


def _stems(source: Source) -> dict[str, str]:
    if not source.names(QUERIES):
        return {}
    stems: dict[str, str] = {}
    for record in json_lines(source.text(QUERIES), source.at(QUERIES)):
        query = record.required("_id")
        if query in stems:
            raise record.error(f"has the _id '{query}' of an earlier query.")
        stems[query] = record.required("text")
    return stems


def _judged(source: Source, file: str, stems: dict[str, str], name: str) -> list[Question]:
    """The questions of one split: every judged query, in the order of its first judgement."""
    gold: dict[str, dict[Gold, None]] = {}  # A judgement that is repeated is no second document to find.
    for query, document, grade in _judgements(source, file):
        found = gold.setdefault(query, {})
        if grade > 0:
            found[Gold(document)] = None
    unknown = [query for query in gold if query not in stems]
    if unknown:
        message = f"{name}: {len(unknown)} queries of {file} are not in {QUERIES} ({unknown[0]}, ...); left out."
        remark(message)
    return [Question(id=query, stem=stems[query], gold=tuple(gold[query])) for query in gold if query in stems]


def _judgements(source: Source, file: str) -> Iterator[tuple[str, str, float]]:
    for number, line in enumerate(source.text(file).split("\n"), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if cells == [""]:
            continue
        try:
            query, document, grade = cells
            yield query, document, float(grade)
        except ValueError as error:
            if number == 1 and len(cells) == 3:  # The header.
                continue
            message = "should be query id, document id and a number as grade, separated by tabs."
            raise InputError(message, source.at(file), number) from error


def _split(file: str) -> str:
    return file.removeprefix("qrels/").removesuffix(".tsv")
