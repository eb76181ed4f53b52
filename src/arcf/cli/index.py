"""`arcf index`: read a corpus once, ahead of all questions."""

from typing import Annotated

import typer

from arcf.cli.cache import entry_record, entry_table
from arcf.cli.output import console, print_json, print_line
from arcf.cli.ranker import DatasetOrFacts


def index(
    model: Annotated[str | None, typer.Option(help="Folder of a trained model [default: the packaged one].")] = None,
    dataset: DatasetOrFacts = "science",
    distance: Annotated[str, typer.Option(help="What makes facts visible; several joined by +.")] = "tfidf",
    device: Annotated[str, typer.Option(help="Where torch weights run: cpu, cuda, ..., auto: a GPU if any.")] = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the processor. [default: all]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read, count and tokenise a corpus ahead of questions, and show what is kept of it in the user's cache.

    Every command does this by itself when it is first given a large corpus, and finds it there from then on, as long
    as the files of the corpus do not change. With a model that was trained in the late encoding, this command also lets
    the model read all facts, which others do when they first score them.

    Example: arcf index --facts facts.txt
    """
    from arcf.data import load
    from arcf.scorer import packaged_model
    from arcf.scorer.indexing import index_corpus

    corpus = load(dataset)
    found = index_corpus(model or packaged_model(), corpus, distance, device, threads)
    if as_json:
        print_json({"facts": len(corpus.facts), "files": [entry_record(entry) for entry in found]})
        return
    print_line(f"{len(corpus.facts):,} facts, {sum(entry.bytes for entry in found) / 1e6:,.1f} MB kept of them")
    if found:
        console().print(entry_table(found))
