"""From text to terms: lower-cased, stop words removed, stemmed. The one place that decides what a word is."""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from threading import Lock

import snowballstemmer

#: Distinct words whose terms are kept: more than a corpus of a million facts has, and a bound for strangers' words.
REMEMBERED = 1_000_000
HYPHENS = "-\u2010"
#: The soft hyphen, and characters without width: they show where a word may be broken or joined, and are not written.
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
WORD = re.compile(rf"[^\W_]+(?:[{HYPHENS}][^\W_]+)*")
HYPHEN = re.compile(f"[{HYPHENS}]")


@lru_cache
def stop_words() -> frozenset[str]:
    """The package's own list of English stop words (`stop_words.txt` beside this file)."""
    return _read("stop_words.txt")


@lru_cache
def light_words() -> frozenset[str]:
    """Words that link facts of any two subjects ("kind", "used"; `light_words.txt`): searched by, never shown alone.

    How common a word is does not tell: where all is about water, "water" is as common as "used".
    """
    return _read("light_words.txt")


def _read(name: str) -> frozenset[str]:
    return frozenset(files(__package__).joinpath(name).read_text(encoding="utf-8").split())


class Analyzer:
    """Turns text into terms.

    A word is a run of letters and digits with at least one letter, after Unicode compatibility folding (so that
    "CO₂" is "co2") and case folding, with the marks that its letters have; apostrophes and hyphens separate. Two words
    with a hyphen are also the one that they make without it, so that "Wi-Fi" and "wifi" meet. Stop words are dropped,
    the rest is stemmed by Porter's algorithm. Words are remembered, so a corpus is stemmed once per distinct word.
    """

    def __init__(self) -> None:
        self._stemmer = snowballstemmer.stemmer("porter")
        self._lock = Lock()
        self._term_of: dict[str, str] = dict.fromkeys(["", *stop_words()], "")
        self._light = {self._term(word) for word in light_words()}

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated as often as they occur."""
        return [term for word in written(text) for form in _forms(word) if (term := self._term(form))]

    def shared(self, text: str, other: str) -> dict[str, str]:
        """The terms of `text`, in order, that occur in `other` too, and the word of `text` that each stands for first.

        Where a hyphenated word is shared as a whole, its parts are not listed.
        """
        common = set(self.terms(other))
        words: dict[str, str] = {}
        for word in written(text):
            if (whole := self._term(_joined(word))) in common:
                words.setdefault(whole, word)
                continue
            for form in _forms(word):
                if (term := self._term(form)) in common:
                    words.setdefault(term, form)
        return words

    def is_light(self, term: str) -> bool:
        """Whether a term says nothing of a subject; see `light_words`."""
        return term in self._light

    def _term(self, word: str) -> str:
        """The stem of a word; empty for a stop word or a number."""
        term = self._term_of.get(word)
        if term is None:
            # The stemmer works on attributes of its own, so only one thread may use it at a time.
            with self._lock:
                term = self._stemmer.stemWord(word) if any(map(str.isalpha, word)) else ""
            if len(self._term_of) < REMEMBERED:
                self._term_of[word] = term
        return term


@lru_cache
def analyzer() -> Analyzer:
    """The one that all lexical distances share: each word is stemmed once."""
    return Analyzer()


def written(text: str) -> list[str]:
    """The words of a text, folded, with their hyphens."""
    if text.isascii():
        return WORD.findall(text.casefold())
    text = unicodedata.normalize("NFKC", text).translate(INVISIBLE).casefold()
    # To Python, marks are no letters: neither the vowels of Devanagari nor an accent that stands by itself.
    marks = "".join(sorted({char for char in text if unicodedata.category(char) in ("Mn", "Mc")}))
    if not marks:
        return WORD.findall(text)
    letters = rf"(?:[^\W_][{marks}]*)+"
    return re.findall(rf"{letters}(?:[{HYPHENS}]{letters})*", text)


def _forms(written: str) -> list[str]:
    """The words in a word: itself, or the parts of a hyphenated one and what they make without the hyphen."""
    if written.isalnum():
        return [written]
    joined = _joined(written)
    return [*HYPHEN.split(written), joined] if joined else HYPHEN.split(written)


def _joined(written: str) -> str:
    """A hyphenated word without its hyphen. Of two parts, all letters: nobody writes "stateoftheart" or "24hour"."""
    parts = HYPHEN.split(written)
    return "".join(parts) if len(parts) == 2 and all(map(str.isalpha, parts)) else ""
