"""Jobs that rank, and jobs that say how well and how fast."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from arcf.chain import ChainSettings
from arcf.evaluation import evaluate, reachabilities
from arcf.evaluation.significance import bootstrap_means, percentile_interval
from arcf.evaluation.weights import choose_weights
from arcf.experiments.commands import command, into, rank_options
from arcf.experiments.making import FACT_TOKENS, PREFIX_TOKENS, ExportJob, Model
from arcf.experiments.place import Data, Job, Place, load_dataset
from arcf.rankers import PathRerank, Ranker, RankerSettings, build_ranker
from arcf.runs import RankingJob, fuse_runs, rank_to_file, read_run, write_run
from arcf.types import Dataset

RUN = "run.json.gz"
#: For estimates: facts that share a word with another; the new ones that a chosen fact makes visible, as a share of k.
LINKED, FRESH = 950, 0.45
SHOWN = 15


@dataclass(frozen=True, slots=True)
class RankJob(Job):
    """The run of a ranker; `model` is the job that makes its model, if it has one."""

    system: str
    ranker: RankerSettings
    data: Data
    model: Model | None = None
    kind: ClassVar[str] = "rank"

    @property
    def title(self) -> str:
        """What it is about."""
        return f"{self.system}, {self.data.dataset} {self.data.split}"

    def product(self, place: Place) -> Path:
        """Where the run is."""
        return place.of(self) / RUN

    def command(self, place: Place) -> str:
        """`arcf rank`."""
        options = rank_options(self.ranker, self.model.product(place) if self.model else None)
        output = ("--format", "json", "--output", self.product(place))
        return into(place.of(self), command("arcf", "rank", *self.data.options(), *options, *output))

    def tokens(self) -> float:
        """What is read for all questions."""
        dataset = self.data.load()
        return len(dataset.split(self.data.split)) * tokens_a_question(self.ranker, dataset, self.model)

    def run(self, place: Place) -> dict[str, Any]:
        """Rank, going on with what its journal holds."""
        dataset = self.data.load()
        job = RankingJob(settled(self.ranker, self.model, place), dataset, dataset.split(self.data.split))
        # Of a run that goes on, the journal tells what was ranked before: it has a line for each question, and a head.
        journal = job.journal(self.product(place)).path
        before = sum(1 for _ in journal.open("rb")) - 1 if journal.exists() else 0
        rank_to_file(job, self.product(place), "json")
        return {"questions": len(job.questions), "ranked": len(job.questions) - max(before, 0)}


@dataclass(frozen=True, slots=True)
class FuseJob(Job):
    """The fused run of several, with weights that are chosen on their runs of held-out training questions."""

    system: str
    parts: tuple[RankJob, ...]
    held_out: tuple[RankJob, ...]
    kind: ClassVar[str] = "fuse"

    @property
    def title(self) -> str:
        """What it is about."""
        return f"{self.system}, {self.data.dataset} {self.data.split}"

    @property
    def data(self) -> Data:
        """The questions: those of the parts."""
        return self.parts[0].data

    def product(self, place: Place) -> Path:
        """Where the run is."""
        return place.of(self) / RUN

    def command(self, place: Place) -> str:
        """`arcf fuse`."""
        held_out = [word for job in self.held_out for word in ("--held-out", job.product(place))]
        runs, dataset = [job.product(place) for job in self.parts], self.data.dataset
        output = ("--format", "json", "--output", self.product(place))
        return into(place.of(self), command("arcf", "fuse", *runs, "--dataset", dataset, *held_out, *output))

    def run(self, place: Place) -> dict[str, Any]:
        """Choose weights, and fuse."""
        dataset = load_dataset(self.data.dataset)
        chosen = choose_weights([read_run(job.product(place)) for job in self.held_out], dataset)
        runs = [read_run(job.product(place)) for job in self.parts]
        write_run(self.product(place), dataset, fuse_runs(runs, dataset, chosen.weights), "json")
        return {"weights": list(chosen.weights), "held_out_map": chosen.map, "held_out_questions": chosen.questions}


Ranked = RankJob | FuseJob


@dataclass(frozen=True, slots=True)
class EvaluateJob(Job):
    """The scores of a run."""

    ranked: Ranked
    kind: ClassVar[str] = "evaluate"

    @property
    def title(self) -> str:
        """What it is about."""
        return self.ranked.title

    def command(self, place: Place) -> str:
        """`arcf evaluate`."""
        return command("arcf", "evaluate", self.ranked.product(place), *self.ranked.data.options(), "--json")

    def run(self, place: Place) -> dict[str, Any]:
        """Evaluate; the interval is the bootstrap's over the questions."""
        data = self.ranked.data
        result = evaluate(read_run(self.ranked.product(place)), data.load(), data.split)
        scores = np.array([[question.average_precision for question in result.questions]])
        interval = percentile_interval(bootstrap_means(scores)[0])
        return result.to_dict(per_question=True) | {"interval": [interval.low, interval.high]}


