"""What a run learns from: the datasets that its settings name, and which of their questions are held out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from arcf.errors import InputError
from arcf.neighborhood import FactIds, make_neighborhood
from arcf.runs import read_run
from arcf.training.samplers import SAMPLERS, Material, Sampling
from arcf.training.settings import CorpusSettings, TrainingSettings
from arcf.training.split import Split, all_questions, split_questions
from arcf.types import Dataset

#: Raised when samplers draw other samples from the same settings: a teacher's scores of the old ones are stale.
SAMPLES = 1


@dataclass(frozen=True, eq=False)
class Source:
    """One dataset of a run, by the name that the settings give it.

    `mined` gives the facts of the run that hard negatives are taken from, best first, by question id: the numbers are
    those of `split.shown`. `encoder` is that of embeddings that make facts visible, where they do.
    """

    name: str
    settings: CorpusSettings
    sampling: Sampling
    dataset: Dataset
    split: Split
    mined: Mapping[str, FactIds]
    encoder: str | None = None

    def material(self) -> Material:
        """What samples are drawn from."""
        shown = self.split.shown
        near = make_neighborhood(shown, self.sampling.distance, self.encoder)
        return Material(shown, self.split.learnt, near, self.mined)

    def describe(self) -> dict[str, Any]:
        """What a manifest and a model card say of it."""
        return {
            "name": self.dataset.name,
            "split": self.settings.split,
            "facts": len(self.dataset.facts),
            "questions": len(self.split.learnt),
            "held_out": len(self.split.held_out),
            "held_out_facts": len(self.dataset.facts) - len(self.split.shown.facts),
            "new": len(self.split.new),
            "weight": self.settings.weight,
        }

    def digest(self) -> str:
        """A hash of its content, as far as training sees it: facts, questions, gold, mined facts."""
        digest = hashlib.sha256()
        for question_id, facts in self.mined.items():
            digest.update(f"{question_id}\0".encode() + facts.tobytes())
        for fact in self.dataset.facts:
            digest.update(f"{fact.uid}\0{fact.text}\0".encode())
        for question in self.dataset.split(self.settings.split):
            gold = " ".join(gold.uid for gold in question.gold)
            asked = question.asked(self.sampling.query).query()
            digest.update(f"{question.id}\0{question.query()}\0{asked}\0{gold}\0".encode())
        for question in self.dataset.training:  # what distances learn from
            digest.update(f"{question.text}\0".encode())
        return digest.hexdigest()

    def samples_key(self, seed: int) -> str:
        """A hash of everything that decides its samples: the content, what is held out, how they are drawn."""
        sampling = asdict(self.sampling)
        if sampling["mining"]:
            del sampling["mining"]["run"]  # what is in it is part of the content
        held_out = (self.settings.held_out, self.settings.held_out_facts)
        decisive = [SAMPLES, self.digest(), held_out, sampling, seed]
        if self.encoder is not None:
            decisive.append(self.encoder)
        if self.split.shown is not self.dataset:
            decisive.append(self.split.shown.digest)
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def make_sources(settings: TrainingSettings, datasets: Mapping[str, Dataset]) -> tuple[Source, ...]:
    """What a run learns from; `datasets` are those of `settings.data.corpora`, by name.

    Raises:
        InputError: a corpus has no question to learn from, or the run of hard negatives none of any corpus.
    """
    rankings = read_run(settings.sampling.mining.run).rankings if settings.sampling.mining else {}
    # As in ranking, embeddings are those of the dense prior, if there is one.
    encoder = settings.scorer.untrained if "embedding" in settings.sampling.distance else None
    sources: list[Source] = []
    for name, corpus in settings.data.corpora.items():
        dataset, sampling = datasets[name], settings.sampling_of(corpus)
        split = (split_questions if SAMPLERS[sampling.kind].labelled else all_questions)(dataset, corpus)
        sources.append(Source(name, corpus, sampling, dataset, split, {}, encoder or None))
    sources = [_apart(source, sources) for source in sources]
    sources = [replace(own, mined=_mined(rankings, own.split.shown, own.settings.split)) for own in sources]
    if settings.sampling.mining and not any(source.mined for source in sources):
        places = " or ".join(f"the split {source.settings.split} of {source.dataset.name}" for source in sources)
        raise InputError(f"has no question of {places}.", settings.sampling.mining.run)
    return tuple(sources)


def _apart(own: Source, sources: Sequence[Source]) -> Source:
    """A corpus that neither shows nor learns what another one of the same facts holds out.

    Raises:
        InputError: it would learn questions that are held out there.
    """
    for other in sources:
        if other.name == own.name or other.dataset.digest != own.dataset.digest:
            continue
        hidden = other.dataset.ids.keys() - other.split.shown.ids.keys()
        if hidden:
            own = replace(own, split=own.split.without(hidden))
        kept_back = {question.id for question in other.split.held_out}
        if SAMPLERS[own.sampling.kind].labelled and any(question.id in kept_back for question in own.split.learnt):
            raise InputError(f"would learn questions that {other.name} holds out; hold out as many in both.", own.name)
    return own


def _mined(rankings: Mapping[str, tuple[str, ...]], dataset: Dataset, split: str) -> dict[str, FactIds]:
    return {
        question.id: np.array([dataset.ids[uid] for uid in rankings[question.id] if uid in dataset.ids], dtype=np.int64)
        for question in dataset.split(split)
        if question.id in rankings
    }
