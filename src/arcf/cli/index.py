"""`arcf index`: read a corpus once, ahead of all questions."""

from dataclasses import asdict
from typing import Annotated

import typer

from arcf.cli.output import print_json, print_line, progress_console
from arcf.cli.ranker import DatasetOrFacts


def index(
    model: Annotated[str | None, typer.Option(help="Folder of a trained model [default: the packaged one].")] = None,
    dataset: DatasetOrFacts = "science",
    device: Annotated[str, typer.Option(help="Where torch weights run: cpu, cuda, ..., auto: a GPU if any.")] = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the processor. [default: all]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read all facts of a corpus ahead of questions, with a model that was trained in the late encoding.

    What is read goes to the user's cache. From then on every command that is given the same model and the same facts
    finds it there, and no question waits for a fact to be read. Without it, facts are read when they are first scored.

    Example: arcf index --model exported --facts facts.txt
    """
    from rich.progress import Progress

    from arcf.data import load
    from arcf.scorer import packaged_model
    from arcf.scorer.indexing import build_index

    texts = [fact.text for fact in load(dataset).facts]
    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Reading", total=len(texts) + 1)  # and the stop sample
        record = build_index(model or packaged_model(), texts, device, threads, lambda done: bar.advance(task, done))
    if as_json:
        print_json(asdict(record) | {"path": str(record.path)})
    else:
        print_line(f"{record.facts:,} facts ({record.tokens:,} tokens, {record.bytes / 1e6:,.1f} MB) in {record.path}")
