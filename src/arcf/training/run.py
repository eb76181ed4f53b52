"""A whole training run: from settings and data to a model folder, with everything that belongs beside it."""

import hashlib
import json
import platform
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from arcf.chain import ChainSettings
from arcf.errors import InputError
from arcf.files import write_text
from arcf.neighborhood import DISTANCES, Neighborhood
from arcf.rankers import Autoregressive
from arcf.scorer.backbone import load_backbone
from arcf.scorer.memory import keep_pages
from arcf.scorer.torch import TorchScorer, make_model
from arcf.training.card import model_card
from arcf.training.checkpoint import has_checkpoint, load_checkpoint, save_checkpoint
from arcf.training.distributed import Workers, workers
from arcf.training.feed import Feed
from arcf.training.log import Bar, Log
from arcf.training.samples import Sampler
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Callback, StepReport, Trainer
from arcf.training.validation import Validation, averaged, mean_average_precision
from arcf.types import Dataset, Question


@dataclass(frozen=True, slots=True)
class Split:
    """Training questions, and those of them that validation uses and training does not."""

    learnt: tuple[Question, ...]
    held_out: tuple[Question, ...]


class Checkpoints:
    """Writes a checkpoint every so many minutes, and at the end."""

    def __init__(self, folder: Path, fingerprint: str, minutes: float) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._seconds = minutes * 60
        self._last = time.monotonic()

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Write if it is time."""
        del report
        if time.monotonic() - self._last >= self._seconds:
            self.at_end(trainer)

    def at_end(self, trainer: Trainer) -> None:
        """Write."""
        save_checkpoint(trainer, self._folder, self._fingerprint)
        self._last = time.monotonic()


def train(
    settings: TrainingSettings, dataset: Dataset, output: Path, console: Console, *, resume: bool = False
) -> Path:
    """Train a model into the folder `output`; gives the folder of the finished model inside it.

    Beside the model lie the checkpoint to resume from, the log, and a manifest of settings, data, versions and scores.

    Raises:
        InputError: there is nothing to learn from, nothing to resume, or something that would be overwritten.
    """
    split = split_questions(dataset, settings)
    checkpoints = output / "checkpoint"
    if resume and not has_checkpoint(checkpoints):
        raise InputError("holds no checkpoint to resume from; train without --resume.", output)
    if not resume and output.exists() and any(output.iterdir()):
        raise InputError("is not empty; resume the run that is in it, or choose another folder.", output)
    keep_pages()
    with workers() as group:
        torch.manual_seed(settings.run.seed)
        key = fingerprint(settings, dataset)
        trainer = _make_trainer(settings, dataset, split, group)
        if resume:
            load_checkpoint(trainer, checkpoints, key)
        data = _describe(settings, dataset, split)
        if group.is_first:
            trainer.callbacks = _callbacks(trainer, settings, dataset, split, output, console, key)
            _write_manifest(output, settings, data, key)
        trainer.run()
        if group.is_first:
            _finish(output, settings, data, key, trainer)
    return output / "model"


def split_questions(dataset: Dataset, settings: TrainingSettings) -> Split:
    """Hold out questions for validation: the same ones for every seed, so that runs can be compared.

    Raises:
        InputError: no question with gold facts is left to learn from.
    """
    questions = [question for question in dataset.split(settings.data.split) if dataset.gold_ids(question)]
    if len(questions) <= settings.data.held_out:
        raise InputError(
            f"has {len(questions)} questions with gold facts in the split {settings.data.split}, of which "
            f"{settings.data.held_out} are to be held out; nothing is left to learn from.",
            dataset.name,
        )
    order = np.random.default_rng(0).permutation(len(questions)).tolist()
    held_out = set(order[: settings.data.held_out])
    return Split(
        learnt=tuple(question for number, question in enumerate(questions) if number not in held_out),
        held_out=tuple(questions[number] for number in sorted(held_out)),
    )


def fingerprint(settings: TrainingSettings, dataset: Dataset) -> str:
    """A hash of everything that decides the numbers of a run: settings, facts, questions, gold."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for fact in dataset.facts:
        digest.update(f"{fact.uid}\0{fact.text}\0".encode())
    for question in dataset.split(settings.data.split):
        gold = " ".join(gold.uid for gold in question.gold)
        digest.update(f"{question.id}\0{question.query()}\0{gold}\0".encode())
    return digest.hexdigest()


