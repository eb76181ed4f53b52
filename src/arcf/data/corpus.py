"""A corpus of one's own: a folder with one facts file and, if there are any, questions.

    facts.jsonl            or facts.csv, facts.tsv, facts.txt
    questions.jsonl        each question may name its split
    questions.dev.jsonl    and, or instead, one file per split

The corpus that comes with the package is such a folder.
"""

from arcf.data.assembly import assemble
from arcf.data.facts import FORMATS, read_facts
from arcf.data.questions import read_questions
from arcf.data.remarks import remark
from arcf.data.source import Source
from arcf.errors import InputError
from arcf.types import Dataset, Question

QUESTIONS = ("questions.jsonl", "questions.*.jsonl")
OTHER_QUESTIONS = tuple(f"questions*{suffix}" for suffix in (".csv", ".tsv", ".txt", ".json"))
FILES = (*(f"facts{suffix}" for suffix in FORMATS), *QUESTIONS, *OTHER_QUESTIONS)


def recognises(source: Source) -> bool:
    """Whether a source has a file of facts by the expected name."""
    return bool(_facts_files(source))


def read(source: Source, name: str) -> Dataset:
    """The facts and questions of the folder.

    Raises:
        InputError: there are two files of facts, two questions of one id, or something in a file is wrong.
    """
    files = _facts_files(source)
    if len(files) > 1:
        raise InputError(f"holds {' and '.join(files)}; keep one file of facts.", source.place)
    return assemble(name, source.place, read_facts(source, files[0]), _splits(source))


def _splits(source: Source) -> dict[str, list[Question]]:
    for file in (file for pattern in OTHER_QUESTIONS for file in source.names(pattern)):
        remark(f"{source.at(file)} is not read: questions of a corpus are JSON lines (questions.jsonl).")
    splits: dict[str, list[Question]] = {}
    places: dict[str, str] = {}
    for file in (file for pattern in QUESTIONS for file in source.names(pattern)):
        for split, question, record in read_questions(source, file):
            place = f"{record.place}:{record.line}"
            first = places.setdefault(question.id, place)
            if first != place:
                raise record.error(f"repeats the question id '{question.id}' of {first}.")
            splits.setdefault(split, []).append(question)
    return splits


def _facts_files(source: Source) -> list[str]:
    return [name for suffix in FORMATS for name in source.names(f"facts{suffix}")]