@dataclass(frozen=True, slots=True)
class TimeJob(Job):
    """Seconds a question of a ranker, over the first `count` questions after one that is not counted."""

    system: str
    ranker: RankerSettings
    data: Data
    count: int
    model: Model | None = None
    kind: ClassVar[str] = "time"
    alone: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """What it is about."""
        return f"{self.system}, {self.data.dataset}"

    def command(self, place: Place) -> str:
        """`arcf rank`, of so few questions that its time can be taken by hand; loading is part of that."""
        options = rank_options(self.ranker, self.model.product(place) if self.model else None)
        data = replace(self.data, questions=self.count)
        line = command("arcf", "rank", *data.options(), *options, "--output", place.of(self) / "run.txt")
        return into(place.of(self), f"time {line}")

    def tokens(self) -> float:
        """What is read for the timed questions."""
        return (self.count + 1) * tokens_a_question(self.ranker, self.data.load(), self.model)

    def run(self, place: Place) -> dict[str, Any]:
        """Rank and look at the clock."""
        dataset = self.data.load()
        ranker = build_ranker(settled(self.ranker, self.model, place), dataset)
        questions = dataset.split(self.data.split)
        ranker.rank(questions[0])
        timed = questions[1 : self.count + 1] or questions[:1]
        started = perf_counter()
        for question in timed:
            ranker.rank(question)
        seconds = (perf_counter() - started) / len(timed)
        return {"seconds": seconds, "questions": len(timed), "chains": _chains(ranker, dataset, self.data.split)}


@dataclass(frozen=True, slots=True)
class ReachabilityJob(Job):
    """How much of the gold explanations of the training questions the neighborhoods reach, by k."""

    dataset: str
    ks: tuple[int, ...]
    kind: ClassVar[str] = "reachability"

    @property
    def title(self) -> str:
        """What it is about."""
        return self.dataset

    def command(self, place: Place) -> str:
        """`arcf reachability`."""
        del place
        ks = [word for k in self.ks for word in ("-k", k)]
        return command("arcf", "reachability", "--dataset", self.dataset, "--split", "train", *ks)

    def run(self, place: Place) -> dict[str, Any]:
        """Measure."""
        del place
        (found,) = reachabilities(load_dataset(self.dataset), "train", ["tfidf"], self.ks).values()
        return {"fractions": {str(reach.k): reach.fraction for reach in found}, "questions": found[0].questions}


@dataclass(frozen=True, slots=True)
class ExampleJob(Job):
    """The best facts for a question."""

    ranker: RankerSettings
    dataset: str
    question: str
    model: Model | None = None
    kind: ClassVar[str] = "example"

    @property
    def title(self) -> str:
        """What it is about."""
        return self.question

    def command(self, place: Place) -> str:
        """`arcf rank`."""
        options = rank_options(self.ranker, self.model.product(place) if self.model else None)
        return command("arcf", "rank", "--dataset", self.dataset, "--id", self.question, *options, "--top-k", SHOWN)

    def tokens(self) -> float:
        """What is read for one question."""
        return tokens_a_question(self.ranker, load_dataset(self.dataset), self.model)

    def run(self, place: Place) -> dict[str, Any]:
        """Rank, and mark what is gold."""
        dataset = load_dataset(self.dataset)
        question = dataset.question(self.question)
        ranking = build_ranker(settled(self.ranker, self.model, place), dataset).rank(question)
        gold = {dataset.facts[fact].uid for fact in dataset.gold_ids(question)}
        named = ranking.top(SHOWN).named(dataset.facts)
        return {"facts": [asdict(fact) | {"gold": fact.uid in gold} for fact in named], "gold": len(gold)}


def settled(ranker: RankerSettings, model: Model | None, place: Place) -> RankerSettings:
    """The description with the model that a job has made."""
    return ranker if model is None else replace(ranker, model=str(model.product(place)))


def tokens_a_question(ranker: RankerSettings, dataset: Dataset, model: Model | None) -> float:
    """About how many tokens a ranker's model reads for a question; `model` is the job that makes it, if one does."""
    paths, size, trained = ranker.paths, len(dataset.facts), model.model if isinstance(model, ExportJob) else model
    if ranker.kind == "single-fact":
        tokens = float(min(ranker.retrieved or size, size) * FACT_TOKENS)
    elif ranker.kind == "path-rerank":
        tokens = float(paths.retrieved * (PREFIX_TOKENS + min(paths.linked or LINKED, size) * FACT_TOKENS))
    elif ranker.kind == "arcf":
        has_prior = trained is None or bool(trained.settings.model.prior or trained.settings.model.dense)
        tokens = _scored(ranker.chain, size, has_prior) * FACT_TOKENS + ranker.chain.max_facts * PREFIX_TOKENS
    else:
        return 0.0
    # Candidates that do not share their prefix bring one each.
    is_joint = trained is not None and trained.settings.model.encoding == "joint"
    return tokens * (PREFIX_TOKENS + FACT_TOKENS) / FACT_TOKENS if is_joint else tokens


def _scored(chain: ChainSettings, size: int, has_prior: bool) -> float:
    """About how many facts a chain has scored; only a prior tells which of the new ones promise the most."""
    steps = range(chain.max_facts)
    if chain.rescored is None:
        return sum(min(chain.k * (1 + FRESH * step), size) for step in steps)
    screened = chain.screened if has_prior and chain.screened is not None else size
    first, later = min(chain.k, size, screened + chain.rescored), min(FRESH * chain.k, screened) + chain.rescored
    return first + later * (len(steps) - 1)


def _chains(ranker: Ranker, dataset: Dataset, split: str) -> float | None:
    """The chains of one question, where a ranker has any to count."""
    return float(ranker.find(dataset.split(split)[0]).chains) if isinstance(ranker, PathRerank) else None
