"""A whole training run: from settings and data to a model folder, with everything that belongs beside it."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from arcf.chain import ChainSettings
from arcf.config import as_toml
from arcf.errors import InputError
from arcf.evaluation import mean_average_precision
from arcf.files import make_folder, write_text
from arcf.neighborhood import FactIds, make_neighborhood
from arcf.rankers import Autoregressive
from arcf.runs import Run, rank_questions, read_run
from arcf.scorer.exported.folder import CARD, TRAINING
from arcf.scorer.network.backbone import load_backbone
from arcf.scorer.network.scorer import TorchScorer, find_device, make_model
from arcf.scorer.prior import LexicalPrior, WithPrior
from arcf.training.card import model_card
from arcf.training.checkpoint import Checkpoints, has_checkpoint, load_checkpoint
from arcf.training.distributed import Workers, workers
from arcf.training.feed import Corpus, Feed
from arcf.training.folder import whole_folder
from arcf.training.log import Log
from arcf.training.losses import LOSSES
from arcf.training.manifest import TrainingManifest
from arcf.training.memory import keep_pages
from arcf.training.samplers import Material, make_sampler
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Callback, Trainer
from arcf.training.validation import Validation, averaged
from arcf.types import Dataset, Question

SETTINGS, CHECKPOINT, BEST, MODEL, MANIFEST = "settings.toml", "checkpoint", "best", "model", "manifest.json"


@dataclass(frozen=True, slots=True)
class Split:
    """Training questions, and those of them that validation uses and training does not."""

    learnt: tuple[Question, ...]
    held_out: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """What a run has led to: the folder of the model, and what it took.

    `held_out_map` is that of the weights that were kept, which had seen `best_after` samples; both are None where no
    question was held out. `seconds` are those of the steps, without validation.
    """

    folder: Path
    samples: int
    tokens: int
    seconds: float
    held_out_map: float | None
    best_after: int | None


def train(
    settings: TrainingSettings,
    dataset: Dataset,
    output: Path,
    callbacks: Sequence[Callback] = (),
    *,
    resume: bool = False,
) -> TrainedModel:
    """Train a model into the folder `output`.

    Beside the model lie the settings, the checkpoint to resume from, the log, the best model so far, and a manifest of
    settings, data, versions and scores. `callbacks` are called besides those that write these.

    Raises:
        InputError: there is nothing to learn from, nothing to resume, or something that would be overwritten.
        SettingError: there is no such device, or training has diverged.
        OSError: the disk is full; the last checkpoint is still there.
    """
    split = split_questions(dataset, settings)
    _check_output(output, resume=resume)
    device = find_device(settings.run.device)
    keep_pages()
    with workers() as group:
        trainer = make_trainer(settings, dataset, split, group, device)
        key = fingerprint(settings, dataset)
        if resume and has_checkpoint(output / CHECKPOINT):
            load_checkpoint(trainer, output / CHECKPOINT, key)
        if group.is_first:
            manifest = TrainingManifest(settings, _describe(settings, dataset, split), key, group.count)
            make_folder(output)
            write_text(output / SETTINGS, as_toml(settings))
            manifest.write(output / MANIFEST)
            with closing(Log(output, trainer.progress.step)) as log:
                validation = _validation(trainer, settings, dataset, split, output / BEST, log)
                checkpoints = Checkpoints(output / CHECKPOINT, key, settings.run.checkpoint_minutes)
                trainer.callbacks = [log, *callbacks, *validation, checkpoints]
                trainer.run()
            _finish(output, manifest, trainer)
        else:
            trainer.run()
    return _trained(output / MODEL, trainer, validated=bool(split.held_out))


def _trained(folder: Path, trainer: Trainer, *, validated: bool) -> TrainedModel:
    progress = trainer.progress
    best = (progress.best_map, progress.best_position) if validated and trainer.workers.is_first else (None, None)
    return TrainedModel(folder, progress.position, progress.tokens, progress.seconds, *best)


def _check_output(output: Path, *, resume: bool) -> None:
    """Resuming a run that ended before its first checkpoint begins it again."""
    if resume and not has_checkpoint(output / CHECKPOINT) and not (output / SETTINGS).exists():
        raise InputError("holds no run to resume; train without --resume.", output)
    if not resume and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("is not an empty folder; resume the run that is in it, or choose another.", output)


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
    values = asdict(settings)
    del values["run"]["checkpoint_minutes"], values["data"]["dataset"]
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for question_id, facts in read_mined(settings, dataset).items():
        digest.update(f"{question_id}\0".encode() + facts.tobytes())
    for fact in dataset.facts:
        digest.update(f"{fact.uid}\0{fact.text}\0".encode())
    for question in dataset.split(settings.data.split):
        gold = " ".join(gold.uid for gold in question.gold)
        asked = question.asked(settings.sampling.query).query()
        digest.update(f"{question.id}\0{question.query()}\0{asked}\0{gold}\0".encode())
    return digest.hexdigest()


def make_trainer(
    settings: TrainingSettings, dataset: Dataset, split: Split, group: Workers, device: torch.device
) -> Trainer:
    """A trainer at the start of its run, without callbacks. The seed decides a new score head's weights."""
    torch.manual_seed(settings.run.seed)
    backbone = load_backbone(settings.model.name, settings.model.dropout).with_settings(settings.scorer)
    if settings.model.freeze_embeddings:
        backbone.embeddings.word.weight.requires_grad_(False)
    model = make_model(backbone, settings.model.encoding)
    model.to(device)
    texts = [fact.text for fact in dataset.facts]
    neighborhood = make_neighborhood(dataset, settings.sampling.distance)
    material = Material(dataset, split.learnt, neighborhood, read_mined(settings, dataset))
    corpus = Corpus(
        neighborhood=neighborhood,
        sampler=make_sampler(material, settings.sampling, settings.run.seed),
        tokenizer=backbone.tokenizer,
        facts=backbone.tokenizer.facts(texts),
        prior=LexicalPrior(texts, settings.model.prior) if settings.model.prior else None,
    )
    return Trainer(
        model=model,
        feed=Feed(corpus, model.cost, contrasts=LOSSES[settings.optimisation.loss].contrasts),
        settings=settings.optimisation,
        workers=group,
        bfloat16=_bfloat16(settings, device),
        seed=settings.run.seed,
    )


