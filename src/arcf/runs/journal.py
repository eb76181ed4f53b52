"""Rankings that are kept as they are made, so that a long run goes on after a kill where it was.

A journal is a text file: a line with the settings that the rankings were made with, then a line per question, in any
order.

    {"format": "arcf-journal", "version": 4, "settings": {...}}
    {"question": ID, "facts": [NUMBER, ...], "scores": [NUMBER, ...],
     "chain": [NUMBER, ...], "stopped": true, "confidences": [NUMBER, ...]}

The second line of these is there only where a chain was searched for.

Each line is written in one piece to the end of the file, whoever else writes there too. A line that a kill has cut
short is passed over, and its question ranked again.

The settings must be the same when a run goes on. Otherwise it is refused, not begun afresh: the journal may hold hours
of work, and only its owner knows whether it is worth more than the new settings.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from arcf.errors import InputError
from arcf.types import Chosen, Dataset, Question, Ranking, cores_of, digest_texts

Settings = Mapping[str, Any]

BEGINNING = b'{"format": "arcf-journal"'
"""Of every journal, whatever its settings."""


class Journal:
    """The journal of one run, as a context manager: what it holds is known, and more can be added, inside the block."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        head = {"format": "arcf-journal", "version": 4, "settings": dict(settings)}
        self._head = json.dumps(head, sort_keys=True).encode() + b"\n"
        self._places: dict[str, int] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "Journal":
        """Read what is there.

        Raises:
            InputError: the journal cannot be written, is one of other settings, or none at all.
        """
        try:
            file = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error}).", self.path) from error
        try:
            self._begin(file)
            self._places = _index(file)
        except BaseException:
            file.close()
            raise
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __contains__(self, question: Question) -> bool:
        """Whether the ranking of a question is there."""
        return question.id in self._places

    def get(self, question: Question) -> Ranking:
        """The ranking of a question, which is there.

        Raises:
            InputError: it was, but somebody has changed the file since.
        """
        assert self._file is not None
        self._file.seek(self._places[question.id])
        ranking = _parse(_read_line(self._file))
        if ranking is None or ranking.question_id != question.id:
            raise InputError(
                f"was changed while it was used: '{question.id}' is gone; give the command again.", self.path
            )
        return ranking

    def add(self, ranking: Ranking) -> None:
        """Keep a ranking."""
        assert self._file is not None
        line = _line(ranking)
        written = self._file.write(line)
        if written < len(line):  # The disk is full: the next byte says so.
            self._file.write(line[written:])
        # The system has put it behind whatever others wrote meanwhile: only now is it known where.
        self._places[ranking.question_id] = self._file.tell() - len(line)

    def remove(self) -> None:
        """Forget the rankings, when they are in a file of their own."""
        self.path.unlink(missing_ok=True)

    def _begin(self, file: IO[bytes]) -> None:
        """Compare the first line, or write it; end a line that was cut short."""
        file.seek(0)
        head = _read_line(file)
        if not (head.startswith(BEGINNING) or BEGINNING.startswith(head)):
            raise InputError("is no journal of arcf; move it away, or choose another output.", self.path)
        if not head.endswith(b"\n"):
            file.truncate(0)
            file.write(self._head)
        elif head != self._head:
            raise InputError(
                f"holds rankings of an unfinished run with another {_difference(head, self._head)}; "
                "go on with the settings of that run, or delete the file to begin afresh.",
                self.path,
            )
        else:
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")


def fingerprint(dataset: Dataset, questions: Sequence[Question]) -> dict[str, str]:
    """What a ranking depends on besides the ranker: hashes of facts, training questions and what is ranked for.

    Facts with their cores, which some distances read, and questions in every form in which they may be asked.

    Training questions decide what a word weighs, and may be precedents, with their gold facts.
    """
    gold = json.dumps([[gold.uid for gold in question.gold] for question in dataset.training])
    training = digest_texts([gold, *_texts(dataset.training)])
    facts = digest_texts([dataset.digest, *cores_of(dataset.facts)])
    return {"facts": facts, "training": training, "questions": digest_texts(_texts(questions))}


def _texts(questions: Sequence[Question]) -> Iterator[str]:
    for question in questions:
        yield from (question.id, question.query(), question.asked("options").query())


def _line(ranking: Ranking) -> bytes:
    record = {"question": ranking.question_id, "facts": ranking.facts.tolist(), "scores": ranking.scores.tolist()}
    if chosen := ranking.chosen:
        record |= {"chain": chosen.facts, "stopped": chosen.stopped, "confidences": chosen.confidences}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _index(file: IO[bytes]) -> dict[str, int]:
    """Where the line of each question begins."""
    places: dict[str, int] = {}
    with open(file.fileno(), "rb", closefd=False) as reader:
        place = reader.seek(0)
        for line in reader:
            ranking = _parse(line)
            if ranking is not None:
                places[ranking.question_id] = place
            place += len(line)
    return places


def _read_line(file: IO[bytes]) -> bytes:
    """The line from here on. The file itself is not buffered, so that what others write is never read from old."""
    start = file.tell()
    with open(file.fileno(), "rb", closefd=False) as reader:
        reader.seek(start)
        return reader.readline()


def _parse(line: bytes) -> Ranking | None:
    """The ranking in a line; None for the head, and for a line that was cut short."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    match record:
        case {"question": str(name), "facts": list(facts), "scores": list(scores)} if len(facts) == len(scores):
            return Ranking(name, np.array(facts, dtype=np.int64), np.array(scores, dtype=np.float64), _chosen(record))
    return None


def _chosen(record: Mapping[str, Any]) -> Chosen | None:
    chain = record.get("chain")
    if chain is None:
        return None
    return Chosen(tuple(chain), bool(record.get("stopped")), tuple(record.get("confidences", ())))


def _difference(found: bytes, expected: bytes) -> str:
    """The names of the settings that are not the same."""
    try:
        theirs, ours = (json.loads(head)["settings"] for head in (found, expected))
        names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "format"
    return ", ".join(names) or "version"
