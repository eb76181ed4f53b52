"""Torch weights from an exported model, to train it further or to average it with another."""

import shutil
from dataclasses import fields
from pathlib import Path

import torch
import transformers
from torch import Tensor, nn

from arcf.errors import InputError
from arcf.files import check_empty
from arcf.pretrained.location import CALIBRATION, TOKENIZER, locate
from arcf.pretrained.tokenizer import read_tokenizer
from arcf.scorer.exported.folder import CARD, MODEL, TRAINING, is_exported, read_manifest
from arcf.scorer.exported.reading import read_weights
from arcf.scorer.network.backbone import Backbone, make_backbone
from arcf.scorer.weights import Array, EncoderWeights, LayerWeights, Linear, Norm


def restore(model: str | Path, output: Path) -> None:
    """Write an exported model as a folder of torch weights, as near to what it was as its precision kept it.

    Raises:
        InputError: it is no exported model, or damaged; or the folder is not empty, or cannot be written to.
    """
    folder = locate(model)
    if not is_exported(folder):
        raise InputError("is no exported model; one of torch weights can be used as it is.", folder)
    check_empty(output)
    manifest = read_manifest(folder)
    manifest.check(folder)
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    network = transformers.AutoModelForTokenClassification.from_config(config)
    backbone = make_backbone(network, read_tokenizer(folder / TOKENIZER))
    graphs = [folder / name for name in (manifest.lower, MODEL) if name]
    _fill(backbone, read_weights(graphs, backbone.weights()))
    backbone.save(output)
    for name in (CARD, TRAINING, CALIBRATION):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, output / name)


@torch.no_grad()
def _fill(backbone: Backbone, weights: EncoderWeights) -> None:
    """Give a model these weights."""
    modules, arrays = backbone.embeddings, weights.embeddings
    _copy(modules.word.weight, arrays.word)
    _copy(modules.position.weight, arrays.position)
    if modules.segment is not None and arrays.segment is not None:
        _copy(modules.segment.weight, arrays.segment)
    _fill_module(modules.norm, arrays.norm)
    if modules.projection is not None and arrays.projection is not None:
        _fill_module(modules.projection, arrays.projection)
    for layer, own in zip(backbone.layers, weights.layers, strict=True):
        for part in fields(LayerWeights):
            _fill_module(getattr(layer, part.name), getattr(own, part.name))
    if backbone.relative_bias is not None and weights.relative_bias is not None:
        _copy(backbone.relative_bias.weight, weights.relative_bias)
    _fill_module(backbone.head, weights.head)


def _fill_module(module: nn.Linear | nn.LayerNorm, part: Linear | Norm) -> None:
    _copy(module.weight, part.weight.T)
    _copy(module.bias, part.bias)


def _copy(parameter: Tensor, values: Array) -> None:
    parameter.copy_(torch.from_numpy(values.copy()))
