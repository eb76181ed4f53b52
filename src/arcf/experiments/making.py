"""Jobs that make models."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from arcf.experiments.commands import command, train_command
from arcf.experiments.place import Job, Place, load_dataset
from arcf.experiments.random_weights import write_random_model
from arcf.scorer.export import export
from arcf.training.run import BEST, CHECKPOINT, MODEL, SETTINGS, train
from arcf.training.settings import TrainingSettings
from arcf.training.split import split_questions

#: Tokens of a mean prefix in training, and of a fact with its marks.
PREFIX_TOKENS, FACT_TOKENS = 70, 13


@dataclass(frozen=True, slots=True)
class InitJob(Job):
    """A model with random weights; see `random_weights`."""

    source: str
    tiny: bool = False
    kind: ClassVar[str] = "init"

    @property
    def title(self) -> str:
        """What it is about."""
        return "random weights"

    def product(self, place: Place) -> Path:
        """Where the model is."""
        return place.of(self) / MODEL

    def command(self, place: Place) -> str:
        """There is no command of arcf for it: the module is one."""
        tiny = ["--tiny"] if self.tiny else []
        return command("python", "-m", "arcf.experiments.random_weights", self.source, self.product(place), *tiny)

    def run(self, place: Place) -> dict[str, Any]:
        """Write the model."""
        write_random_model(self.source, self.product(place), tiny=self.tiny)
        return {}


@dataclass(frozen=True, slots=True)
class TrainJob(Job):
    """A trained model; `start`, if given, is what its weights begin as."""

    system: str
    settings: TrainingSettings
    start: InitJob | None = None
    kind: ClassVar[str] = "train"

    def __hash__(self) -> int:
        """Settings have no hash of their own: those of several corpora are in a mapping."""
        return hash((self.system, repr(self.settings), self.start))

    @property
    def title(self) -> str:
        """What it is about."""
        return f"{self.system}, {self.settings.data.dataset}, seed {self.settings.run.seed}"

    def product(self, place: Place) -> Path:
        """Where the model is."""
        return self._output(place) / MODEL

    def command(self, place: Place) -> str:
        """`arcf train`."""
        return train_command(self._settings(place), place.preset, self._output(place))

    def samples(self) -> float:
        """How many samples it sees."""
        settings = self.settings
        corpora = settings.data.corpora.values()
        learnt = sum(len(split_questions(load_dataset(str(own.dataset)), own).learnt) * own.weight for own in corpora)
        return settings.optimisation.epochs * settings.sampling.prefixes * learnt

    def tokens(self) -> float:
        """Prefixes and candidates of all samples, forward and backward counted as one."""
        sampling = self.settings.sampling
        pool = len(load_dataset(self.settings.data.dataset).facts) if sampling.pool == "corpus" else 3 * sampling.k
        candidates = (pool if sampling.negatives is None else sampling.negatives) + 5
        prefixes = 1 + (sampling.paths.starts if sampling.kind == "paths" else 0)
        if self.settings.model.encoding == "joint":
            return self.samples() * prefixes * candidates * (PREFIX_TOKENS + FACT_TOKENS)
        return self.samples() * prefixes * (PREFIX_TOKENS + candidates * FACT_TOKENS)

    def run(self, place: Place) -> dict[str, Any]:
        """Train, from the last checkpoint on if there is one. What is only good for going on is removed at the end."""
        # A run goes on from whichever folder the command is given again.
        output, settings = self._output(place), self._settings(replace(place, folder=place.folder.absolute()))
        datasets = {name: load_dataset(str(own.dataset)) for name, own in settings.data.corpora.items()}
        trained = train(settings, datasets, output, resume=(output / SETTINGS).exists())
        for name in (CHECKPOINT, BEST):
            shutil.rmtree(output / name, ignore_errors=True)
        return {
            "samples": trained.samples,
            "tokens": trained.tokens,
            "train_seconds": trained.seconds,
            "held_out_map": trained.held_out_map,
        }

    def _output(self, place: Place) -> Path:
        return place.of(self) / "run"

    def _settings(self, place: Place) -> TrainingSettings:
        if self.start is None:
            return self.settings
        return replace(self.settings, model=replace(self.settings.model, name=str(self.start.product(place))))


@dataclass(frozen=True, slots=True)
class ExportJob(Job):
    """A trained model as ONNX, which ranks faster on a processor."""

    model: TrainJob
    precision: str
    kind: ClassVar[str] = "export"

    @property
    def title(self) -> str:
        """What it is about."""
        return self.model.title

    def product(self, place: Place) -> Path:
        """Where the model is."""
        return place.of(self) / MODEL

    def command(self, place: Place) -> str:
        """`arcf export`."""
        made = self.model.product(place)
        return command("arcf", "export", made, "--precision", self.precision, "--output", self.product(place))

    def run(self, place: Place) -> dict[str, Any]:
        """Export it."""
        export(self.model.product(place), self.product(place), self.precision)
        return {}


Model = TrainJob | ExportJob
