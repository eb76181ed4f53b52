"""Rankings that are kept as they are made, so that a long run goes on after a kill where it was.

A journal is a text file: a line with the settings that the rankings were made with, then a line per question, in the
order of the questions, each written before the next one is begun.

    {"format": "arcf-journal", "version": 1, "settings": {...}}
    {"question": ID, "facts": [NUMBER, ...], "scores": [NUMBER, ...]}

The settings must be the same when a run goes on. Otherwise it is refused, not begun afresh: the journal may hold hours
of work, and only its owner knows whether it is worth more than the new settings.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from arcf.errors import InputError
from arcf.types import Dataset, Question, Ranking

Settings = Mapping[str, Any]


class Journal:
    """The journal of one run. Nothing is written before `rankings` is asked for its first one."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        head = {"format": "arcf-journal", "version": 1, "settings": dict(settings)}
        self._head = json.dumps(head, sort_keys=True).encode() + b"\n"

    def rankings(self, questions: Iterable[Question], rank: Callable[[Question], Ranking]) -> Iterator[Ranking]:
        """The ranking of each question: from the journal as far as it goes, then from `rank`.

        Raises:
            InputError: the journal cannot be written, or is one of other settings.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b")
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error}).", self.path) from error
        with file:
            self._begin(file)
            replaying = True
            for question in questions:
                ranking = _read(file, question) if replaying else None
                if ranking is None:
                    replaying = False
                    ranking = rank(question)
                    file.write(_line(ranking))
                    file.flush()
                yield ranking

    def remove(self) -> None:
        """Forget the rankings, when they are in a file of their own."""
        self.path.unlink(missing_ok=True)

    def _begin(self, file: IO[bytes]) -> None:
        """Compare the first line, or write it."""
        file.seek(0)
        head = file.readline()
        if head == self._head:
            return
        if head.endswith(b"\n"):
            raise InputError(
                f"holds rankings of an unfinished run with another {_difference(head, self._head)}; "
                "go on with the settings of that run, or delete the file to begin afresh.",
                self.path,
            )
        file.truncate(0)
        file.write(self._head)
        file.flush()


def fingerprint(dataset: Dataset, questions: Sequence[Question]) -> dict[str, str]:
    """What a ranking depends on besides the ranker: hashes of the facts and of the questions."""
    return {
        "facts": _hash(part for fact in dataset.facts for part in (fact.uid, fact.text)),
        "questions": _hash(part for question in questions for part in (question.id, question.query())),
    }


def _hash(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def _line(ranking: Ranking) -> bytes:
    record = {"question": ranking.question_id, "facts": ranking.facts.tolist(), "scores": ranking.scores.tolist()}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _read(file: IO[bytes], question: Question) -> Ranking | None:
    """The ranking in the next line. None: there is no more, and a half-written line is gone."""
    start = file.tell()
    line = file.readline()
    try:
        record = json.loads(line) if line.endswith(b"\n") else {}
    except ValueError:
        record = {}
    match record:
        case {"question": question.id, "facts": list(facts), "scores": list(scores)} if len(facts) == len(scores):
            return Ranking(question.id, np.array(facts, dtype=np.int64), np.array(scores, dtype=np.float64))
    file.truncate(start)
    file.seek(start)
    return None


def _difference(found: bytes, expected: bytes) -> str:
    """The names of the settings that are not the same."""
    try:
        theirs, ours = (json.loads(head)["settings"] for head in (found, expected))
        names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "format"
    return ", ".join(names) or "version"
