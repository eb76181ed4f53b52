"""Questions of one's own, as JSON lines.

    {"id": "q1", "stem": "What melts?", "options": {"A": "ice", "B": "fire"}, "answer": "A", "difficulty": "Easy",
     "split": "dev", "gold": [{"uid": "f1", "role": "CENTRAL"}, "f2"], "flags": ""}

Only the stem (or `question`) is required. `options` may be a list, which gets letters as labels. `answer` is the label
or the text of an option; without options, it is any text.
"""

from collections.abc import Iterator
from string import ascii_uppercase

from arcf.data.record import Record, json_lines
from arcf.data.source import Source
from arcf.types import Gold, Option, Question

DEFAULT_SPLIT = "test"  # Questions that nobody sorted are there to be asked, not to be trained on.


def read_questions(source: Source, file: str) -> Iterator[tuple[str, Question, Record]]:
    """The questions of one file, each with its split and the record that it came from.

    The split is the one that the file is named after (questions.SPLIT.jsonl), else the field of that name, else test.
    A question without id is named after its split and line.

    Raises:
        InputError: a question lacks its stem, its answer is none of its options, a field has the wrong form, or names
            another split than its file does.
    """
    named = file.rpartition("/")[2].removeprefix("questions").removesuffix(".jsonl").strip(".")
    for record in json_lines(source.text(file), source.at(file)):
        split = record.string("split") or named or DEFAULT_SPLIT
        if named and split != named:
            raise record.error(f"is of split '{split}' in the file of split '{named}'.")
        yield split, make_question(record, split), record


def make_question(record: Record, group: str) -> Question:
    """The question of a record; one without id is named after its group and line.

    Raises:
        InputError: it lacks its stem, its answer is none of its options, or a field has the wrong form.
    """
    options = _options(record)
    return Question(
        id=record.string("id") or f"{group}-{record.line}",
        stem=record.required("stem", "question"),
        options=options,
        answer=_answer(record, options),
        difficulty=record.string("difficulty"),
        gold=_gold(record),
        flags=record.string("flags"),
    )


def _options(record: Record) -> tuple[Option, ...]:
    options = record.fields.get("options") or {}
    if isinstance(options, list):
        options = {_label(index): text for index, text in enumerate(options)}
    if not isinstance(options, dict):
        raise record.error("'options' should be an object of labels and texts, or a list of texts.")
    return tuple(Option(label.strip(), record.plain(text, f"option '{label}'")) for label, text in options.items())


def _label(index: int) -> str:
    return ascii_uppercase[index] if index < len(ascii_uppercase) else str(index + 1)


def _answer(record: Record, options: tuple[Option, ...]) -> str:
    """The right option's text. A label is tried before a text: options may well be called after each other's labels."""
    answer = record.string("answer")
    if not answer or not options:
        return answer
    by_label = {option.label.lower(): option.text for option in options}
    by_text = {option.text.lower(): option.text for option in options}
    found = by_label.get(answer.lower(), by_text.get(answer.lower()))
    if found is None:
        raise record.error(f"answer '{answer}' is neither the label nor the text of an option.")
    return found


def _gold(record: Record) -> tuple[Gold, ...]:
    entries = record.fields.get("gold") or []
    if not isinstance(entries, list):
        raise record.error("'gold' should be a list of uids, or of objects with uid and role.")
    found: dict[str, Gold] = {}  # A uid that is repeated is no second fact to find.
    for one in (_one_gold(record, entry) for entry in entries):
        found.setdefault(one.uid, one)
    return tuple(found.values())


def _one_gold(record: Record, entry: object) -> Gold:
    if isinstance(entry, dict):
        inner = Record(entry, record.place, record.line)
        return Gold(inner.required("uid"), inner.string("role"))
    return Gold(record.plain(entry, "a gold uid"))
