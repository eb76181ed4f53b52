"""One record of an input file, as loosely typed as it came: JSON objects and table rows alike."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arcf.errors import InputError
from arcf.files import lines_of

_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields and the place that they came from, so that every complaint can name file and line."""

    fields: Mapping[str, Any]
    place: str
    line: int

    def error(self, message: str) -> InputError:
        """The error to raise about this record."""
        return InputError(message, self.place, self.line)

    def string(self, *names: str) -> str:
        """The first of the named fields that has a value, with each run of white space as one space; else empty.

        Whole numbers are taken as they are written, because ids often are numbers.

        Raises:
            InputError: the value is neither text nor a whole number.
        """
        for name in names:
            value = self.fields.get(name)
            if value is not None and value != "":
                return self.plain(value, f"'{name}'")
        return ""

    def required(self, *names: str) -> str:
        """A field that must be there and hold more than white space.

        Raises:
            InputError: it is not, or does not.
        """
        value = self.string(*names)
        if not value:
            raise self.error(f"has no {' or '.join(map(repr, names))}.")
        return value

    def plain(self, value: object, what: str) -> str:
        """One value as text; `what` names it in the message."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.error(f"{what} should be text, found {json.dumps(value, ensure_ascii=False)[:60]}.")
        return " ".join(str(value).split())


def json_lines(text: str, place: str) -> Iterator[Record]:
    """The records of a text with one JSON object per line; blank lines are skipped.

    Raises:
        InputError: a line is not a JSON object, or holds half of a character (an unpaired surrogate), which no file
            could ever be written with.
    """
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            yield _record(line, place, number)


def _record(line: str, place: str, number: int) -> Record:
    try:
        fields = json.loads(line)
        if _SURROGATE.search(line):
            json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({_reason(error)}); each line should be one object.", place, number) from error
    if not isinstance(fields, dict):
        raise InputError("should be a JSON object in braces.", place, number)
    return Record(fields, place, number)


def _reason(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return error.msg
        case UnicodeEncodeError():
            return "it cannot be written as UTF-8"
    return "a number is too long, or it is nested too deeply"
