"""The folder of an exported model: which files it has, and whether they are as they were written.

model.onnx       the graph with its weights
lower.onnx       in the late encoding: the graph of the layers that are read ahead; model.onnx has the others
untrained/       with a dense prior: its encoder, as a folder that can be loaded like any other sentence encoder's; if
                 the layers that are read ahead are the encoder's own, lower.onnx is here, for both
config.json      the encoder's settings, tokenizer.json its vocabulary: as in the folder it was exported from
manifest.json    format, version, precision, source, and the size and SHA-256 of these files
calibration.json what makes probabilities of its scores, if the model was calibrated
README.md        the model card, training.json the manifest of the run that trained it: if the model had them
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from arcf.errors import InputError
from arcf.files import digest_file, read_text, write_text
from arcf.sentences.folder import LOWER, WHOLE

MODEL, MANIFEST, CARD, TRAINING = WHOLE, "manifest.json", "README.md", "training.json"
UNTRAINED: Final = "untrained"
SHARED_LOWER: Final = f"{UNTRAINED}/{LOWER}"

FORMAT: Final = "arcf-onnx"
VERSIONS: Final = (1, 2, 3, 4)
"""1 is one graph, 2 has a lower one, 3 a dense prior, 4 lower layers that are the prior's too. A new number is for what
older versions of arcf cannot run."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What a file was when it was written."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "FileRecord":
        """The record of a file as it is now.

        Raises:
            InputError: it cannot be read.
        """
        digest = digest_file(path)
        return cls(path.stat().st_size, digest)


@dataclass(frozen=True, slots=True)
class ExportManifest:
    """What an exported folder says of itself."""

    precision: str
    source: str
    arcf: str
    files: Mapping[str, FileRecord]

    @property
    def identity(self) -> str:
        """What tells the model from another: the checksums of its files."""
        return json.dumps({name: record.sha256 for name, record in self.files.items()}, sort_keys=True)

    @property
    def lower(self) -> str | None:
        """The graph of the layers that are read ahead, if the model has one."""
        return next((name for name in (LOWER, SHARED_LOWER) if name in self.files), None)

    @property
    def _version(self) -> int:
        if SHARED_LOWER in self.files:
            return 4
        if any(name.startswith(f"{UNTRAINED}/") for name in self.files):
            return 3
        return 2 if LOWER in self.files else 1

    def with_file(self, path: Path) -> "ExportManifest":
        """The manifest with the record of a file that was added or written again."""
        return replace(self, files={**self.files, path.name: FileRecord.of(path)})

    def write(self, folder: Path) -> None:
        """Write manifest.json; last of all files, since it vouches for them."""
        record = {"format": FORMAT, "version": self._version} | asdict(self)
        write_text(folder / MANIFEST, json.dumps(record, indent=2) + "\n")

    def check(self, folder: Path) -> None:
        """Compare every file with its record.

        Raises:
            InputError: a file is missing, truncated or changed.
        """
        for name, record in self.files.items():
            found = FileRecord.of(folder / name)
            if found.bytes != record.bytes:
                reason = f"has {found.bytes} bytes instead of {record.bytes}"
            elif found.sha256 != record.sha256:
                reason = "has the wrong checksum"
            else:
                continue
            raise InputError(f"{reason}: the file is damaged; copy or export the model again.", folder / name)


def is_exported(folder: Path) -> bool:
    """Whether this is (or tries to be) the folder of an exported model, not one of torch weights."""
    has_graph_only = (folder / MODEL).is_file() and not (folder / "model.safetensors").is_file()
    return has_graph_only or _record(folder).get("format") == FORMAT


def read_manifest(folder: Path) -> ExportManifest:
    """The manifest of an exported model.

    Raises:
        InputError: there is none, or it is of another format or version.
    """
    path, record = folder / MANIFEST, _record(folder)
    if record.get("format") != FORMAT:
        raise InputError(f"is not the manifest of a model exported by arcf; expected the format '{FORMAT}'.", path)
    if record.get("version") not in VERSIONS:
        raise InputError(
            f"is of the version {record.get('version')}, and this arcf runs {', '.join(map(str, VERSIONS))}; "
            "export the model again, or install the arcf that exported it.",
            path,
        )
    match record:
        case {"precision": str(precision), "source": str(source), "arcf": str(arcf), "files": dict(files)}:
            return ExportManifest(precision, source, arcf, {name: _file(entry, path) for name, entry in files.items()})
    raise InputError("lacks one of precision, source, arcf, files; export the model again.", path)


def _file(entry: Any, path: Path) -> FileRecord:
    match entry:
        case {"bytes": int(size), "sha256": str(digest)}:
            return FileRecord(size, digest)
    raise InputError("needs the bytes and sha256 of every file; export the model again.", path)


def _record(folder: Path) -> dict[str, Any]:
    """The content of manifest.json, empty if there is none or it is something else."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        record = json.loads(read_text(path))
    except json.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}
