"""Which facts are near a text or another fact."""

from arcf.neighborhood.base import Distance, FactIds, Recipe, smallest
from arcf.neighborhood.bm25 import Bm25, Bm25Cosine
from arcf.neighborhood.distances import DISTANCES, recipe
from arcf.neighborhood.embedding import Embedding, EmbeddingDistance
from arcf.neighborhood.loading import make_distance, make_neighborhood
from arcf.neighborhood.overlap import Overlap
from arcf.neighborhood.sparse import Lexical, SparseDistance
from arcf.neighborhood.text import Analyzer
from arcf.neighborhood.tfidf import TfIdf
from arcf.neighborhood.union import Union, UnionDistance
from arcf.neighborhood.visibility import Neighborhood
from arcf.neighborhood.wmd import Wmd, WmdDistance

__all__ = [
    "DISTANCES",
    "Analyzer",
    "Bm25",
    "Bm25Cosine",
    "Distance",
    "Embedding",
    "EmbeddingDistance",
    "FactIds",
    "Lexical",
    "Neighborhood",
    "Overlap",
    "Recipe",
    "SparseDistance",
    "TfIdf",
    "Union",
    "UnionDistance",
    "Wmd",
    "WmdDistance",
    "make_distance",
    "make_neighborhood",
    "recipe",
    "smallest",
]
