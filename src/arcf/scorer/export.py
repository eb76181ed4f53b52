"""Exporting a trained model to a folder that runs without torch."""

import shutil
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from onnx import ModelProto

from arcf.errors import ArcfWarning, InputError
from arcf.files import atomic_write, make_folder, read_text, write_text
from arcf.pretrained.location import CALIBRATION, CONFIG, MINILM, TOKENIZER, find_folder, locate
from arcf.registry import pick
from arcf.scorer.exported.encoder_graph import build, build_encoder, build_late, build_upper_encoder
from arcf.scorer.exported.folder import (
    CARD,
    MANIFEST,
    MODEL,
    SHARED_LOWER,
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
from arcf.scorer.weights import EncoderWeights, equal_weights
from arcf.sentences.folder import LOWER, SENTENCE_FILES, UPPER

EXPORTED = (SharedPrefix.name, Late.name)
"""The encodings that have a graph."""


def export(
    model: str | Path,
    output: Path,
    precision: str = "fp32",
    *,
    dense: float | None = None,
    untrained: str = MINILM,
    precedents: float | None = None,
) -> ExportManifest:
    """Export a model that was trained in the shared-prefix or the late encoding.

    Its calibration goes with it, unless it gets other priors: how sure a score is, would have to be found out anew.

    Args:
        model: its folder, or its name on the Hugging Face hub.
        output: a folder to make; an older export in it is replaced.
        precision: one of `PRECISIONS`.
        dense: the weight of a dense prior, if it is to have another one than in training; 0: none.
        untrained: the encoder of a dense prior that it was trained without.
        precedents: the weight of explained questions, if it is to have another one than before; 0: none.

    Raises:
        InputError: the model cannot be loaded, was not trained, or has something that ONNX files of arcf have not; or
            the folder holds something else.
        UnknownNameError: there is no such precision.
    """
    pick(PRECISIONS, precision, "precision")
    _check_output(output)
    backbone = trained = load_backbone(model)
    encoding = backbone.settings.encoding
    if encoding not in EXPORTED:
        reason = f"was trained in the {encoding} encoding" if encoding else "was not trained by arcf"
        raise InputError(
            f"{reason}; only models trained in the encodings {' and '.join(EXPORTED)} are exported.", model
        )
    if dense is not None:
        own = backbone.settings.untrained or untrained
        backbone = backbone.with_settings(replace(backbone.settings, dense=dense, untrained=own if dense else ""))
    if precedents is not None:
        backbone = backbone.with_settings(replace(backbone.settings, precedents=precedents))
    kept = [CARD, TRAINING, *([CALIBRATION] if backbone.settings == trained.settings else [])]
    folder = find_folder(model)
    beside = [folder / name for name in kept if (folder / name).is_file()] if folder is not None else []
    if folder is not None and (folder / CALIBRATION).is_file() and folder / CALIBRATION not in beside:
        warnings.warn(
            "With other priors, the calibration of the model does not hold any more and is left out; "
            f"make one for the export: arcf calibrate {output}",
            ArcfWarning,
            stacklevel=2,
        )
    return write_export(backbone, output, precision, str(model), beside)


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
        make_folder((output / name).parent)
        with atomic_write(output / name) as file:
            file.write(graph.SerializeToString())
    write_text(output / CONFIG, backbone.config().to_json_string(use_diff=False))
    write_text(output / TOKENIZER, backbone.tokenizer.raw.to_str())
    for path in beside:
        write_text(output / path.name, read_text(path))
    calibration = [path.name for path in beside if path.name == CALIBRATION]
    names = (*graphs, CONFIG, TOKENIZER, *calibration, *_copy_settings_of_untrained(backbone.settings, output))
    files = {name: FileRecord.of(output / name) for name in names}
    manifest = ExportManifest(precision, source, version("arcf"), files)
    manifest.write(output)
    return manifest


def _graphs(backbone: Backbone, precision: Precision) -> dict[str, ModelProto]:
    """The graphs of a model and of the encoder of its dense prior, by the names of their files."""
    settings, weights = backbone.settings, backbone.weights()
    untrained = load_backbone(locate(settings.untrained)).weights() if settings.dense else None
    if settings.encoding != Late.name:
        return {MODEL: build(weights, precision)} | _encoder_graph(untrained, precision)
    read_ahead = Late(backbone).read_ahead
    lower, upper = build_late(weights, precision, read_ahead)
    if untrained is None or not _is_shared(weights, untrained, read_ahead):
        return {LOWER: lower, MODEL: upper} | _encoder_graph(untrained, precision)
    rest = build_upper_encoder(untrained, precision, read_ahead)
    return {SHARED_LOWER: lower, MODEL: upper, f"{UNTRAINED}/{UPPER}": rest}


def _encoder_graph(untrained: EncoderWeights | None, precision: Precision) -> dict[str, ModelProto]:
    return {} if untrained is None else {f"{UNTRAINED}/{MODEL}": build_encoder(untrained, precision)}


def _is_shared(model: EncoderWeights, encoder: EncoderWeights, layers: int) -> bool:
    """Whether two models have the same embeddings and so many layers after them."""
    first, second = (replace(own, layers=own.layers[:layers], head=model.head) for own in (model, encoder))
    return equal_weights(first, replace(second, similarity=first.similarity))


def _copy_settings_of_untrained(settings: ScorerSettings, output: Path) -> list[str]:
    """Copy what the encoder of a dense prior needs besides graphs, where a model has one; the names of the files."""
    if not settings.dense:
        return []
    source = locate(settings.untrained)
    names = [name for name in (CONFIG, TOKENIZER, *SENTENCE_FILES) if (source / name).is_file()]
    for name in names:
        make_folder((output / UNTRAINED / name).parent)
        write_text(output / UNTRAINED / name, read_text(source / name))
    return [f"{UNTRAINED}/{name}" for name in names]


def _check_output(output: Path) -> None:
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not is_exported(output))):
        raise InputError("is neither an empty folder nor an earlier export; choose another.", output)
