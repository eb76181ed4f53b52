"""Multiple-choice questions that are printed as one text: "What is ice? (A) gas (B) solid"."""

import re

from arcf.types import Option

LETTERS = "ABCDEFGH"
DIGITS = "12345678"
_SECOND = {LETTERS[0]: LETTERS[1], DIGITS[0]: DIGITS[1]}
_LABEL = re.compile(r"\(([A-H1-8])\)")


def split_options(text: str) -> tuple[str, tuple[Option, ...]]:
    """The stem of a printed question and its options, labelled with letters however they were printed.

    The options begin at the last "(A)" or "(1)" that is followed by its successor; from there on a label counts only
    if it is the next of its kind, so that "(C)" for Celsius or "(2)" in an option stays text. Without two labels in
    order, all of the text is the stem.
    """
    labels = list(_LABEL.finditer(text))
    start = _start(labels)
    if start is None:
        return _squeeze(text), ()
    run = _run(labels[start:])
    return _squeeze(text[: run[0].start()]), _options(text, run)


def letter(label: str) -> str:
    """A label as a letter: A for A, a or 1."""
    label = label.strip().upper()
    return LETTERS[DIGITS.index(label)] if label and label in DIGITS else label


def _start(labels: list[re.Match[str]]) -> int | None:
    """The place of the last A or 1 with a B or 2 somewhere behind it."""
    behind: set[str] = set()
    for place in range(len(labels) - 1, -1, -1):
        label = labels[place][1]
        if _SECOND.get(label) in behind:
            return place
        behind.add(label)
    return None


def _run(labels: list[re.Match[str]]) -> list[re.Match[str]]:
    """The labels that count on from the first one, which is an A or a 1."""
    alphabet = DIGITS if labels[0][1] in DIGITS else LETTERS
    run: list[re.Match[str]] = []
    for label in labels:
        if len(run) < len(alphabet) and label[1] == alphabet[len(run)]:
            run.append(label)
    return run


def _options(text: str, run: list[re.Match[str]]) -> tuple[Option, ...]:
    ends = [label.start() for label in run[1:]] + [len(text)]
    return tuple(
        Option(letter(label[1]), _squeeze(text[label.end() : end])) for label, end in zip(run, ends, strict=True)
    )


def _squeeze(text: str) -> str:
    return " ".join(text.split())
