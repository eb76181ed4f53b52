"""A whole training run: from settings and data to a model folder, with everything that belongs beside it."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from arcf.config import as_toml
from arcf.errors import InputError
from arcf.files import make_folder, write_text
from arcf.scorer.exported.folder import CARD, TRAINING
from arcf.scorer.loading import make_precedents, make_prior, untrained_encoder
from arcf.scorer.network.backbone import load_backbone
from arcf.scorer.network.scorer import find_device, make_model
from arcf.scorer.tokens import ChainTokenizer
from arcf.training.card import model_card
from arcf.training.checkpoint import Checkpoints, has_checkpoint, load_checkpoint
from arcf.training.distributed import Workers, workers
from arcf.training.feed import Corpus, Feed
from arcf.training.figures import CHOICES, Figures
from arcf.training.folder import whole_folder
from arcf.training.held_out import HeldOut
from arcf.training.log import Log
from arcf.training.losses import LOSSES
from arcf.training.manifest import TrainingManifest
from arcf.training.memory import keep_pages
from arcf.training.samplers import make_sampler
from arcf.training.settings import TrainingSettings
from arcf.training.sources import Source, make_sources
from arcf.training.teacher_scores import TeacherScores, read_teacher
from arcf.training.trainer import Callback, Progress, Trainer
from arcf.training.validation import Validation, averaged
from arcf.types import Dataset

SETTINGS, CHECKPOINT, BEST, MODEL, MANIFEST = "settings.toml", "checkpoint", "best", "model", "manifest.json"

#: What torch calls the instructions of processors that multiply in bfloat16.
BFLOAT16 = ("amx_bf16", "avx512_bf16", "bf16")


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """What a run has led to: the folder of the model, and what it took.

    `held_out_map` is that of the weights that were kept, the mean over corpora, and `held_out_maps` has all that was
    measured of them: by corpus NAME, and its parts (NAME_unseen and so on; see `training.figures`). These weights had
    seen `best_after` samples. Where no question was held out, there is none of it. `seconds` are those of the steps,
    without validation.
    """

    folder: Path
    samples: int
    tokens: int
    seconds: float
    held_out_map: float | None = None
    held_out_maps: Mapping[str, float] = field(default_factory=dict)
    best_after: int | None = None


def train(
    settings: TrainingSettings,
    datasets: Mapping[str, Dataset],
    output: Path,
    callbacks: Sequence[Callback] = (),
    *,
    resume: bool = False,
) -> TrainedModel:
    """Train a model into the folder `output`; `datasets` are those of `settings.data.corpora`, by name.

    Beside the model lie the settings, the checkpoint to resume from, the log, the best model so far, and a manifest of
    settings, data, versions and scores. `callbacks` are called besides those that write these.

    Raises:
        InputError: there is nothing to learn from, nothing to resume, or something that would be overwritten.
        SettingError: there is no such device, or training has diverged.
        OSError: the disk is full; the last checkpoint is still there.
    """
    sources = make_sources(settings, datasets)
    _check_output(output, resume=resume)
    device = find_device(settings.run.device)
    keep_pages()
    with workers() as group:
        trainer = make_trainer(settings, sources, group, device)
        key = fingerprint(settings, sources)
        if resume and has_checkpoint(output / CHECKPOINT):
            load_checkpoint(trainer, output / CHECKPOINT, key)
        if group.is_first:
            described = [source.describe() for source in sources]
            precision = "bfloat16" if trainer.bfloat16 else "float32"
            manifest = TrainingManifest(settings, described, key, group.count, precision)
            make_folder(output)
            write_text(output / SETTINGS, as_toml(settings))
            manifest.write(output / MANIFEST)
            with closing(Log(output, trainer.progress.step)) as log:
                validation = _validation(trainer, settings, sources, output / BEST, log)
                checkpoints = Checkpoints(output / CHECKPOINT, key, settings.run.checkpoint_minutes)
                trainer.callbacks = [log, *callbacks, *validation, checkpoints]
                trainer.run()
            _finish(output, manifest, trainer)
        else:
            trainer.run()
    return _trained(output / MODEL, trainer.progress)


def _trained(folder: Path, progress: Progress) -> TrainedModel:
    trained = TrainedModel(folder, progress.position, progress.tokens, progress.seconds)
    if progress.best_position < 0:
        return trained
    return replace(
        trained,
        held_out_map=progress.best_map,
        held_out_maps=progress.best_maps,
        best_after=progress.best_position,
    )


def _check_output(output: Path, *, resume: bool) -> None:
    """Resuming a run that ended before its first checkpoint begins it again."""
    if resume and not has_checkpoint(output / CHECKPOINT) and not (output / SETTINGS).exists():
        raise InputError("holds no run to resume; name the folder of one, or train without --resume.", output)
    if not resume and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("is not an empty folder; resume the run that is in it, or choose another.", output)


def fingerprint(settings: TrainingSettings, sources: Sequence[Source]) -> str:
    """A hash of everything that decides the numbers of a run: settings, facts, questions, gold."""
    values = asdict(settings)
    del values["run"]["checkpoint_minutes"], values["data"]["dataset"]
    for section in values["data"]["datasets"].values():
        del section["dataset"]
    if settings.teacher:
        values["teacher"]["scores"] = read_teacher(Path(settings.teacher.scores))
    values["content"] = [source.digest() for source in sources]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def make_trainer(
    settings: TrainingSettings, sources: Sequence[Source], group: Workers, device: torch.device
) -> Trainer:
    """A trainer at the start of its run, without callbacks. The seed decides a new score head's weights."""
    torch.manual_seed(settings.run.seed)
    backbone = load_backbone(settings.model.name, settings.model.dropout).with_settings(settings.scorer)
    if settings.model.frozen_layers is not None:
        backbone.freeze(settings.model.frozen_layers)
    model = make_model(backbone, settings.model.encoding)
    model.to(device)
    corpora = [make_corpus(source, settings, backbone.tokenizer) for source in sources]
    contrasts = LOSSES[settings.optimisation.loss].contrasts and settings.teacher is None
    trainer = Trainer(
        model=model,
        feed=Feed(corpora, model.cost, contrasts=contrasts, seed=settings.run.seed),
        settings=settings.optimisation,
        workers=group,
        bfloat16=_bfloat16(settings, device),
        seed=settings.run.seed,
        teacher=settings.teacher,
    )
    for corpus, samples in zip(corpora, trainer.feed.mix.taken(trainer.samples), strict=True):
        if corpus.teacher is not None:
            corpus.teacher.require(samples)
    return trainer


