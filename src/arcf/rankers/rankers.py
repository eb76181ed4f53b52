"""The rankers by name. A new one is a class in a file of its own and a line here."""

from collections.abc import Callable

from arcf.neighborhood import Bm25, Bm25Cosine, Lexical, TfIdf
from arcf.neighborhood.sparse import SparseDistance, Weighting
from arcf.rankers.base import Ranker
from arcf.rankers.lexical import Iterated, Nearest
from arcf.types import Dataset


def _lexical(dataset: Dataset, weighting: Weighting, *, core_twice: bool = False) -> SparseDistance:
    return Lexical(weighting, core_twice).build(dataset.facts, dataset.splits.get("train", ()))


RANKERS: dict[str, Callable[[Dataset], Ranker]] = {
    "tfidf": lambda dataset: Nearest(_lexical(dataset, TfIdf())),
    "tfidf-sublinear": lambda dataset: Nearest(_lexical(dataset, TfIdf(sublinear=True))),
    "bm25-classic": lambda dataset: Nearest(_lexical(dataset, Bm25())),
    "bm25": lambda dataset: Iterated(_lexical(dataset, Bm25Cosine(), core_twice=True)),
}
