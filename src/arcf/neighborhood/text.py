"""From text to terms: lower-cased, stop words removed, stemmed. The one place that decides what a word is."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from threading import Lock

import snowballstemmer

#: Distinct words whose terms are kept: more than a corpus of a million facts has, and a bound for strangers' words.
REMEMBERED = 1_000_000
WORD = re.compile(r"[^\W_]+")


@lru_cache
def stop_words() -> frozenset[str]:
    """The package's own list of English stop words (`stop_words.txt` beside this file)."""
    text = files(__package__).joinpath("stop_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split() if line)


class Analyzer:
    """Turns text into terms.

    A word is a run of letters and digits with at least one letter, after Unicode compatibility folding (so that
    "CO₂" is "co2") and case folding; apostrophes and hyphens separate. Stop words are dropped, the rest is stemmed by
    Porter's algorithm. Words are remembered, so a corpus is stemmed once per distinct word.
    """

    def __init__(self) -> None:
        self._stemmer = snowballstemmer.stemmer("porter")
        self._lock = Lock()
        self._term_of: dict[str, str] = dict.fromkeys(stop_words(), "")

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated as often as they occur."""
        return [term for word in _words(text) if (term := self._term(word))]

    def shared(self, text: str, other: str) -> tuple[str, ...]:
        """The words of `text`, each term once and in order, whose terms occur in `other` too."""
        common = set(self.terms(other))
        words: dict[str, str] = {}
        for word in _words(text):
            term = self._term(word)
            if term in common:
                words.setdefault(term, word)
        return tuple(words.values())

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


def _words(text: str) -> Iterable[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return WORD.findall(text.casefold())
