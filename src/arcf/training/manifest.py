"""What a training run was made of, in a file beside its model."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from arcf.files import write_text
from arcf.training.settings import TrainingSettings

LIBRARIES = ("arcf", "torch", "transformers", "numpy", "tokenizers")


@dataclass(frozen=True, slots=True)
class TrainingManifest:
    """What a run was made of, for anyone who wants to repeat it.

    `data` describes each corpus that was learnt from; `precision` is what it was computed in, where the settings leave
    the choice to the machine.
    """

    settings: TrainingSettings
    data: Sequence[Mapping[str, Any]]
    fingerprint: str
    processes: int
    precision: str

    def write(self, path: Path, **results: Any) -> None:
        """Write all of this, the versions of what computed it, and its results once they are known, as JSON."""
        record = asdict(self) | {
            "versions": {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()},
            "threads": torch.get_num_threads(),
            **results,
        }
        write_text(path, json.dumps(record, indent=2) + "\n")
