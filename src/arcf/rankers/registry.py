"""The rankers by name, and how one is built from its description.

A new one is a class in a file of its own and a line here.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import cast

from arcf.chain import load_calibration
from arcf.errors import SettingError
from arcf.neighborhood import (
    DISTANCES,
    Bm25Cosine,
    Distance,
    Embedding,
    Lexical,
    Neighborhood,
    SparseDistance,
    Wmd,
    make_distance,
    make_neighborhood,
)
from arcf.neighborhood.store import load_or_build
from arcf.rankers.autoregressive import Autoregressive
from arcf.rankers.base import Ranker
from arcf.rankers.dense import IteratedNearest, SumOfNearest
from arcf.rankers.ensemble import Ensemble
from arcf.rankers.lexical import Iterated
from arcf.rankers.nearest import Nearest
from arcf.rankers.path import PathRerank
from arcf.rankers.settings import RankerSettings
from arcf.rankers.single_fact import SingleFact
from arcf.registry import pick
from arcf.scorer import LoadedScorer, load_scorer, packaged_model
from arcf.scorer.loading import dense_encoder, with_precedents
from arcf.timing import logged
from arcf.types import Dataset

LOGGER = logging.getLogger(__name__)
ALWAYS = frozenset({"kind", "query"})
ENCODER_SETTINGS = frozenset({"model", "threads"})
MODEL_SETTINGS = ENCODER_SETTINGS | {"distance", "device", "precedents"}
CHAIN_SETTINGS = MODEL_SETTINGS | {"chain", "tiers", "vectors"}


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
    scorer = _scorer(settings, dataset)
    neighborhood = _neighborhood(scorer, settings, dataset)
    query, calibration = settings.query or scorer.settings.query, load_calibration(settings.model or packaged_model())
    return Autoregressive(scorer, neighborhood, settings.chain, settings.tiers, query, calibration)


def _single_fact(settings: RankerSettings, dataset: Dataset) -> Ranker:
    scorer = _scorer(settings, dataset)
    neighborhood = _neighborhood(scorer, settings, dataset)
    return SingleFact(scorer, neighborhood, settings.retrieved, settings.query or scorer.settings.query)


def _path_rerank(settings: RankerSettings, dataset: Dataset) -> Ranker:
    scorer = _scorer(settings, dataset)
    neighborhood, overlap = _neighborhood(scorer, settings, dataset), make_neighborhood(dataset, "overlap")
    return PathRerank(scorer, neighborhood, overlap, settings.paths, settings.query or scorer.settings.query)


def _ensemble(settings: RankerSettings, dataset: Dataset) -> Ranker:
    if not settings.ensemble.members:
        raise SettingError('An ensemble has members; give them: --set \'ensemble.members=["bm25", "arcf:MODEL"]\'.')
    members = [_member(settings, kind, model) for kind, model in settings.ensemble.split()]
    return Ensemble([build_ranker(member, dataset) for member in members], settings.ensemble)


def _member(settings: RankerSettings, kind: str, model: str | None) -> RankerSettings:
    """The description of a member: what the ensemble's has and the member has a use for."""
    useful = pick(RANKERS, kind, "ranker").settings | {"query"}
    if kind == "ensemble":
        raise SettingError("An ensemble is no member of an ensemble; name its members instead.")
    if model and "model" not in useful:
        raise SettingError(f"The ranker {kind} has no use for the model {model}; leave it out.")
    kept = {name: getattr(settings, name) for name in useful}
    return RankerSettings(kind, **kept | ({"model": model} if model else {}))


def _neighborhood(scorer: LoadedScorer, settings: RankerSettings, dataset: Dataset) -> Neighborhood:
    """Embeddings are those of the scorer's own encoder, if it has one."""
    with logged(LOGGER, "made the neighborhood %s of %d facts", settings.distance, len(dataset.facts)):
        return make_neighborhood(dataset, settings.distance, dense_encoder(scorer), settings.threads)


def _scorer(settings: RankerSettings, dataset: Dataset) -> LoadedScorer:
    model = settings.model or packaged_model()
    with logged(LOGGER, "loaded the model %s", model):
        scorer = load_scorer(model, dataset.texts, settings.device, settings.threads, settings.vectors)
        return with_precedents(scorer, dataset, settings.threads, settings.query) if settings.precedents else scorer


def _nearest(name: str) -> RankerKind:
    """A distance as a ranker."""
    useful = {Embedding: ENCODER_SETTINGS, Wmd: frozenset({"threads"})}.get(type(DISTANCES[name]), frozenset())

    def build(settings: RankerSettings, dataset: Dataset) -> Ranker:
        distance = make_distance(dataset, name, settings.model, settings.threads)
        return Nearest(distance, settings.query or "answer")

    return RankerKind(build, useful)


def _iterated(settings: RankerSettings, dataset: Dataset) -> Ranker:
    recipe = Lexical(Bm25Cosine(), core_twice=True)
    distance = load_or_build(recipe, dataset.facts, dataset.training, dataset.name)
    return Iterated(cast("SparseDistance", distance), query=settings.query or "answer")


def _embedding(settings: RankerSettings, dataset: Dataset) -> Distance:
    """The distance of the sentence encoder that the settings name as their model."""
    return make_distance(dataset, "embedding", settings.model, settings.threads)


def _dense_iterated(settings: RankerSettings, dataset: Dataset) -> Ranker:
    return IteratedNearest(_embedding(settings, dataset), dataset.facts, query=settings.query or "answer")


def _dense_and_lexical(settings: RankerSettings, dataset: Dataset) -> Ranker:
    lexical = load_or_build(Lexical(Bm25Cosine()), dataset.facts, dataset.training, dataset.name)
    return SumOfNearest((lexical, _embedding(settings, dataset)), settings.query or "answer")


RANKERS: dict[str, RankerKind] = {
    "arcf": RankerKind(build_autoregressive, CHAIN_SETTINGS, takes_long=True),
    "single-fact": RankerKind(_single_fact, MODEL_SETTINGS | {"retrieved"}, takes_long=True),
    "path-rerank": RankerKind(_path_rerank, MODEL_SETTINGS | {"paths"}, takes_long=True),
    "ensemble": RankerKind(_ensemble, CHAIN_SETTINGS | {"retrieved", "paths", "ensemble"}, takes_long=True),
    "bm25-iterated": RankerKind(_iterated),
    **{name: _nearest(name) for name in DISTANCES},
    "embedding-iterated": RankerKind(_dense_iterated, ENCODER_SETTINGS),
    "bm25-embedding": RankerKind(_dense_and_lexical, ENCODER_SETTINGS),
}
