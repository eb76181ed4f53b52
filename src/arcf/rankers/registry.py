"""The rankers by name, and how one is built from its description.

A new one is a class in a file of its own and a line here.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

from arcf.errors import SettingError
from arcf.neighborhood import (
    DISTANCES,
    Bm25Cosine,
    Distance,
    Embedding,
    Lexical,
    make_distance,
    make_neighborhood,
)
from arcf.neighborhood.store import load_or_build
from arcf.rankers.autoregressive import Autoregressive
from arcf.rankers.base import Ranker
from arcf.rankers.dense import IteratedNearest, SumOfNearest
from arcf.rankers.lexical import Iterated
from arcf.rankers.nearest import Nearest
from arcf.rankers.settings import RankerSettings
from arcf.registry import pick
from arcf.scorer import load_scorer, packaged_model
from arcf.types import Dataset

ALWAYS = frozenset({"kind", "query"})


@dataclass(frozen=True, slots=True)
class RankerKind:
    """How a ranker is built, and which settings it has a use for besides `query`.

    What `takes_long` is worth keeping question by question; see `runs.journal`.
    """

    build: Callable[[RankerSettings, Dataset], Ranker]
    settings: frozenset[str] = frozenset()
    takes_long: bool = False


def build_ranker(settings: RankerSettings, dataset: Dataset) -> Ranker:
    """The ranker of that description for a dataset.

    Raises:
        UnknownNameError: there is no such ranker or distance.
        SettingError: a setting is given that the ranker has no use for.
        InputError: the model cannot be loaded.
        MissingExtraError: it needs a library that is not installed.
    """
    kind = find_kind(settings)
    return kind.build(settings, dataset)


def find_kind(settings: RankerSettings) -> RankerKind:
    """The kind of a description, if that makes sense.

    Raises:
        UnknownNameError: there is no such ranker.
        SettingError: a setting is given that the ranker has no use for.
    """
    kind, usual = pick(RANKERS, settings.kind, "ranker"), RankerSettings()
    for name in (entry.name for entry in fields(settings)):
        if name not in kind.settings | ALWAYS and getattr(settings, name) != getattr(usual, name):
            raise SettingError(f"The ranker {settings.kind} has no use for the setting {name}; leave it out.")
    return kind


def build_autoregressive(settings: RankerSettings, dataset: Dataset) -> Autoregressive:
    """ARCF: the ranker that explains."""
    neighborhood = make_neighborhood(dataset, settings.distance)
    texts = [fact.text for fact in dataset.facts]
    scorer = load_scorer(settings.model or packaged_model(), texts, settings.device, settings.threads)
    query = settings.query or scorer.settings.query
    return Autoregressive(scorer, neighborhood, settings.chain, settings.tiers, query)


def _nearest(distance: str) -> Callable[[RankerSettings, Dataset], Ranker]:
    return lambda settings, dataset: Nearest(make_distance(dataset, distance), settings.query or "answer")


def _iterated(settings: RankerSettings, dataset: Dataset) -> Ranker:
    distance = Lexical(Bm25Cosine(), core_twice=True).build(dataset.facts, dataset.splits.get("train", ()))
    return Iterated(distance, query=settings.query or "answer")


def _embedding(settings: RankerSettings, dataset: Dataset) -> Distance:
    """The distance of the sentence encoder that the settings name as their model."""
    recipe = Embedding() if settings.model is None else Embedding(settings.model)
    return load_or_build(recipe, dataset.facts, ())


def _dense(settings: RankerSettings, dataset: Dataset) -> Ranker:
    return Nearest(_embedding(settings, dataset), settings.query or "answer")


def _dense_iterated(settings: RankerSettings, dataset: Dataset) -> Ranker:
    return IteratedNearest(_embedding(settings, dataset), dataset.facts, query=settings.query or "answer")


def _dense_and_lexical(settings: RankerSettings, dataset: Dataset) -> Ranker:
    lexical = Lexical(Bm25Cosine()).build(dataset.facts, dataset.splits.get("train", ()))
    return SumOfNearest((lexical, _embedding(settings, dataset)), settings.query or "answer")


RANKERS: dict[str, RankerKind] = {
    "arcf": RankerKind(
        build_autoregressive,
        settings=frozenset({"model", "distance", "chain", "tiers", "device", "threads"}),
        takes_long=True,
    ),
    "bm25-iterated": RankerKind(_iterated),
    **{name: RankerKind(_nearest(name)) for name in DISTANCES},
    "embedding": RankerKind(_dense, settings=frozenset({"model"})),
    "embedding-iterated": RankerKind(_dense_iterated, settings=frozenset({"model"})),
    "bm25-embedding": RankerKind(_dense_and_lexical, settings=frozenset({"model"})),
}
