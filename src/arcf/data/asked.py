"""Questions to be explained, in one file: JSON lines, CSV, TSV, or plain text with one question per line.

JSON lines are those of `data.questions`. CSV and TSV have columns of the same names, of which only `question` is
required; several options, or uids of gold facts, are separated by a bar: `ice | fire`. A line of plain text is a
question and, after a mark, its answer. Where there is no column for options, they may be printed with the question:

    What melts? (A) ice (B) fire (answer) A

A file's name tells its format. What has a name without ending, such as a pipe (`-`, `/dev/stdin`, `<(...)`), is JSON
lines if it begins with a brace, and else plain text. A question without id is named after its line (`line-12`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from arcf.data.choices import letter, split_options
from arcf.data.delimited import Table, read_csv, read_tsv
from arcf.data.questions import make_question
from arcf.data.record import Record, json_lines
from arcf.errors import InputError
from arcf.files import lines_of
from arcf.types import ANSWER_MARK, Option, Question

LISTS = ("options", "gold")
_MARK = re.compile(re.escape(ANSWER_MARK), re.IGNORECASE)
_LABEL = re.compile(r"\(?([A-Ha-h1-8])\)?")


def read_asked(text: str, place: str) -> tuple[Question, ...]:
    """The questions of a text, in order; `place` is the path that tells its format and that messages show.

    Raises:
        InputError: the format is unknown, there is no question, a question is wrong, or two have one id.
    """
    suffix = PurePath(place).suffix.lower()
    if suffix and suffix not in FORMATS:
        raise InputError(f"is no file of questions; its name should end in one of {', '.join(FORMATS)}.", place)
    parse = FORMATS[suffix or (".jsonl" if text.lstrip().startswith("{") else ".txt")]
    questions: dict[str, Question] = {}
    for record in parse(text, place) if text.strip() else ():
        question = make_question(record, "line")
        if question.id in questions:
            raise record.error(f"repeats the question id '{question.id}'; make ids unique.")
        questions[question.id] = question
    if not questions:
        raise InputError("holds no question; there must be at least one.", place)
    return tuple(questions.values())


def _plain_lines(text: str, place: str) -> Iterator[Record]:
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            marks = list(_MARK.finditer(line))
            question, answer = (line[: marks[-1].start()], line[marks[-1].end() :]) if marks else (line, "")
            yield Record(_printed({"question": question, "answer": answer}), place, number)


def _rows(table: Table) -> Iterator[Record]:
    table.required("question", "stem")
    names = [name.strip().lower() for name in table.header]
    for line, cells in table.rows:
        fields: dict[str, Any] = dict(zip(names, cells, strict=True))
        for name in LISTS:
            if name in fields:
                fields[name] = [part.strip() for part in fields[name].split("|") if part.strip()]
        yield Record(fields if "options" in fields else _printed(fields), table.place, line)


def _printed(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with the options that are printed with the question, if any are."""
    name = "stem" if fields.get("stem") else "question"
    printed = fields.get(name, "")
    stem, options = split_options(printed)
    if options:
        fields = fields | {"answer": _answer(fields.get("answer", ""), options, printed)}
    return fields | {name: stem, "options": {option.label: option.text for option in options}}


def _answer(answer: str, options: Sequence[Option], printed: str) -> str:
    """An answer that is a label, in any form, as the letter of its option.

    Beside letters, a number may be an option's text instead: "How many? (A) 2 (B) 1 (answer) 2".
    """
    label = _LABEL.fullmatch(answer.strip())
    if not label or letter(label[1]) not in {option.label for option in options}:
        return answer
    is_text = label[1] in {option.text for option in options} and f"({options[0].label})" in printed
    return label[1] if is_text else letter(label[1])


FORMATS: dict[str, Callable[[str, str], Iterator[Record]]] = {
    ".jsonl": json_lines,
    ".csv": lambda text, place: _rows(read_csv(text, place)),
    ".tsv": lambda text, place: _rows(read_tsv(text, place)),
    ".txt": _plain_lines,
}
