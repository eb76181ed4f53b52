"""How fast the two encodings train: the same samples, in turns, on the same weights.

A round is one step of the shared-prefix encoding (about 5,000 tokens: 9 prefixes with 37 candidates each) and as many
steps of the joint encoding as the same samples take. Whatever else the machine does meets both. A step is forward,
backward and optimiser; drawing the samples is not counted.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch

from arcf.bench.samples import worldtree_or_made_up
from arcf.neighborhood import make_neighborhood
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.scorer.network.scorer import make_model
from arcf.training.feed import Corpus, Feed, StepTerms
from arcf.training.memory import keep_pages
from arcf.training.samplers import Material, Sampling, make_sampler
from arcf.training.settings import OptimisationSettings
from arcf.training.trainer import StepReport, Trainer
from arcf.types import Dataset

SEED = 0
COMPARED = ("shared_prefix", "joint")
"""The late encoding computes in training what the shared prefix does."""


@dataclass(slots=True)
class Speed:
    """What one encoding got through. A sample is a candidate after a prefix."""

    samples: int = 0
    tokens: int = 0
    steps: int = 0
    seconds: float = 0.0

    def add(self, step: StepTerms, report: StepReport) -> None:
        """Count one more step."""
        self.samples += sum(len(term.candidates) for term in step.terms)
        self.tokens += report.tokens
        self.steps += 1
        self.seconds += report.seconds

    @property
    def samples_per_second(self) -> float:
        """Candidates a second."""
        return self.samples / self.seconds

    @property
    def tokens_per_second(self) -> float:
        """Tokens that the encoding computes, a second."""
        return self.tokens / self.seconds


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """Both encodings, and what they were measured with."""

    model: str
    dataset: str
    threads: int
    allocator: str
    speeds: Mapping[str, Speed]

    @property
    def ratio(self) -> float:
        """How many times more samples a second the shared prefix gives."""
        return self.speeds["shared_prefix"].samples_per_second / self.speeds["joint"].samples_per_second


def measure_training(model: str, seconds: float) -> TrainingSpeed:
    """Train with both encodings in turns for about so long, but at least one round.

    WorldTree's samples are used where it is installed, made-up ones of the same lengths otherwise.

    Raises:
        InputError: there is no such model.
    """
    allocator = _allocator(kept=keep_pages())
    backbone = load_backbone(model, dropout=0.0)
    dataset = worldtree_or_made_up(backbone.tokenizer.raw)
    corpus = _corpus(backbone, dataset)
    settings = OptimisationSettings()
    models = {name: make_model(backbone, name) for name in COMPARED}
    trainers = {name: Trainer(own, Feed([corpus], own.cost), settings) for name, own in models.items()}
    feeds = {name: trainer.feed for name, trainer in trainers.items()}
    speeds = {name: Speed() for name in COMPARED}
    for name, steps in next(_rounds(feeds, settings.tokens_per_step)).items():
        trainers[name].step(steps[0], perf_counter())
    end = perf_counter() + seconds
    for steps_of in _rounds(feeds, settings.tokens_per_step):
        for name, steps in steps_of.items():
            for step in steps:
                speeds[name].add(step, trainers[name].step(step, perf_counter()))
        if perf_counter() >= end:
            break
    return TrainingSpeed(model, dataset.name, torch.get_num_threads(), allocator, speeds)


def _corpus(backbone: Backbone, dataset: Dataset) -> Corpus:
    neighborhood = make_neighborhood(dataset)
    sampler = make_sampler(Material(dataset, dataset.split("train"), neighborhood), Sampling(), SEED)
    facts = backbone.tokenizer.facts([fact.text for fact in dataset.facts])
    return Corpus(neighborhood, sampler, backbone.tokenizer, facts)


def _rounds(feeds: Mapping[str, Feed], tokens: int) -> Iterator[Mapping[str, Sequence[StepTerms]]]:
    """The steps of each encoding for the same samples, round after round; the shared prefix sets the pace."""
    start = 0
    for step in feeds["shared_prefix"].steps(0, sys.maxsize, tokens):
        yield {name: list(feed.steps(start, step.position, tokens)) for name, feed in feeds.items()}
        start = step.position


def _allocator(*, kept: bool) -> str:
    """What training's speed on a CPU hangs on; see `training.memory`."""
    preloaded = os.environ.get("LD_PRELOAD")
    return preloaded or ("glibc, freed pages kept" if kept else "the system's default")
