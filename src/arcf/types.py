"""The records that flow through arcf: small, frozen, without behaviour beyond their own reading.

Inside, a fact is an integer: its position in `Dataset.facts`. Outside (files, command line, JSON) it is its uid.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from arcf.errors import UnknownNameError

QueryForm = Literal["answer", "stem", "options"]
QUERY_FORMS: tuple[QueryForm, ...] = get_args(QueryForm)

ANSWER_MARK = "(answer)"
"""What stands between a question and its answer in a query."""

TRAINING_SPLIT = "train"
"""The split that may be learnt from, if there is one."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence of the corpus.

    `core` is the text without the filler words that only glue its cells together ("is a kind of"); where a source does
    not tell filler from content, it is the text itself. `table` names the kind of the fact, or is empty.
    """

    uid: str
    text: str
    table: str = ""
    core: str = ""

    def __post_init__(self) -> None:
        if not self.core:
            object.__setattr__(self, "core", self.text)


class Corpus(Sequence[Fact]):
    """Facts that tell what is asked of all of them without being gone through one by one: see `texts_of` and so on.

    A tuple of facts is as good for a small corpus. One of a million facts lies on disk (`kept.facts`).
    """

    @abstractmethod
    def fact(self, place: int) -> Fact:
        """The fact at a place, from 0 on."""

    @overload
    def __getitem__(self, place: int) -> Fact: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Fact, ...]: ...
    def __getitem__(self, place: int | slice) -> Fact | tuple[Fact, ...]:
        places = range(len(self))[place]
        return self.fact(places) if isinstance(places, int) else tuple(map(self.fact, places))

    @property
    @abstractmethod
    def texts(self) -> Sequence[str]:
        """The text of every fact."""

    @property
    @abstractmethod
    def cores(self) -> Sequence[str]:
        """The core of every fact, empty where it is the text; none at all if all are."""

    @property
    @abstractmethod
    def ids(self) -> Mapping[str, int]:
        """The integer id of every uid."""

    @property
    @abstractmethod
    def numbers(self) -> NDArray[np.int64]:
        """A number for each fact that only facts of the same text share."""


def digest_texts(texts: Iterable[str]) -> str:
    """The sha256 of texts in their order, in hexadecimal."""
    digest = sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def texts_of(facts: Sequence[Fact]) -> Sequence[str]:
    """The text of every fact."""
    return facts.texts if isinstance(facts, Corpus) else tuple(fact.text for fact in facts)


def cores_of(facts: Sequence[Fact]) -> Sequence[str]:
    """The core of every fact, empty where it is the text; none at all if all are."""
    if isinstance(facts, Corpus):
        return facts.cores
    cores = tuple("" if fact.core == fact.text else fact.core for fact in facts)
    return cores if any(cores) else ()


def number_texts(facts: Sequence[Fact]) -> NDArray[np.int64]:
    """A number for each fact that only facts of the same text share."""
    if isinstance(facts, Corpus):
        return facts.numbers
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(fact.text, len(numbers)) for fact in facts], np.int64)


@dataclass(frozen=True, slots=True)
class Option:
    """One answer option of a question, with its label (A, B, ...; WorldTree's numbers become letters too)."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Gold:
    """A fact of a question's explanation, as annotated: the uid may exist in no table."""

    uid: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with, as far as they are known, its options, its right answer and the facts that explain it.

    `answer` is the right option's text. `flags` is the annotators' own remark on the state of the explanation; the
    official scorer of 2020 goes by it.
    """

    id: str
    stem: str
    options: tuple[Option, ...] = ()
    answer: str = ""
    difficulty: str = ""
    gold: tuple[Gold, ...] = ()
    flags: str = ""

    @property
    def text(self) -> str:
        """Stem and right answer without a mark between them: what a lexical distance compares."""
        return f"{self.stem} {self.answer}" if self.answer else self.stem

    def query(self) -> str:
        """The text that stands for the question, q in the paper: stem, mark, right option."""
        return f"{self.stem} {ANSWER_MARK} {self.answer}" if self.answer else self.stem

    def asked(self, form: QueryForm) -> "Question":
        """The question as it is asked in a form, whatever reads it.

        `answer`: with its right answer, as in the paper. `stem`: the stem alone. `options`: stem and all options with
        their labels, the right one unmarked.
        """
        if form == "answer":
            return self
        listed = [f"({option.label}) {option.text}" for option in self.options] if form == "options" else []
        return replace(self, stem=" ".join([self.stem, *listed]), answer="")


@dataclass(frozen=True)
class Dataset:
    """A corpus of facts and the questions about it, by split.

    `whole_training` are all training questions, where `splits` has only a sample of them; see `training`.
    """

    name: str
    facts: Sequence[Fact]
    splits: Mapping[str, tuple[Question, ...]] = field(default_factory=dict)
    whole_training: tuple[Question, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", MappingProxyType(dict(self.splits)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and other processes make it again: a proxy of a dict cannot travel."""
        return type(self), (self.name, self.facts, dict(self.splits), self.whole_training)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The integer id of every uid."""
        if isinstance(self.facts, Corpus):
            return self.facts.ids
        return MappingProxyType({fact.uid: index for index, fact in enumerate(self.facts)})

    @cached_property
    def texts(self) -> Sequence[str]:
        """The text of every fact."""
        return texts_of(self.facts)

    @cached_property
    def digest(self) -> str:
        """What tells the facts from others: a hash of their uids and texts, in their order. It reads all of them."""
        return digest_texts(part for fact in self.facts for part in (fact.uid, fact.text))

    @property
    def training(self) -> tuple[Question, ...]:
        """What distances learn from, besides the facts, how common words are: never what is evaluated elsewhere.

        All of them, whichever are asked: a sample must not change how near a fact is.
        """
        return self.splits.get(TRAINING_SPLIT, ()) if self.whole_training is None else self.whole_training

    def split(self, name: str) -> tuple[Question, ...]:
        """The questions of one split.

        Raises:
            UnknownNameError: the dataset has no such split.
        """
        if name not in self.splits:
            raise UnknownNameError(f"split of {self.name}", name, self.splits)
        return self.splits[name]

    def question(self, question_id: str) -> Question:
        """The question of that id, whichever split it is in.

        Raises:
            UnknownNameError: no split has it.
        """
        known = {question.id: question for questions in self.splits.values() for question in questions}
        if question_id not in known:
            raise UnknownNameError(f"question of {self.name}", question_id, known)
        return known[question_id]

    def gold_ids(self, question: Question) -> tuple[int, ...]:
        """The ids of a question's gold facts, in annotated order, each once; uids that exist nowhere are left out."""
        return tuple(dict.fromkeys(self.ids[gold.uid] for gold in question.gold if gold.uid in self.ids))


@dataclass(frozen=True, slots=True)
class RankedFact:
    """A fact of a ranking, for those who do not count in integers."""

    uid: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """The facts that a chain ended with, in order, and whether it stopped by itself.

    It did if the stop sample won, or if the next fact was too doubtful; else no longer chain was allowed or visible.
    `confidences` are the probabilities that they belong to the explanation, one for each; none where no calibration is.
    """

    facts: tuple[int, ...]
    stopped: bool
    confidences: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Facts for one question, best first. Scores never increase; equal scores are ordered by fact id.

    `chosen` is the chain that the ranking was made from, if one was.
    """

    question_id: str
    facts: NDArray[np.int64]
    scores: NDArray[np.float64]
    chosen: Chosen | None = None

    def top(self, k: int | None) -> "Ranking":
        """The k best facts; all of them if k is None. The chain stays whole."""
        return replace(self, facts=self.facts[:k], scores=self.scores[:k])

    def named(self, corpus: Sequence[Fact]) -> tuple[RankedFact, ...]:
        """The same with uids and texts."""
        pairs = zip(self.facts.tolist(), self.scores.tolist(), strict=True)
        return tuple(RankedFact(corpus[fact].uid, corpus[fact].text, score) for fact, score in pairs)


@dataclass(frozen=True, slots=True)
class SeenFrom:
    """Why a fact is visible: the chain fact it is near to (None: the question), and the words that they share.

    `words` come by weight, the rarest first; `light` are those that link any two subjects ("kind", "used").
    """

    source: int | None
    words: tuple[str, ...]
    light: tuple[str, ...] = ()

    @property
    def is_telling(self) -> bool:
        """Whether more than light words link the two. Embeddings bring facts near that share no word at all."""
        return bool(self.words) or not self.light


@dataclass(frozen=True, slots=True)
class Candidate:
    """A visible fact and the score f_theta of the chain that it would extend."""

    fact: int
    score: float


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration of the chain: the fact it appended, what it was chosen over, and where it was seen from.

    `stop_score` is the score of the chain without a new fact; None while stopping is not yet allowed to compete.
    `confidence` is the probability that the fact belongs to the explanation; None for a model without calibration.
    """

    chosen: Candidate
    seen_from: tuple[SeenFrom, ...]
    runners_up: tuple[Candidate, ...] = ()
    stop_score: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """An explanation: the facts f_1..N in the order in which they were chosen.

    `stopped` tells whether the stop sample ended it, `unsure` whether the next fact was too doubtful; otherwise the
    maximum length did, or nothing was left to see. When it stopped or was unsure, `stop_score` is the stop sample's
    score, `left_out` are the facts that would have come next, best first, and `next_confidence` is the probability that
    the first of them belongs to the explanation. `start` holds the facts that the chain was told to begin with: they
    were not chosen, so they have no steps.
    """

    question: Question
    steps: tuple[Step, ...]
    stopped: bool
    start: tuple[int, ...] = ()
    stop_score: float | None = None
    left_out: tuple[Candidate, ...] = ()
    unsure: bool = False
    next_confidence: float | None = None

    @property
    def facts(self) -> tuple[int, ...]:
        """The ids of all facts of the chain, in order."""
        return (*self.start, *(step.chosen.fact for step in self.steps))

    @property
    def confidences(self) -> tuple[float, ...]:
        """The probability of each chosen fact to belong to the explanation; none for a model without calibration."""
        return tuple(step.confidence for step in self.steps if step.confidence is not None)

    @property
    def confidence(self) -> float | None:
        """The share of the chosen facts that can be expected to belong to the explanation: the mean of the steps'.

        A mean of calibrated probabilities is calibrated, however the steps depend on each other. None for a chain
        without chosen facts, or without probabilities.
        """
        known = self.confidences
        return sum(known) / len(known) if known else None
