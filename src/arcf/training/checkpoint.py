"""Checkpoints: everything a run needs to go on to the same numbers, and nothing that executes on loading.

A checkpoint is a folder `step-N` with the weights, the optimiser's moments and the weight average as safetensors, and
the rest as JSON. It becomes the one to resume from when the file `latest`, replaced in one piece, names it; the older
one is removed only then. A kill at any moment leaves one of the two.

What a model in the late encoding remembers of facts is no part of it, and may differ in its last digit when it is read
anew (`scorer/network/late.py`).
"""

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from arcf.errors import InputError
from arcf.files import read_text, usual_mode, write_text
from arcf.training.trainer import Callback, Progress, StepReport, Trainer

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


class Checkpoints(Callback):
    """Writes a checkpoint every so many minutes, and at the end."""

    def __init__(self, folder: Path, fingerprint: str, minutes: float) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._seconds = minutes * 60
        self._last = time.monotonic()

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        """Write if it is time."""
        del report
        if time.monotonic() - self._last >= self._seconds:
            self.at_end(trainer)

    def at_end(self, trainer: Trainer) -> None:
        """Write."""
        save_checkpoint(trainer, self._folder, self._fingerprint)
        self._last = time.monotonic()


def save_checkpoint(trainer: Trainer, folder: Path, fingerprint: str) -> None:
    """Write a checkpoint; `fingerprint` identifies the settings and data that it may be resumed with.

    Raises:
        OSError: it cannot be written; the last one is still there.
    """
    new = folder / f"step-{trainer.progress.step}"
    # The tensors of a step never change. Only the state does, by a validation after the last step.
    if not (has_checkpoint(folder) and _latest(folder) == new):
        _save_tensors(trainer, new)
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


def _save_tensors(trainer: Trainer, new: Path) -> None:
    """All tensors into a new folder, or nothing: a full disk needs the room more than half a checkpoint does."""
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        _write(_weights(trainer), new / "weights.safetensors")
        _write(_moments(trainer), new / "optimiser.safetensors")
        _write(trainer.average.mean, new / "average.safetensors")
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _write(tensors: Mapping[str, Tensor], path: Path) -> None:
    """One file, on the disk for good before `latest` names its folder."""
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:  # its name for every failure to write
        raise OSError(None, f"cannot be written ({error})", str(path)) from error
    usual_mode(path)
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def has_checkpoint(folder: Path) -> bool:
    """Whether there is something to resume from."""
    return (folder / "latest").is_file()


def load_checkpoint(trainer: Trainer, folder: Path, fingerprint: str) -> None:
    """Put a trainer, made with the same settings, where the checkpoint's was.

    Raises:
        InputError: the checkpoint is of other settings or data, or is not complete.
    """
    current = _latest(folder)
    state = _read_state(current / "state.json")
    if state["fingerprint"] != fingerprint:
        raise InputError(
            "is a checkpoint of other settings or other data; resume with those, or train into another folder.",
            current,
        )
    _load_weights(trainer, _read(current / "weights.safetensors"), current)
    _load_moments(trainer, _read(current / "optimiser.safetensors"))
    device = trainer.backbone.head.weight.device
    average = _read(current / "average.safetensors")
    trainer.average.mean = {name: tensor.to(device) for name, tensor in average.items()}
    trainer.average.steps = int(state["averaged_steps"])
    trainer.progress = Progress(**state["progress"])


def _latest(folder: Path) -> Path:
    return folder / read_text(folder / "latest").strip()


def _weights(trainer: Trainer) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in trainer.backbone.model.named_parameters()}


def _names(trainer: Trainer) -> dict[int, str]:
    return {id(value): name for name, value in trainer.backbone.model.named_parameters()}


def _moments(trainer: Trainer) -> dict[str, Tensor]:
    names = _names(trainer)
    return {
        f"{names[id(parameter)]}/{moment}": values[moment].detach()
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
                own = {moment: moments[f"{name}/{moment}"].to(parameter.device) for moment in _MOMENTS}
                trainer.optimiser.state[parameter] = own


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError("is not a complete checkpoint.", path) from error
    return state


def _read(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"is not a complete checkpoint ({error}).", path) from error