def make_corpus(source: Source, settings: TrainingSettings, tokenizer: ChainTokenizer) -> Corpus:
    """What training draws from a source."""
    material, seed, teacher = source.material(), settings.run.seed, settings.teacher
    texts = [fact.text for fact in material.dataset.facts]
    return Corpus(
        neighborhood=material.neighborhood,
        sampler=make_sampler(material, source.sampling, seed),
        tokenizer=tokenizer,
        facts=tokenizer.facts(texts),
        prior=make_prior(settings.scorer, texts),
        precedents=make_precedents(
            settings.scorer, material.dataset, material.questions, untrained_encoder(settings.scorer)
        ),
        weight=source.settings.weight,
        teacher=TeacherScores(Path(teacher.scores), source.name, source.samples_key(seed)) if teacher else None,
    )


def _validation(
    trainer: Trainer, settings: TrainingSettings, sources: Sequence[Source], folder: Path, log: Log
) -> list[Callback]:
    """Validation, if any question is held out for it."""
    pairs = zip(sources, trainer.feed.corpora, strict=True)
    held_out = {
        source.name: HeldOut(source, _whole(source, corpus, settings), settings)
        for source, corpus in pairs
        if source.split.held_out
    }
    if not held_out:
        return []

    def measure() -> dict[str, Figures]:
        return {name: own.measure(trainer.model) for name, own in held_out.items()}

    choose = CHOICES[settings.validation.choose_by]
    return [Validation(measure, choose, settings.validation.every, log, folder)]


def _whole(source: Source, corpus: Corpus, settings: TrainingSettings) -> Corpus:
    """The corpus with the facts that training does not show: those who ask see them all."""
    if source.split.shown is source.dataset:
        return corpus
    everything = replace(source, split=replace(source.split, shown=source.dataset), mined={})
    return make_corpus(everything, settings, corpus.tokenizer)


def _bfloat16(settings: TrainingSettings, device: torch.device) -> bool:
    """A processor that must imitate bfloat16 is slower with it than with float32; one that has it, much faster."""
    if settings.run.precision != "auto":
        return settings.run.precision == "bfloat16"
    if device.type == "cpu":
        return any(torch.cpu.get_capabilities().get(name) for name in BFLOAT16)
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def _finish(output: Path, manifest: TrainingManifest, trainer: Trainer) -> None:
    """The final model: the best one by validation, or the last one where nothing was held out."""
    progress = trainer.progress
    validated = progress.best_position >= 0
    scores: dict[str, Any] = {
        "samples_seen": progress.position,
        "samples_left_out": progress.left_out,
        "prefixes_shortened": progress.prefixes_shortened,
    }
    if validated:
        scores |= {
            "held_out_map": round(progress.best_map, 4),
            "held_out_maps": {name: round(value, 4) for name, value in progress.best_maps.items()},
            "best_after_samples": progress.best_position,
        }
    with whole_folder(output / MODEL) as folder:
        if validated:
            shutil.copytree(output / BEST, folder, dirs_exist_ok=True)
        else:
            with averaged(trainer):
                trainer.backbone.save(folder)
        write_text(folder / CARD, model_card(manifest.settings, manifest.data, scores))
        manifest.write(folder / TRAINING, results=scores)
    manifest.write(output / MANIFEST, results=scores)
