"""Token ids of prefixes and candidates, the same for both encodings and with or without torch.

A prefix is `[CLS] query. (explanation) fact. fact. [SEP]`, a candidate `[CLS] fact [SEP]`, the stop sample `[CLS]
[SEP]`. The joint encoding makes its pairs from the same two parts.

Facts are tokenised once, and put together to prefixes. That gives the same ids as tokenising the whole text, because
every part starts a new word. The final space of the paper's prefix text is left out: WordPiece ignores it, and
byte-level BPE would make a token of it that no pretrained model has seen.

What is too long for the model is shortened by one rule, and counted: the oldest chosen facts go first, then the
question's beginning; a candidate is cut at its end. The room for candidates is that of the corpus's longest (at most
half the model's), whichever ones are scored together, so that no candidate's room depends on the others.
"""

import json
import warnings
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from arcf.errors import ArcfWarning
from arcf.files import read_json_object
from arcf.kept.arrays import Arrays
from arcf.kept.head import FORMAT, About
from arcf.kept.keeping import kept
from arcf.kept.texts import digest_of
from arcf.pretrained.form import InputForm
from arcf.pretrained.location import CONFIG, TOKENIZER
from arcf.pretrained.tokenizer import read_tokenizer
from arcf.progress import tracked
from arcf.scorer.ragged import Ragged

EXPLANATION_MARK = "(explanation)"
TOGETHER = 8192
"""Texts that are tokenised at a time."""
CHOSEN_REMEMBERED = 100_000
"""Chosen facts whose tokens are kept at hand: at most 30 MB, however long a server runs."""
WARNINGS = {
    "facts_dropped": "A chain is longer than the model can read: it no longer reads the oldest facts.",
    "questions_cut": "A question is longer than the model can read: it does not read the beginning.",
    "candidates_cut": "Some facts are longer than the model can read: it does not read their ends.",
}


def sentence(text: str) -> str:
    """The text with exactly one final full stop."""
    return text.strip().rstrip(".") + "."


@dataclass(frozen=True, slots=True)
class Shortening:
    """How often the rule for over-long input was applied."""

    facts_dropped: int = 0
    questions_cut: int = 0
    candidates_cut: int = 0

    def __add__(self, other: "Shortening") -> "Shortening":
        return Shortening(
            self.facts_dropped + other.facts_dropped,
            self.questions_cut + other.questions_cut,
            self.candidates_cut + other.candidates_cut,
        )

    def __bool__(self) -> bool:
        return self != Shortening()


class ShorteningLog:
    """Counts over-long input, and warns of each kind of it when it is first met. Threads may share it."""

    def __init__(self, first: Shortening) -> None:
        self.total = Shortening()
        self._lock = Lock()
        self.add(first)

    def add(self, one: Shortening) -> None:
        """Count it."""
        with self._lock:
            new = [name for name in WARNINGS if getattr(one, name) and not getattr(self.total, name)]
            self.total += one
        for name in new:
            warnings.warn(WARNINGS[name], ArcfWarning, stacklevel=2)


