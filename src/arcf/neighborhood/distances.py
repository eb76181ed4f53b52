"""The distances by name. A new one is a recipe in a file of its own and a line here."""

from dataclasses import replace

from arcf.neighborhood.base import Recipe
from arcf.neighborhood.bm25 import Bm25
from arcf.neighborhood.embedding import Embedding
from arcf.neighborhood.overlap import Overlap
from arcf.neighborhood.sparse import Lexical
from arcf.neighborhood.tfidf import TfIdf
from arcf.neighborhood.union import Union
from arcf.neighborhood.wmd import Wmd
from arcf.registry import pick

DISTANCES: dict[str, Recipe] = {
    "tfidf": Lexical(TfIdf()),
    "tfidf-sublinear": Lexical(TfIdf(sublinear=True)),
    "overlap": Lexical(Overlap()),
    "bm25": Lexical(Bm25()),
    "embedding": Embedding(),
    "embedding-ann": Embedding(approximate=True),
    "wmd": Wmd(),
}


def recipe(name: str, encoder: str | None = None, threads: int | None = None) -> Recipe:
    """The distance of that name; names joined by + are a union of distances, taken in turns in that order.

    `encoder` is a sentence encoder's folder, or its name on the hub, for embeddings; MiniLM unless given. `threads` are
    those of whichever encoder there is; all unless given.

    Raises:
        UnknownNameError: there is no distance of that name.
    """
    parts = tuple(_part(pick(DISTANCES, part.strip(), "distance"), encoder, threads) for part in name.split("+"))
    return parts[0] if len(parts) == 1 else Union(parts)


def _part(found: Recipe, encoder: str | None, threads: int | None) -> Recipe:
    match found:
        case Embedding():
            return replace(found, model=encoder or found.model, threads=threads)
        case Wmd():
            return replace(found, threads=threads)
    return found
