"""The distances by name. A new one is a recipe in a file of its own and a line here."""

from arcf.neighborhood.base import Recipe
from arcf.neighborhood.bm25 import Bm25
from arcf.neighborhood.overlap import Overlap
from arcf.neighborhood.sparse import Lexical
from arcf.neighborhood.tfidf import TfIdf

DISTANCES: dict[str, Recipe] = {
    "tfidf": Lexical(TfIdf()),
    "tfidf-sublinear": Lexical(TfIdf(sublinear=True)),
    "overlap": Lexical(Overlap()),
    "bm25": Lexical(Bm25()),
}