def _make_trainer(settings: TrainingSettings, dataset: Dataset, split: Split, group: Workers) -> Trainer:
    backbone = load_backbone(settings.model.name, settings.model.dropout)
    if settings.model.freeze_embeddings:
        backbone.embeddings.word.weight.requires_grad_(False)
    model = make_model(backbone, settings.model.encoding)
    model.to(_device(settings))
    facts = backbone.encoder.facts([fact.text for fact in dataset.facts])
    sampler = Sampler(dataset, split.learnt, settings.sampling, settings.run.seed)
    return Trainer(
        model=model,
        backbone=backbone,
        feed=Feed(sampler, make_neighborhood(dataset, settings), backbone.encoder, facts),
        settings=settings.optimisation,
        workers=group,
        bfloat16=_bfloat16(settings),
        encoding=settings.model.encoding,
    )


def make_neighborhood(dataset: Dataset, settings: TrainingSettings) -> Neighborhood:
    """The paper's neighborhood: tf-idf, fitted on the facts and the training questions."""
    return Neighborhood(dataset.facts, DISTANCES["tfidf"].build(dataset.facts, dataset.split(settings.data.split)))


def _callbacks(  # noqa: PLR0913 - one per thing that a callback needs
    trainer: Trainer,
    settings: TrainingSettings,
    dataset: Dataset,
    split: Split,
    output: Path,
    console: Console,
    key: str,
) -> list[Callback]:
    log = Log(output, trainer.progress.step)
    wanted = settings.validation
    chains = ChainSettings(k=wanted.k, longest=wanted.longest, shortest=wanted.longest, rescored=wanted.rescored)
    scorer = TorchScorer(trainer.model, trainer.feed.facts)
    ranker = Autoregressive(scorer, trainer.feed.neighborhood, chains)
    validation = Validation(
        lambda: mean_average_precision(ranker, dataset, split.held_out), wanted.every, log, output / "best"
    )
    checkpoints = Checkpoints(output / "checkpoint", key, settings.run.checkpoint_minutes)
    bar = Bar(console, trainer.samples, trainer.progress.position)
    return [log, bar, *([validation] if split.held_out else []), checkpoints]


def _device(settings: TrainingSettings) -> torch.device:
    if settings.run.device != "auto":
        return torch.device(settings.run.device)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _bfloat16(settings: TrainingSettings) -> bool:
    if settings.run.precision == "auto":
        return _device(settings).type == "cuda" and torch.cuda.is_bf16_supported()
    return settings.run.precision == "bfloat16"


def _describe(settings: TrainingSettings, dataset: Dataset, split: Split) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "split": settings.data.split,
        "facts": len(dataset.facts),
        "questions": len(split.learnt),
        "held_out": len(split.held_out),
    }


def _write_manifest(
    output: Path, settings: TrainingSettings, data: Mapping[str, Any], key: str, **results: Any
) -> None:
    """What the run was made of, for anyone who wants to repeat it."""
    record = {
        "settings": asdict(settings),
        "data": data,
        "fingerprint": key,
        "versions": {name: version(name) for name in ("arcf", "torch", "transformers", "numpy", "tokenizers")}
        | {"python": platform.python_version()},
        "threads": torch.get_num_threads(),
        **results,
    }
    write_text(output / "manifest.json", json.dumps(record, indent=2) + "\n")


def _finish(output: Path, settings: TrainingSettings, data: Mapping[str, Any], key: str, trainer: Trainer) -> None:
    """The final model: the best one by validation, or the last one where nothing was held out."""
    final = output / "model"
    if data["held_out"]:
        shutil.copytree(output / "best", final, dirs_exist_ok=True)
    else:
        with averaged(trainer):
            trainer.backbone.save(final, trainer.encoding)
    progress = trainer.progress
    scores: dict[str, float] = {"samples_seen": progress.position, "prefixes_shortened": progress.prefixes_shortened}
    if data["held_out"]:
        scores |= {"held_out_map": round(progress.best_map, 4), "best_after_samples": progress.best_position}
    write_text(final / "README.md", model_card(settings, data, scores))
    _write_manifest(output, settings, data, key, results=scores)
