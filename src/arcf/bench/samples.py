"""A made-up dataset that costs a model what WorldTree 2020 costs it: texts as long, explanations as large.

Its words are single tokens of the model's own vocabulary, so lengths are exact in any model. The constants were fitted
to WorldTree 2020 in MiniLM's tokens: facts have 12 (standard deviation 5), queries 31 (14), explanations 6 facts (4).
"""

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from arcf.data import load
from arcf.errors import ArcfError
from arcf.neighborhood import make_neighborhood
from arcf.types import Dataset, Fact, Gold, Question

# Shape and scale of gamma distributions above a minimum.
FACT_WORDS = (2, 2.7, 2.85)
QUERY_WORDS = (6, 1.9, 9.9)
GOLD_FACTS = (1, 1.7, 2.8)
#: Gold facts are among the nearest of their question, as nine of ten are in WorldTree.
NEAREST = 90
VOCABULARY = 3000
REAL = "worldtree-2020"
FACTS, QUESTIONS = 9_720, 400


def made_up_dataset(tokenizer: Tokenizer, facts: int, questions: int, seed: int = 0) -> Dataset:
    """Facts and a training split of random words; the gold facts of a question are some of those near to it."""
    rng = np.random.default_rng(seed)
    words = _words(tokenizer)
    corpus = [Fact(f"fact-{number}", _text(rng, words, FACT_WORDS)) for number in range(facts)]
    near = make_neighborhood(Dataset("made-up", tuple(corpus)))
    asked = []
    for number in range(questions):
        stem, answer = _text(rng, words, QUERY_WORDS), str(rng.choice(words))
        reachable = near.nearest(f"{stem} {answer}", NEAREST)
        gold = rng.permutation(reachable)[: _size(rng, GOLD_FACTS)]
        asked.append(Question(f"question-{number}", stem, answer=answer, gold=tuple(Gold(f"fact-{g}") for g in gold)))
    return Dataset("made-up", tuple(corpus), {"train": tuple(asked)})


def worldtree_or_made_up(tokenizer: Tokenizer) -> Dataset:
    """WorldTree 2020 where it is installed, else made-up questions of the same lengths about as many facts."""
    try:
        return load(REAL)
    except ArcfError:
        return made_up_dataset(tokenizer, FACTS, QUESTIONS)


def _words(tokenizer: Tokenizer) -> Sequence[str]:
    """Words of at least four letters that are one token."""
    entries = sorted(entry.removeprefix("Ġ") for entry in tokenizer.get_vocab())
    words = [entry for entry in dict.fromkeys(entries) if len(entry) > 3 and entry.isascii() and entry.isalpha()]
    encoded = tokenizer.encode_batch([f" {word.lower()}" for word in words], add_special_tokens=False)
    whole = [word.lower() for word, found in zip(words, encoded, strict=True) if len(found.ids) == 1]
    return whole[:: max(1, len(whole) // VOCABULARY)]


def _text(rng: np.random.Generator, words: Sequence[str], size: tuple[int, float, float]) -> str:
    """Rare and frequent words, as in real text: that of rank r is drawn with probability ~ 1 / (r + 11)."""
    weights = 1 / (np.arange(len(words)) + 11)
    return " ".join(rng.choice(words, _size(rng, size), p=weights / weights.sum()))


def _size(rng: np.random.Generator, size: tuple[int, float, float]) -> int:
    least, shape, scale = size
    return least + round(rng.gamma(shape, scale))
