"""Exporting a trained model to a folder that runs without torch."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from onnx import ModelProto

from arcf.errors import InputError
from arcf.files import atomic_write, make_folder, read_text, write_text
from arcf.pretrained.location import CALIBRATION, CONFIG, MINILM, TOKENIZER, find_folder, locate
from arcf.registry import pick
from arcf.scorer.exported.encoder_graph import build, build_encoder, build_late
from arcf.scorer.exported.folder import (
    CARD,
    LOWER,
    MANIFEST,
    MODEL,
    TRAINING,
    UNTRAINED,
    ExportManifest,
    FileRecord,
    is_exported,
)
from arcf.scorer.exported.precision import PRECISIONS, Precision
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.scorer.network.late import Late
from arcf.scorer.network.shared_prefix import SharedPrefix
from arcf.scorer.settings import ScorerSettings
from arcf.sentences.folder import SENTENCE_FILES

EXPORTED = (SharedPrefix.name, Late.name)
"""The encodings that have a graph."""


def export(
    model: str | Path, output: Path, precision: str = "fp32", dense: float | None = None, untrained: str = MINILM
) -> ExportManifest:
    """Export a model that was trained in the shared-prefix or the late encoding.

    Args:
        model: its folder, or its name on the Hugging Face hub.
        output: a folder to make; an older export in it is replaced.
        precision: one of `PRECISIONS`.
        dense: the weight of a dense prior, if it is to have another one than in training; 0: none.
        untrained: the encoder of a dense prior that it was trained without.

    Raises:
        InputError: the model cannot be loaded, was not trained, or has something that ONNX files of arcf have not; or
            the folder holds something else.
        UnknownNameError: there is no such precision.
    """
    pick(PRECISIONS, precision, "precision")
    _check_output(output)
    backbone = load_backbone(model)
    encoding = backbone.settings.encoding
    if encoding not in EXPORTED:
        reason = f"was trained in the {encoding} encoding" if encoding else "was not trained by arcf"
        raise InputError(
            f"{reason}; only models trained in the encodings {' and '.join(EXPORTED)} are exported.", model
        )
    if dense is not None:
        own = backbone.settings.untrained or untrained
        backbone = backbone.with_settings(replace(backbone.settings, dense=dense, untrained=own if dense else ""))
    folder = find_folder(model)
    beside = [folder / CARD, folder / TRAINING, folder / CALIBRATION] if folder is not None else []
    return write_export(backbone, output, precision, str(model), [path for path in beside if path.is_file()])


def write_export(
    backbone: Backbone, output: Path, precision: str, source: str, beside: Sequence[Path] = ()
) -> ExportManifest:
    """Write the folder of a loaded model; `source` is remembered in the manifest, files `beside` it are copied.

    Raises:
        InputError: the folder cannot be written to, or the model's activation cannot be exported.
        SettingError: the model reads more layers ahead than it can.
    """
    make_folder(output)
    graphs = _graphs(backbone, pick(PRECISIONS, precision, "precision"))
    for name in (MANIFEST, LOWER, CARD, TRAINING, CALIBRATION):
        (output / name).unlink(missing_ok=True)
    shutil.rmtree(output / UNTRAINED, ignore_errors=True)
    for name, graph in graphs.items():
        with atomic_write(output / name) as file:
            file.write(graph.SerializeToString())
    write_text(output / CONFIG, backbone.config().to_json_string(use_diff=False))
    write_text(output / TOKENIZER, backbone.tokenizer.raw.to_str())
    for path in beside:
        write_text(output / path.name, read_text(path))
    calibration = [path.name for path in beside if path.name == CALIBRATION]
    names = (*graphs, CONFIG, TOKENIZER, *calibration, *_write_untrained(backbone.settings, output, precision))
    files = {name: FileRecord.of(output / name) for name in names}
    manifest = ExportManifest(precision, source, version("arcf"), files)
    manifest.write(output)
    return manifest


def _graphs(backbone: Backbone, precision: Precision) -> dict[str, ModelProto]:
    """The graphs of a model, by the names of their files."""
    if backbone.settings.encoding != Late.name:
        return {MODEL: build(backbone.weights(), precision)}
    lower, upper = build_late(backbone.weights(), precision, Late(backbone).read_ahead)
    return {LOWER: lower, MODEL: upper}


def _write_untrained(settings: ScorerSettings, output: Path, precision: str) -> list[str]:
    """Write the encoder of a dense prior, where a model has one, into a folder of its own; the names of its files."""
    if not settings.dense:
        return []
    source, folder = locate(settings.untrained), output / UNTRAINED
    encoder = load_backbone(source)
    make_folder(folder)
    with atomic_write(folder / MODEL) as file:
        file.write(build_encoder(encoder.weights(), PRECISIONS[precision]).SerializeToString())
    names = [name for name in (CONFIG, TOKENIZER, *SENTENCE_FILES) if (source / name).is_file()]
    for name in names:
        make_folder((folder / name).parent)
        write_text(folder / name, read_text(source / name))
    return [f"{UNTRAINED}/{name}" for name in (MODEL, *names)]


def _check_output(output: Path) -> None:
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not is_exported(output))):
        raise InputError("is neither an empty folder nor an earlier export; choose another.", output)
