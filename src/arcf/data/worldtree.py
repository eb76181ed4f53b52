"""WorldTree, as the TextGraphs shared tasks of 2019 and 2020 distributed it.

Both years hold tables of facts and files of questions, tab-separated; they differ in folders, in the names of columns
(`questionID` or `QuestionID`, `fold` or `arcset`) and in that 2019 has its answer key twice. Columns are looked up
regardless of letter case, so one reader serves both.
"""

import re
from collections.abc import Iterator

from arcf.data.assembly import assemble
from arcf.data.choices import letter, split_options
from arcf.data.delimited import Cells, Table, read_tsv
from arcf.data.remarks import remark
from arcf.data.source import Source
from arcf.errors import InputError
from arcf.types import Dataset, Fact, Gold, Question

TABLES = ("tables/*.tsv", "annotation/*/tables/*.tsv")
QUESTIONS = ("questions.*.tsv", "questions/*.tsv")
FILES = (*TABLES, *QUESTIONS)
SPLITS = ("train", "dev", "test")

_SPLIT = re.compile(rf"[-._]({'|'.join(SPLITS)})(?=[-._])", re.IGNORECASE)
_SKIPPED = re.compile(r"\s*\[\s*SKIP\s*\]", re.IGNORECASE)
# The tables spell it "[FILL]", and once each "[FILL ]" and "[fill]".
_FILLER = re.compile(r"\s*\[\s*FILL\s*\]", re.IGNORECASE)


def recognises(source: Source) -> bool:
    """Whether a source has the tables or the questions of WorldTree (if only one of them, reading says what lacks)."""
    return bool(_names(source, TABLES) or _split_files(source))


def read(source: Source, name: str) -> Dataset:
    """All facts and questions.

    Raises:
        InputError: the tables or the questions are missing, or lack a column.
    """
    if not _names(source, TABLES):
        raise InputError("holds WorldTree questions but no tables of facts (tables/*.tsv).", source.place)
    files = _split_files(source)
    if not files:
        raise InputError("holds WorldTree tables but no questions (questions.train.tsv, ...).", source.place)
    facts = read_facts(source, name)
    splits = {split: tuple(read_questions(source, file)) for split, file in files.items()}
    unanswered = sum(not question.answer for questions in splits.values() for question in questions)
    if unanswered:
        message = f"{name}: {unanswered} questions have no option for their answer key; their query is the stem alone."
        remark(message)
    return assemble(name, source.place, facts, splits)


def read_facts(source: Source, name: str) -> tuple[Fact, ...]:
    """The facts of all tables, in the order of the sorted file names and of the rows.

    Where rows share a uid, the last one wins, in the first one's position; one warning counts them.
    """
    facts: dict[str, Fact] = {}
    repeated = 0
    for file in _names(source, TABLES):
        for fact in _table_facts(source, file):
            repeated += fact.uid in facts
            facts[fact.uid] = fact
    if repeated:
        message = f"{name}: {repeated} facts have the uid of an earlier one; the last fact of each uid counts."
        remark(message)
    return tuple(facts.values())


def _table_facts(source: Source, file: str) -> Iterator[Fact]:
    """The facts of one table; rows without uid or text are no facts."""
    text = source.text(file)
    if not text.strip():
        return
    table = read_tsv(text, source.at(file))
    uid = table.required("[SKIP] UID")
    kept = [index for index, column in enumerate(table.header) if not _SKIPPED.match(column)]
    core = [index for index in kept if not _FILLER.match(table.header[index])]
    kind = file.rpartition("/")[2].removesuffix(".tsv")
    for _, cells in table.rows:
        fact = Fact(cells[uid].strip(), _join(cells, kept), kind, _join(cells, core))
        if fact.uid and fact.text:
            yield fact


def read_questions(source: Source, file: str) -> Iterator[Question]:
    """The questions of one file."""
    table = read_tsv(source.text(file), source.at(file))
    identity, text, key = table.required("QuestionID"), table.required("Question"), table.required("AnswerKey")
    explanation = table.required("explanation")
    difficulty, flags = table.column("arcset", "fold"), table.column("flags")
    lines: dict[str, int] = {}
    for line, cells in table.rows:
        question_id = _new_id(cells[identity].strip(), lines, table, line)
        stem, options = split_options(cells[text])
        yield Question(
            id=question_id,
            stem=stem,
            options=options,
            answer=next((option.text for option in options if option.label == letter(cells[key])), ""),
            difficulty="" if difficulty is None else cells[difficulty].strip(),
            gold=_gold(cells[explanation]),
            flags="" if flags is None else cells[flags],
        )


def _new_id(question_id: str, lines: dict[str, int], table: Table, line: int) -> str:
    if not question_id:
        raise InputError("has no question id.", table.place, line)
    first = lines.setdefault(question_id, line)
    if first != line:
        raise InputError(f"repeats the question id '{question_id}' of line {first}.", table.place, line)
    return question_id


def _gold(explanation: str) -> tuple[Gold, ...]:
    """The uid|ROLE pairs, as annotated: also those of other roles, of unknown uids, and repeated ones."""
    pairs = (pair.partition("|") for pair in explanation.split())
    return tuple(Gold(uid, role) for uid, _, role in pairs)


def _split_files(source: Source) -> dict[str, str]:
    """The file of each split. Where a masked one lies beside the full one, the full one."""
    files: dict[str, str] = {}
    for file in sorted(_names(source, QUESTIONS), key=lambda file: ("masked" in file.lower(), file)):
        match = _SPLIT.search(file)
        if match:
            files.setdefault(match[1].lower(), file)
    return {split: files[split] for split in SPLITS if split in files}


def _names(source: Source, patterns: tuple[str, ...]) -> list[str]:
    return next((names for pattern in patterns if (names := source.names(pattern))), [])


def _join(cells: Cells, columns: list[int]) -> str:
    return " ".join(" ".join(cells[column] for column in columns).split())
