"""Distances on disk, named by a hash of what they were made from."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Final

from arcf.kept.facts import TextFacts
from arcf.kept.folder import kept_path
from arcf.kept.head import FORMAT, About
from arcf.kept.keeping import find, kept
from arcf.kept.texts import digest_of
from arcf.neighborhood.ann import build_graph
from arcf.neighborhood.base import Distance, Recipe, State
from arcf.neighborhood.embedding import Embedding, EmbeddingDistance
from arcf.neighborhood.sparse import Lexical
from arcf.neighborhood.terms import TermCounts
from arcf.neighborhood.text import stop_words
from arcf.neighborhood.union import Union, UnionDistance
from arcf.sentences import forget_blocks
from arcf.types import Fact, Question, cores_of, texts_of

KIND: Final = "distances"
VERSION: Final = 4
"""Goes up when the same settings make something else of the same text."""


def fingerprint(recipe: Recipe, facts: Sequence[Fact], questions: Sequence[Question]) -> str:
    """The sha256 of everything that a distance is made from, in hexadecimal."""
    return _mark("distance", recipe.identity(), texts_of(facts), cores_of(facts), [asked.text for asked in questions])


def load_or_build(recipe: Recipe, facts: Sequence[Fact], questions: Sequence[Question], corpus: str = "") -> Distance:
    """The distance of a corpus, from the cache if it is there, else built and, where that took long, kept.

    `corpus` is its name, for those who look at the cache. What goes wrong there is told by `kept`.
    """
    if isinstance(recipe, Union):
        return UnionDistance([load_or_build(part, facts, questions, corpus) for part in recipe.parts])
    if isinstance(recipe, Embedding):
        return _embedding(recipe, TextFacts(texts_of(facts)), corpus)
    mark = fingerprint(recipe, facts, questions)
    about = About(_what(recipe), len(facts), digest_of(texts_of(facts)), corpus)
    return recipe.restore(kept(KIND, mark, about, lambda: _build(recipe, facts, questions, corpus).state()))


def find_embedding(encoder: str, texts: Sequence[str]) -> EmbeddingDistance | None:
    """The embedding distance of a corpus, searched exactly, if its vectors are in the cache."""
    recipe = Embedding(encoder)
    state = find(KIND, fingerprint(recipe, TextFacts(texts), ()))
    return None if state is None else recipe.restore(state)


def _embedding(recipe: Embedding, facts: TextFacts, corpus: str) -> Distance:
    """The distance of texts alone: whatever else a dataset has makes no other file.

    Vectors are encoded once for both ways of searching them; the graph of the approximate one is a file of its own.
    """
    exact = replace(recipe, approximate=False)
    mark, about = fingerprint(exact, facts, ()), About(_what(exact), len(facts), digest_of(facts.texts), corpus)
    state = dict(kept(KIND, mark, about, lambda: exact.build(facts, ()).state()))
    with suppress(OSError):  # of a cache that cannot be read
        if kept_path(KIND, mark).exists():
            forget_blocks(exact.blocks(facts.texts))
    if recipe.approximate and len(state["vectors"]):
        linked = replace(about, what="graph of vectors")
        state |= kept("graphs", mark, linked, lambda: {"graph": build_graph(state["vectors"]).to_array()})
    return recipe.restore(state)


def _build(recipe: Recipe, facts: Sequence[Fact], questions: Sequence[Question], corpus: str) -> Distance:
    """Lexical distances of one corpus share its words, which are counted once for all of them."""
    if not isinstance(recipe, Lexical):
        return recipe.build(facts, questions)
    texts = texts_of(facts)
    mark = _mark(
        "words", f"{recipe.core_twice} {sorted(stop_words())}", texts, cores_of(facts) if recipe.core_twice else ()
    )
    about = About("words", len(facts), digest_of(texts), corpus)

    def count() -> State:
        return recipe.count(facts).state()

    return recipe.weigh(TermCounts.restore(kept("words", mark, about, count)), questions)


def _what(recipe: Recipe) -> str:
    return f"distance {type(recipe.weighting if isinstance(recipe, Lexical) else recipe).__name__}"


def _mark(what: str, identity: str, *parts: Sequence[str]) -> str:
    """A hash of texts: no two contents read the same."""
    return sha256(json.dumps([what, FORMAT, VERSION, identity, *map(digest_of, parts)]).encode()).hexdigest()
