"""`arcf export`: a trained model as a folder that runs without torch."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.output import console, print_json
from arcf.errors import MissingExtraError, SettingError
from arcf.pretrained.location import MINILM

if TYPE_CHECKING:
    from arcf.scorer.exported.folder import ExportManifest
    from arcf.scorer.parity import Agreement

MEGABYTE = 1e6


def export(
    model: Annotated[str, typer.Argument(help="Folder of a trained model, or of the run that trained it.")],
    output: Annotated[Path, typer.Option(help="The folder to write; an older export in it is replaced.")],
    precision: Annotated[
        str,
        typer.Option(
            help="fp32, fp16 (half the size), int8 (a quarter, and faster), int8-rows (the same with a scale for every "
            "token: more work, and nearer to fp32; for MPNet) or int8-weights (a quarter)."
        ),
    ] = "fp32",
    dense: Annotated[
        float | None,
        typer.Option(min=0, help="Weight of the untrained encoder's cosine in scores. [default: as in training]"),
    ] = None,
    untrained: Annotated[
        str, typer.Option(help="That encoder, of a model that was trained without: a folder, or a name on the hub.")
    ] = MINILM,
    precedents: Annotated[
        float | None,
        typer.Option(min=0, help="Weight of the explanations of similar questions in scores. [default: as before]"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare its scores with the model's, on the packaged questions.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print sizes and agreement as JSON.")] = False,
) -> None:
    """Export a model to ONNX, to explain and rank without torch.

    Example: arcf export runs/minilm --output exported --precision int8 --check
    """
    if check and dense is not None:
        raise SettingError("--check compares scores, which another --dense changes; check an export without it.")
    try:
        from arcf.scorer import export as exporting
    except ModuleNotFoundError as error:
        raise MissingExtraError("Exporting a model", "train") from error

    manifest = exporting.export(model, output, precision, dense=dense, untrained=untrained, precedents=precedents)
    agreement = _agreement(model, output) if check else None
    if as_json:
        record = {"output": str(output), "bytes": _size(manifest)} | asdict(manifest)
        print_json(record | ({"agreement": asdict(agreement)} if agreement else {}))
    else:
        _print(output, manifest, agreement)


def _agreement(model: str | Path, output: Path) -> "Agreement":
    from arcf.data import load
    from arcf.scorer import load_scorer
    from arcf.scorer.parity import compare

    dataset = load()
    texts = [fact.text for fact in dataset.facts]
    return compare(load_scorer(model, texts), load_scorer(output, texts), dataset, dataset.split("dev"))


def _size(manifest: "ExportManifest") -> int:
    return sum(record.bytes for record in manifest.files.values())


def _print(output: Path, manifest: "ExportManifest", agreement: "Agreement | None") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, record in manifest.files.items():
        table.add_row(name, f"{record.bytes / MEGABYTE:.2f} MB")
    table.add_row("[bold]in all[/]", f"[bold]{_size(manifest) / MEGABYTE:.2f} MB[/]")
    terminal = console()
    terminal.print(f"{output} ({manifest.precision})", markup=False)
    terminal.print(table)
    if agreement:
        terminal.print(
            f"{agreement.prefixes} prefixes compared: scores differ by {agreement.largest:.2g} at most and "
            f"{agreement.mean:.2g} on average (their spread is {agreement.spread:.2g}); rank correlation "
            f"{agreement.rank_correlation:.4f}; the same best candidate for {agreement.same_best:.0%}"
        )