class ChosenFacts:
    """Facts as they stand in a prefix, tokenised when they are first asked for: of a large corpus, few are chosen."""

    def __init__(self, texts: Sequence[str], tokenise: Callable[[list[str]], list[list[int]]]) -> None:
        self._texts = texts
        self._tokenise = tokenise
        self._known = lru_cache(maxsize=CHOSEN_REMEMBERED)(self._ids)

    def __getitem__(self, fact: int) -> NDArray[np.int32]:
        return self._known(fact)

    def _ids(self, fact: int) -> NDArray[np.int32]:
        return np.asarray(self._tokenise([" " + sentence(self._texts[fact])])[0], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class FactTokens:
    """A corpus's facts, tokenised.

    `candidates` holds `[CLS] fact [SEP]` of every fact, and as its last row the stop sample: `STOP` = -1 finds it.
    `chosen` holds the facts as they stand in a prefix. `prefix_limit` is the room that is left for a prefix.
    """

    candidates: Ragged
    chosen: ChosenFacts
    prefix_limit: int
    shortening: Shortening


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPrefix:
    """`[CLS] prefix [SEP]`, and what had to be left out of it."""

    tokens: NDArray[np.int32]
    shortening: Shortening = field(default_factory=Shortening)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Prefixes with their candidates: the first `counts[0]` rows of `candidates` belong to prefix 0, and so on."""

    prefixes: Ragged
    candidates: Ragged
    counts: NDArray[np.int64]  # (prefixes,)

    @classmethod
    def of(
        cls, prefixes: Sequence[EncodedPrefix], candidates: Sequence[NDArray[np.int64]], facts: FactTokens
    ) -> "Batch":
        """A batch of encoded prefixes and, for each of them, candidates by fact id (or `STOP`)."""
        counts = np.array([len(ids) for ids in candidates], dtype=np.int64)
        ids = np.concatenate(candidates) if candidates else np.empty(0, np.int64)
        return cls(Ragged.of([prefix.tokens for prefix in prefixes]), facts.candidates.take(ids), counts)

    @property
    def tokens(self) -> int:
        """All tokens of the batch, each prefix counted once: the work of the shared-prefix encoding."""
        return len(self.prefixes.tokens) + len(self.candidates.tokens)


class ChainTokenizer:
    """Turns texts into token ids for one model, given its tokenizer and the content of its config.json."""

    def __init__(self, tokenizer: Tokenizer, config: Mapping[str, Any]) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # A text that spells out a mark ("[SEP]") is text.
        tokenizer.encode_special_tokens = True
        self.raw = tokenizer
        self._identity = sha256(f"{tokenizer.to_str()} {InputForm.of(config, tokenizer)}".encode()).hexdigest()
        self.form = InputForm.of(config, tokenizer)
        self._mark = self._ids([" " + EXPLANATION_MARK])[0]

    @classmethod
    def load(cls, folder: Path) -> "ChainTokenizer":
        """The tokenizer of a model folder in the Hugging Face layout (config.json, tokenizer.json).

        Raises:
            InputError: a file is missing or is not what it should be.
        """
        return cls(read_tokenizer(folder / TOKENIZER), read_json_object(folder / CONFIG))

    def facts(self, texts: Sequence[str]) -> FactTokens:
        """Tokenise a corpus, once."""
        digest = digest_of(texts)
        mark = sha256(json.dumps(["tokens", FORMAT, self._identity, digest]).encode()).hexdigest()
        arrays = kept("tokens", mark, About("tokens", len(texts), digest), lambda: self._candidates(texts))
        candidates = Ragged(arrays["tokens"], arrays["offsets"], mark)
        room, cut = arrays["room_and_cut"].tolist()
        return FactTokens(
            candidates, ChosenFacts(texts, self._ids), self.form.max_tokens - room, Shortening(candidates_cut=cut)
        )

    def _candidates(self, texts: Sequence[str]) -> Arrays:
        """The tokens of all candidates, as plain arrays; the room of each, and how many are cut to fit."""
        most = self.form.max_tokens // 2 - 2
        tokens, lengths = array("i"), array("q")
        for body in tracked(self._bodies(texts), "tokenising", len(texts)):
            tokens.extend(body[:most])
            lengths.append(len(body))
        longest = max(lengths, default=0)
        rows = Ragged.flat(np.array(tokens, np.int32), np.minimum([*lengths, 0], most))  # and the stop sample
        candidates = rows.between(self.form.start, self.form.end)
        return {
            "tokens": candidates.tokens,
            "offsets": candidates.offsets,
            "room_and_cut": np.array([min(longest, most) + 2, sum(length > most for length in lengths)]),
        }

    def _bodies(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """The tokens of each text; some at a time, since the library's own records are a hundred times as large."""
        for first in range(0, len(texts), TOGETHER):
            yield from self._ids([text.strip() for text in texts[first : first + TOGETHER]])

    def prefix(self, query: str, chosen: Sequence[int], facts: FactTokens) -> EncodedPrefix:
        """Tokens of the chain so far: the query and the chosen facts, in order."""
        question = self._ids([sentence(query)])[0]
        links = [facts.chosen[fact] for fact in chosen]
        room = facts.prefix_limit - 2 - len(question)
        kept = _newest_that_fit(links, room - len(self._mark))
        cut = max(0, -room)
        parts = [[self.form.start], question[cut:], *([self._mark, *kept] if kept else []), [self.form.end]]
        tokens = np.concatenate([np.asarray(part, dtype=np.int32) for part in parts])
        return EncodedPrefix(tokens, Shortening(len(links) - len(kept), int(cut > 0)))

    def _ids(self, texts: list[str]) -> list[list[int]]:
        """Token ids without marks."""
        return [encoding.ids for encoding in self.raw.encode_batch_fast(texts, add_special_tokens=False)]


def _newest_that_fit(links: list[NDArray[np.int32]], room: int) -> list[NDArray[np.int32]]:
    """The longest run of facts up to the newest one that takes at most `room` tokens."""
    first = len(links)
    while first and len(links[first - 1]) <= room:
        first -= 1
        room -= len(links[first])
    return links[first:]
