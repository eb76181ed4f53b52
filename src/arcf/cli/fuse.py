"""`arcf fuse`: several runs as one."""

from pathlib import Path
from typing import Annotated

import typer

from arcf.cli.output import note
from arcf.errors import SettingError


def fuse(
    runs: Annotated[list[Path], typer.Argument(help="Two or more runs of the same questions.")],
    output: Annotated[Path, typer.Option(help="Where the fused run is written.")],
    dataset: Annotated[
        str, typer.Option(help="A dataset's name, or the path of a folder, archive or facts file.")
    ] = "science",
    method: Annotated[str, typer.Option(help="scores (each from 0 to 1 a question) or reciprocal-rank.")] = "scores",
    weight: Annotated[
        list[float] | None, typer.Option(min=0.0, help="The weight of a run; repeat it for each. [default: equal]")
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(help="Choose the weights instead: a run of held-out training questions; repeat it for each run."),
    ] = None,
    file_format: Annotated[str, typer.Option("--format", help="textgraphs, trec or json.")] = "textgraphs",
) -> None:
    """Fuse runs: add up what each says of a fact, by score or by rank.

    Example: arcf fuse single.json path.json --dataset worldtree-2020 --output ensemble.json --format json
    """
    from arcf.data import load
    from arcf.evaluation.weights import choose_weights
    from arcf.rankers import FUSIONS
    from arcf.registry import pick
    from arcf.runs import FORMATS, fuse_runs, read_runs, write_run

    if len(runs) < 2:
        raise SettingError("Give at least two runs to fuse.")
    if weight and held_out:
        raise SettingError("Give --weight or --held-out, not both.")
    if held_out and len(held_out) != len(runs):
        raise SettingError(f"Give --held-out once for each of the {len(runs)} runs, in the same order.")
    pick(FUSIONS, method, "way to fuse")
    pick(FORMATS, file_format, "run format")
    corpus = load(dataset)
    weights = tuple(weight or ())
    if held_out:
        chosen = choose_weights(read_runs(held_out), corpus, method)
        weights = chosen.weights
        shown = " ".join(f"--weight {value:g}" for value in weights)
        note(f"{shown}: MAP {chosen.map:.4f} on {chosen.questions} held-out training questions")
    write_run(output, corpus, fuse_runs(read_runs(runs), corpus, weights, method), file_format)
    note(f"{len(runs)} runs fused in {output}")
