"""Settings as the options of a command: what makes a job's result again by hand."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arcf.config import read_settings
from arcf.rankers import RankerSettings
from arcf.training.settings import TrainingSettings


def train_command(settings: TrainingSettings, preset: str, output: Path) -> str:
    """The command that trains with these settings: a preset, and all that differs from it."""
    usual = asdict(read_settings(TrainingSettings, preset=preset))
    return _joined(["arcf", "train", "--preset", preset, *_sets(asdict(settings), usual), "--output", str(output)])


def rank_options(settings: RankerSettings, model: Path | None) -> list[str]:
    """The options of `arcf rank` that describe a ranker."""
    values, usual = settings.to_dict(), RankerSettings().to_dict()
    for name in ("kind", "model"):
        del values[name], usual[name]
    named = ["--model", str(model)] if model is not None else []
    return ["--ranker", settings.kind, *named, *_sets(values, usual)]


def command(*words: str | Path | float) -> str:
    """Words as a line for the shell."""
    return _joined([str(word) for word in words])


def into(folder: Path, line: str) -> str:
    """A line that writes a file into a folder, which `arcf` does not make."""
    return f"{command('mkdir', '-p', folder)} && {line}"


def _joined(words: list[str]) -> str:
    return shlex.join(words)


def _sets(values: Mapping[str, Any], usual: Mapping[str, Any]) -> list[str]:
    found, expected = dict(_leaves(values)), dict(_leaves(usual))
    # A section that is switched off has no leaves of its own.
    changed = {key: value for key, value in found.items() if key not in expected or expected[key] != value}
    return [word for key, value in changed.items() for word in ("--set", f"{key}={_written(value)}")]


def _leaves(values: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{section}{key}.")
        else:
            yield f"{section}{key}", value


def _written(value: Any) -> str:
    return "none" if value is None else json.dumps(value)
