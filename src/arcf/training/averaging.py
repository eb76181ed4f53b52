"""The average of two models' weights.

Half-way between a pretrained model and what training made of it lies, as a rule, a model that has learnt nearly as much
and forgotten less (Wortsman et al., 2022).
"""

import shutil
from dataclasses import replace
from pathlib import Path

import torch

from arcf.errors import InputError, SettingError
from arcf.files import check_empty, read_text, write_text
from arcf.pretrained.location import locate
from arcf.scorer.exported.folder import CARD, TRAINING
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.training.folder import whole_folder

_NOTE = """
## Averaged

These weights are {weight} times those of the model that is described above, and {rest} times those of {other}. The
scores above are those before averaging.
"""


def average(trained: str | Path, other: str | Path, output: Path, weight: float = 0.5) -> None:
    """Save `weight` * trained + (1 - `weight`) * other, weight by weight, with the settings of the trained model.

    Its score head is averaged with the other's if that has learnt one as well; a pretrained model has none, and the
    head stays as it was trained.

    Raises:
        InputError: a model cannot be loaded, the first is not trained, the two do not fit together, or the folder is
            not empty.
        SettingError: the weight is not from 0 to 1.
    """
    if not 0 <= weight <= 1:
        raise SettingError(f"The weight of the trained model is from 0 to 1, not {weight}.")
    check_empty(output)
    first, second = load_backbone(trained), load_backbone(other)
    _check(first, second, trained, other)
    _mix(first, second, weight)
    with whole_folder(output) as folder:
        first.save(folder)
        _describe(locate(trained), folder, _NOTE.format(weight=weight, rest=round(1 - weight, 10), other=other))


def _check(first: Backbone, second: Backbone, trained: str | Path, other: str | Path) -> None:
    if not first.has_trained_head:
        raise InputError("has no trained score head; the trained model is to be given first.", trained)
    # Precedents are looked up beside the weights: an export may have been given some since.
    alike = replace(first.settings, precedents=second.settings.precedents) == second.settings
    if second.has_trained_head and not alike:
        raise InputError(f"was trained with other settings than {trained} ({second.settings}).", other)
    shapes = [{name: value.shape for name, value in own.model.named_parameters()} for own in (first, second)]
    if shapes[0] != shapes[1] or first.tokenizer.raw.get_vocab() != second.tokenizer.raw.get_vocab():
        raise InputError(f"is of another architecture, or has other words, than {trained}.", other)


@torch.no_grad()
def _mix(first: Backbone, second: Backbone, weight: float) -> None:
    """The average, in place of the first model's weights."""
    kept = set() if second.has_trained_head else {id(parameter) for parameter in first.head.parameters()}
    others = dict(second.model.named_parameters())
    for name, parameter in first.model.named_parameters():
        if id(parameter) not in kept:
            parameter.lerp_(others[name], 1 - weight)


def _describe(trained: Path, folder: Path, note: str) -> None:
    """The trained model's card with a note, and the record of its training, where it has them."""
    if (trained / CARD).is_file():
        write_text(folder / CARD, read_text(trained / CARD).rstrip("\n") + "\n" + note)
    if (trained / TRAINING).is_file():
        shutil.copyfile(trained / TRAINING, folder / TRAINING)