def read_mined(settings: TrainingSettings, dataset: Dataset) -> dict[str, FactIds]:
    """The facts of the run that hard negatives are taken from, best first, by question id; empty without mining.

    Raises:
        InputError: the run cannot be read, or has no question of the training split.
    """
    mining = settings.sampling.mining
    if mining is None:
        return {}
    rankings, ids = read_run(mining.run).rankings, dataset.ids
    mined = {
        question.id: np.array([ids[uid] for uid in rankings[question.id] if uid in ids], dtype=np.int64)
        for question in dataset.split(settings.data.split)
        if question.id in rankings
    }
    if not mined:
        raise InputError(f"has no question of the split {settings.data.split} of {dataset.name}.", mining.run)
    return mined


def _validation(
    trainer: Trainer, settings: TrainingSettings, dataset: Dataset, split: Split, folder: Path, log: Log
) -> list[Callback]:
    """Validation, if any question is held out for it."""
    if not split.held_out:
        return []
    wanted, corpus = settings.validation, trainer.feed.corpus
    chains = ChainSettings(k=wanted.k, max_facts=wanted.max_facts, min_facts=wanted.max_facts, rescored=wanted.rescored)

    def measure() -> float:
        # A new scorer for the weights as they are now.
        plain = TorchScorer(trainer.model, corpus.facts)
        scorer = plain if corpus.prior is None else WithPrior(plain, corpus.prior)
        ranker = Autoregressive(scorer, corpus.neighborhood, chains, query=settings.sampling.query)
        run = Run.of("held-out", dataset, rank_questions(ranker, split.held_out))
        return mean_average_precision(run, dataset, split.held_out)

    return [Validation(measure, wanted.every, log, folder)]


def _bfloat16(settings: TrainingSettings, device: torch.device) -> bool:
    if settings.run.precision == "auto":
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return settings.run.precision == "bfloat16"


def _describe(settings: TrainingSettings, dataset: Dataset, split: Split) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "split": settings.data.split,
        "facts": len(dataset.facts),
        "questions": len(split.learnt),
        "held_out": len(split.held_out),
    }


def _finish(output: Path, manifest: TrainingManifest, trainer: Trainer) -> None:
    """The final model: the best one by validation, or the last one where nothing was held out."""
    progress, validated = trainer.progress, bool(manifest.data["held_out"])
    scores: dict[str, float] = {
        "samples_seen": progress.position,
        "samples_left_out": progress.left_out,
        "prefixes_shortened": progress.prefixes_shortened,
    }
    if validated:
        scores |= {"held_out_map": round(progress.best_map, 4), "best_after_samples": progress.best_position}
    with whole_folder(output / MODEL) as folder:
        if validated:
            shutil.copytree(output / BEST, folder, dirs_exist_ok=True)
        else:
            with averaged(trainer):
                trainer.backbone.save(folder)
        write_text(folder / CARD, model_card(manifest.settings, manifest.data, scores))
        manifest.write(folder / TRAINING, results=scores)
    manifest.write(output / MANIFEST, results=scores)
