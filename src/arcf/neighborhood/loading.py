"""From a dataset and the name of a distance to a neighborhood: the one place that makes one."""

from arcf.neighborhood.base import Distance
from arcf.neighborhood.distances import recipe
from arcf.neighborhood.store import load_or_build
from arcf.neighborhood.visibility import Neighborhood
from arcf.types import Dataset


def make_distance(
    dataset: Dataset, name: str = "tfidf", encoder: str | None = None, threads: int | None = None
) -> Distance:
    """The distance of that name over a dataset's facts, from the cache where building it took long.

    `encoder` is that of embeddings, `threads` are the encoder's; see `recipe`.

    Raises:
        UnknownNameError: there is no such distance.
        MissingExtraError: the distance needs a library that is not installed.
    """
    return load_or_build(recipe(name, encoder, threads), dataset.facts, dataset.training, dataset.name)


def make_neighborhood(
    dataset: Dataset, distance: str = "tfidf", encoder: str | None = None, threads: int | None = None
) -> Neighborhood:
    """The neighborhoods of a dataset under the distance of that name; see `make_distance`."""
    return Neighborhood(dataset.facts, make_distance(dataset, distance, encoder, threads))
