"""The systems of the paper, as jobs: which models are trained, and how facts are ranked with them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from arcf.experiments.budget import Budget
from arcf.experiments.making import ExportJob, InitJob, Model, TrainJob
from arcf.experiments.measuring import FuseJob, RankJob, TimeJob
from arcf.experiments.place import Data
from arcf.rankers import RankerSettings, Tiers
from arcf.registry import pick
from arcf.scorer import packaged_model
from arcf.types import TRAINING_SPLIT

NO_DECAY = {"weight_decay": 0.0}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained: as one of the budget's three kinds, with changes.

    `conditioned` adds the budget's conditioning on negatives (CN); `random` begins with random weights.
    """

    base: str = ""
    changes: Mapping[str, Any] | None = None
    conditioned: bool = False
    random: bool = False


def _loss(name: str, **more: Any) -> dict[str, Any]:
    return {"optimisation": {"loss": name} | more}


ALONE = {"sampling": {"kind": "facts", "pool": "corpus"}}

#: The models. Baselines are trained without weight decay, the paper's finding.
RECIPES: Mapping[str, Recipe] = {
    "ranknet": Recipe(changes=_loss("ranknet")),
    "ranknet-cn": Recipe(changes=_loss("ranknet"), conditioned=True),
    "nce": Recipe(changes=_loss("nce")),
    "nce-cn": Recipe(changes=_loss("nce"), conditioned=True),
    "bxent": Recipe(changes=_loss("bxent")),
    "single-fact": Recipe("single_fact", ALONE | _loss("bxent", **NO_DECAY)),
    "path-rerank": Recipe("path_rerank", {"sampling": {"kind": "paths"}} | _loss("bxent", **NO_DECAY)),
    "no-prefix": Recipe("single_fact", ALONE | _loss("ranknet")),
    "random": Recipe(changes=_loss("ranknet"), random=True),
}

#: What the report calls the models that are used as they were trained.
NAMES: Mapping[str, str] = {
    "ranknet": "ARCF, RankNet",
    "ranknet-cn": "ARCF, RankNet, CN",
    "nce": "ARCF, NCE",
    "nce-cn": "ARCF, NCE, CN",
    "bxent": "ARCF, bXENT",
    "single-fact": "Single fact",
    "path-rerank": "Path re-rank",
    "no-prefix": "ARCF, without prefix and neighborhoods",
    "random": "ARCF, random weights",
}
#: Those that do not rank by chains.
RANKED_BY: Mapping[str, str] = {
    "single-fact": "single-fact",
    "path-rerank": "path-rerank",
    "no-prefix": "single-fact",
}


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems within a budget."""

    budget: Budget

    def data(self, dataset: str) -> Data:
        """The questions that are evaluated."""
        return Data(dataset, self.budget.split, self.budget.questions)

    def trained(self, recipe: str, dataset: str, seed: int = 1) -> TrainJob:
        """The training of a model."""
        budget, chosen = self.budget, pick(RECIPES, recipe, "system")
        changes = dict(chosen.changes or {})
        if chosen.conditioned:
            changes["sampling"] = {"conditioning": asdict(budget.conditioning)}
        settings = budget.training(chosen.base, dataset, seed, changes)
        source = str(packaged_model()) if budget.tiny else settings.model.name
        start = InitJob(source, budget.tiny) if budget.tiny or chosen.random else None
        return TrainJob(NAMES[recipe], settings, start)

    def model(self, recipe: str, dataset: str, seed: int = 1) -> Model:
        """The model that ranks: the trained one, or its export."""
        trained, precision = self.trained(recipe, dataset, seed), self.budget.precision
        return trained if precision is None else ExportJob(trained, precision)

    def ranker(self, kind: str) -> RankerSettings:
        """The budget's description of a ranker, with the settings that it has a use for."""
        wanted = self.budget.ranker
        if kind == "arcf":
            return RankerSettings(kind, chain=wanted.chain)
        if kind == "path-rerank":
            return RankerSettings(kind, paths=wanted.paths)
        return RankerSettings(kind, retrieved=wanted.retrieved) if kind == "single-fact" else RankerSettings(kind)

    def ranked(self, recipe: str, dataset: str, seed: int = 1) -> RankJob:
        """A model's run, ranked as it was trained to."""
        ranker = self.ranker(RANKED_BY.get(recipe, "arcf"))
        return RankJob(NAMES[recipe], ranker, self.data(dataset), self.model(recipe, dataset, seed))

    def chains(self, system: str, recipe: str, **chain: Any) -> RankJob:
        """A run of Algorithm 1 on the main dataset, with other settings of chains."""
        main, usual = self.budget.main, self.ranker("arcf")
        ranker = replace(usual, chain=replace(usual.chain, **chain))
        return RankJob(system, ranker, self.data(main), self.model(recipe, main))

    def tiers(self, system: str, tiers: Tiers) -> RankJob:
        """A run of ARCF that leaves something out of the ranking."""
        return replace(
            self.ranked("ranknet", self.budget.main), system=system, ranker=replace(self.ranker("arcf"), tiers=tiers)
        )

    def alone(self, system: str, recipe: str) -> RankJob:
        """A model's run on the main dataset, ranked as single facts are."""
        main = self.budget.main
        return RankJob(system, self.ranker("single-fact"), self.data(main), self.model(recipe, main))

    def tfidf(self, dataset: str) -> RankJob:
        """The baseline without a model."""
        return RankJob("TF-IDF", RankerSettings("tfidf"), self.data(dataset))

    def ensemble(self, dataset: str) -> FuseJob:
        """Single facts and paths together."""
        parts = tuple(self.ranked(recipe, dataset) for recipe in ("single-fact", "path-rerank"))
        held_out = Data(dataset, TRAINING_SPLIT, self.budget.held_out)
        return FuseJob("Ensemble", parts, tuple(replace(part, data=held_out) for part in parts))

    def timed(self, ranked: RankJob, **chain: Any) -> TimeJob:
        """The time of a run's ranker on one thread, with other settings of chains if given."""
        ranker = replace(ranked.ranker, threads=1, chain=replace(ranked.ranker.chain, **chain))
        return TimeJob(ranked.system, ranker, ranked.data, self.budget.timed, ranked.model)
