"""A made-up corpus of any size whose words are spread as in real text.

Its constants were fitted to the 9,720 facts and 2,207 training questions of WorldTree 2020 (after stop words):

- The word of rank r has frequency ~ 1 / (r + 11)^1.14 (Zipf-Mandelbrot).
- n running words hold 8.6 n^0.565 different ones (Heaps); they are drawn from a quarter more.
- A fact has 1 to 24 content words, half of them 3 to 6; a question has about 12. Stop words stand between them.
- Every text has a topic, a few dozen words that its own words come from half of the time: so facts have neighbors.

Words are made of syllables that the stemmer leaves alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcf.types import Fact, Question

Ints = NDArray[np.int64]

ZIPF_EXPONENT, ZIPF_SHIFT = 1.14, 11.0
HEAPS_FACTOR, HEAPS_EXPONENT = 8.6, 0.565
# Some rare words are never drawn.
UNDRAWN = 1.25
# Content words: 1 + Poisson, which has WorldTree's mean and most of its spread.
FACT_WORDS, QUESTION_WORDS = 5.06, 11.9
TOPIC_WORDS = 40
FACTS_PER_TOPIC = 60
TOPICAL_SHARE = 0.5
FILLERS = ("the", "a", "is", "of", "to", "can", "in", "an")
FILLER_EVERY = 2
SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aou")


@dataclass(frozen=True, slots=True)
class MadeUp:
    """Facts, and questions about the same topics."""

    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


def make_corpus(size: int, questions: int, seed: int = 0) -> MadeUp:
    """A corpus of `size` facts; the same for the same arguments."""
    generator = np.random.default_rng(seed)
    fact_lengths = 1 + generator.poisson(FACT_WORDS - 1, size)
    question_lengths = 1 + generator.poisson(QUESTION_WORDS - 1, questions)
    words = Vocabulary.drawn_from(generator, int(fact_lengths.sum()))
    topics = words.draw((1 + size // FACTS_PER_TOPIC, TOPIC_WORDS))
    spellings = [spelling(rank) for rank in range(words.size)]
    fact_texts = _texts(words, topics, fact_lengths, spellings)
    question_texts = _texts(words, topics, question_lengths, spellings)
    return MadeUp(
        tuple(Fact(f"fact-{index}", text) for index, text in enumerate(fact_texts)),
        tuple(Question(f"question-{index}", text) for index, text in enumerate(question_texts)),
    )


def spelling(rank: int) -> str:
    """The word of a rank (from 0): at least two syllables, ending in a, o or u, which no suffix of English does."""
    syllables = [SYLLABLES[rank % len(SYLLABLES)]]
    rank //= len(SYLLABLES)
    while rank or len(syllables) < 2:
        syllables.append(SYLLABLES[rank % len(SYLLABLES)])
        rank //= len(SYLLABLES)
    return "".join(syllables)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A vocabulary of word ranks from 0, and the chance to draw each."""

    generator: np.random.Generator
    cumulative: NDArray[np.float64]  # (words,), ends in 1

    @classmethod
    def drawn_from(cls, generator: np.random.Generator, running_words: int) -> "Vocabulary":
        """A vocabulary large enough that a text of that many words has as many different ones as by Heaps' law."""
        size = max(1, round(UNDRAWN * HEAPS_FACTOR * running_words**HEAPS_EXPONENT))
        cumulative = np.cumsum((np.arange(1, size + 1) + ZIPF_SHIFT) ** -ZIPF_EXPONENT)
        return cls(generator, cumulative / cumulative[-1])

    @property
    def size(self) -> int:
        """The number of different words."""
        return len(self.cumulative)

    def draw(self, shape: int | tuple[int, int]) -> Ints:
        """Random words by their frequency."""
        drawn = np.searchsorted(self.cumulative, self.generator.random(shape), side="right")
        return np.minimum(drawn, self.size - 1)


def _texts(words: Vocabulary, topics: Ints, lengths: Ints, spellings: list[str]) -> list[str]:
    """One text of each length, with a filler word before every other word."""
    generator, total = words.generator, int(lengths.sum())
    topic = np.repeat(generator.integers(0, len(topics), len(lengths)), lengths)  # (running words,)
    topical = topics[topic, generator.integers(0, TOPIC_WORDS, total)]
    drawn = np.where(generator.random(total) < TOPICAL_SHARE, topical, words.draw(total)).tolist()
    texts, start = [], 0
    for place, length in enumerate(lengths.tolist()):
        content = [spellings[word] for word in drawn[start : start + length]]
        fillers = [FILLERS[(place + index) % len(FILLERS)] for index in range(0, length, FILLER_EVERY)]
        for index, filler in enumerate(fillers):
            content.insert(index * (FILLER_EVERY + 1), filler)
        texts.append(" ".join(content))
        start += length
    return texts
