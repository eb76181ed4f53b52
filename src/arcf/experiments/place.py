"""The folder of an experiment: where each job has its place, and what is known of the finished ones.

    FOLDER/reproduction.json          which budget this is
    FOLDER/jobs/KIND-KEY/             what a job makes
    FOLDER/jobs/KIND-KEY/result.json  its manifest and result; there only when all of it is done

Reports are made of results. What else a finished job has made, such as weights, may be deleted: it is made again when a
job that is not finished needs it.

A key is a hash of everything that a job depends on, so a job is never done twice, whichever tables ask for it, and
never mistaken for one of other settings, data or versions.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

from arcf.data import load
from arcf.data.sample import sampled
from arcf.errors import InputError
from arcf.files import make_folder, read_json_object, write_text
from arcf.scorer import model_identity
from arcf.training.settings import ModelSettings
from arcf.types import Dataset

MARK, RESULT = "reproduction.json", "result.json"
LIBRARIES = ("arcf", "torch", "transformers", "numpy", "scipy", "tokenizers", "onnxruntime")
KEY_LENGTH = 12
#: The field of a job that only people read.
LABEL = "system"


@dataclass(frozen=True, slots=True)
class Data:
    """Questions of a dataset: a split, or a fixed sample of it."""

    dataset: str
    split: str
    questions: int | None = None

    def load(self) -> Dataset:
        """The dataset, in which the split has these questions only."""
        return sampled(load_dataset(self.dataset), self.split, self.questions)

    def options(self) -> list[str]:
        """The options of commands that name them."""
        sample = [] if self.questions is None else ["--questions", str(self.questions)]
        return ["--dataset", self.dataset, "--split", self.split, *sample]


class Job(ABC):
    """One piece of work: a frozen record of plain values. What it needs are the jobs among its fields.

    `kind` is what it does: train, rank, ... Nothing else may run beside one that is done `alone`: it measures time.
    """

    __slots__ = ()
    kind: ClassVar[str]
    alone: ClassVar[bool] = False

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is about, for people."""

    @abstractmethod
    def command(self, place: "Place") -> str:
        """The command that does the same."""

    @abstractmethod
    def run(self, place: "Place") -> dict[str, Any]:
        """Do it, going on where it was; the result in plain values."""

    def product(self, place: "Place") -> Path | None:
        """What other jobs use of it: a file or a folder, None if it has nothing but a result."""
        del place
        return None

    def tokens(self) -> float:
        """About how many tokens a model reads for it: what its time is estimated from."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of an experiment, and the budget's name and training preset that its commands are written with."""

    folder: Path
    budget: str
    preset: str

    @property
    def mark(self) -> Path:
        """The file that says which budget this is; whoever does jobs has it locked."""
        return self.folder / MARK

    def begin(self) -> None:
        """Make the folder, or see that it is one of this budget.

        Raises:
            InputError: it holds something else, or cannot be written.
        """
        if self.mark.is_file():
            found = read_json_object(self.mark).get("budget")
            if found != self.budget:
                raise InputError(
                    f"holds a reproduction with the budget {found}, not {self.budget}; choose another folder.",
                    self.folder,
                )
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise InputError("holds something other than a reproduction; choose another folder.", self.folder)
        else:
            make_folder(self.folder)
            write_text(
                self.mark, json.dumps({"format": "arcf-reproduction", "version": 1, "budget": self.budget}) + "\n"
            )

    def of(self, job: Job) -> Path:
        """A job's own folder."""
        return self.folder / "jobs" / f"{job.kind}-{key_of(job)}"

    def result(self, job: Job) -> dict[str, Any] | None:
        """The result of a finished job."""
        path = self.of(job) / RESULT
        if not path.is_file():
            return None
        result: dict[str, Any] = read_json_object(path)["result"]
        return result

    def seconds(self, job: Job) -> float | None:
        """How long a finished job took, its last go at it if it took several."""
        path = self.of(job) / RESULT
        return float(read_json_object(path)["seconds"]) if path.is_file() else None

    def keep(self, job: Job, result: dict[str, Any], seconds: float) -> None:
        """Write the manifest of a finished job."""
        record = {
            "job": job.kind,
            "title": job.title,
            "command": job.command(self),
            "depends_on": _plain(job),
            "versions": _versions(),
            "seconds": round(seconds, 3),
            "result": result,
        }
        write_text(self.of(job) / RESULT, json.dumps(record, indent=1) + "\n")


def needs(job: Job) -> tuple[Job, ...]:
    """The jobs whose results a job uses: those among its fields."""
    found: list[Job] = []
    for entry in fields(job):  # type: ignore[arg-type]
        value = getattr(job, entry.name)
        found += [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Job)]
    return tuple(found)


@cache
def key_of(job: Job) -> str:
    """The hash of all that a job depends on."""
    text = json.dumps([job.kind, _plain(job), _versions()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


@cache
def load_dataset(name: str) -> Dataset:
    """A dataset, read once."""
    return load(name)


@cache
def _content(name: str) -> str:
    """A hash of a dataset's facts, questions and gold."""
    dataset, digest = load_dataset(name), hashlib.sha256()
    for fact in dataset.facts:
        digest.update(f"{fact.uid}\0{fact.text}\0{fact.core}\0".encode())
    for split, questions in sorted(dataset.splits.items()):
        digest.update(f"{split}\0".encode())
        for question in questions:
            digest.update(f"{question!r}\0".encode())
    return digest.hexdigest()


@cache
def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


@cache
def _model(name: str) -> dict[str, str]:
    return model_identity(name)


def _plain(value: Any) -> Any:
    """Plain values of all that counts: other jobs by their keys, datasets by their content, models by their files."""
    if isinstance(value, tuple):
        return [_part(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _part(part) for name, part in value.items()}
    if not is_dataclass(value):
        return value
    made = {entry.name: _part(getattr(value, entry.name)) for entry in fields(value) if entry.name != LABEL}
    if "dataset" in made:
        made["content"] = _content(made["dataset"])
    if isinstance(value, ModelSettings):
        made["files"] = _model(value.name)
    return made


def _part(value: Any) -> Any:
    return f"{value.kind}-{key_of(value)}" if isinstance(value, Job) else _plain(value)
