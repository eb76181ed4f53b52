"""Checkpoints: everything a run needs to go on to the same numbers, and nothing that executes on loading.

A checkpoint is a folder `step-N` with the weights, the optimiser's moments, the weight average and the random state as
safetensors, and the rest as JSON. It becomes the one to resume from when the file `latest`, replaced in one piece,
names it; the older one is removed only then. A kill at any moment leaves one of the two.
"""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from arcf.errors import InputError
from arcf.files import read_text, write_text
from arcf.training.trainer import Progress, Trainer

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(trainer: Trainer, folder: Path, fingerprint: str) -> None:
    """Write a checkpoint; `fingerprint` identifies the settings and data that it may be resumed with."""
    new = folder / f"step-{trainer.progress.step}"
    new.mkdir(parents=True, exist_ok=True)
    save_file(_weights(trainer), new / "weights.safetensors")
    save_file(_moments(trainer), new / "optimiser.safetensors")
    save_file({name: mean.contiguous() for name, mean in trainer.average.mean.items()}, new / "average.safetensors")
    save_file({"torch": torch.get_rng_state()}, new / "random.safetensors")
    state = {
        "fingerprint": fingerprint,
        "progress": asdict(trainer.progress),
        "averaged_steps": trainer.average.steps,
    }
    write_text(new / "state.json", json.dumps(state, indent=2))
    write_text(folder / "latest", new.name)
    for old in folder.glob("step-*"):
        if old != new:
            shutil.rmtree(old, ignore_errors=True)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is something to resume from."""
    return (folder / "latest").is_file()


def load_checkpoint(trainer: Trainer, folder: Path, fingerprint: str) -> None:
    """Put a trainer, made with the same settings, where the checkpoint's was.

    Raises:
        InputError: the checkpoint is of other settings or data, or is not complete.
    """
    current = folder / read_text(folder / "latest").strip()
    state = _read_state(current / "state.json")
    if state["fingerprint"] != fingerprint:
        raise InputError(
            "is a checkpoint of other settings, data or versions; resume with those, or train into another folder.",
            current,
        )
    _load_weights(trainer, _read(current / "weights.safetensors"), current)
    _load_moments(trainer, _read(current / "optimiser.safetensors"))
    trainer.average.mean = _read(current / "average.safetensors")
    trainer.average.steps = int(state["averaged_steps"])
    trainer.progress = Progress(**state["progress"])
    torch.set_rng_state(_read(current / "random.safetensors")["torch"])


def _weights(trainer: Trainer) -> dict[str, Tensor]:
    return {name: value.detach().contiguous() for name, value in trainer.backbone.model.named_parameters()}


def _names(trainer: Trainer) -> dict[int, str]:
    return {id(value): name for name, value in trainer.backbone.model.named_parameters()}


def _moments(trainer: Trainer) -> dict[str, Tensor]:
    names = _names(trainer)
    return {
        f"{names[id(parameter)]}/{moment}": values[moment].detach().clone()
        for parameter, values in trainer.optimiser.state.items()
        for moment in _MOMENTS
    }


def _load_weights(trainer: Trainer, weights: dict[str, Tensor], place: Path) -> None:
    own = dict(trainer.backbone.model.named_parameters())
    if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
        raise InputError("is a checkpoint of another model.", place)
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])


def _load_moments(trainer: Trainer, moments: dict[str, Tensor]) -> None:
    names = _names(trainer)
    for group in trainer.optimiser.param_groups:
        for parameter in group["params"]:
            name = names[id(parameter)]
            if f"{name}/step" in moments:
                state = {moment: moments[f"{name}/{moment}"] for moment in _MOMENTS}
                device = parameter.device
                trainer.optimiser.state[parameter] = {moment: value.to(device) for moment, value in state.items()}


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(read_text(path))
    except ValueError as error:
        raise InputError("is not a complete checkpoint.", path) from error
    return state


def _read(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"is not a complete checkpoint ({error}).", path) from error
