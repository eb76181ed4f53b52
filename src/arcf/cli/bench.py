"""`arcf bench`: measure speed and memory on this machine."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.output import console, print_json, progress_console, table_of
from arcf.errors import InputError, MissingExtraError
from arcf.pretrained.location import MINILM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arcf.bench import Growth, Walk
    from arcf.bench.explain import ExplainSpeed
    from arcf.bench.train import TrainingSpeed
    from arcf.types import Fact

app = typer.Typer(name="bench", help="Measure speed and memory on this machine.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure speed and memory on this machine."""


@app.command()
def neighborhood(
    dataset: Annotated[
        str | None, typer.Option(help="Walk through this dataset [default: made-up facts, as many as WorldTree 2020].")
    ] = None,
    facts: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Sizes of made-up corpora; repeat it. [default: 10 thousand to 1 million]"),
    ] = None,
    distance: Annotated[str, typer.Option(help="A lexical distance by name.")] = "tfidf",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the growth into this picture (.png, .svg, ...).")] = None,
) -> None:
    """Measure how fast neighborhoods are built and searched, and how time and memory grow with the corpus.

    The default goes up to a million facts and takes about two minutes.

    Example: arcf bench neighborhood --facts 10000 --facts 100000 --json
    """
    from rich.progress import track

    from arcf.bench import measure_growth_apart
    from arcf.evaluation.plots import check_picture
    from arcf.neighborhood import recipe

    recipe(distance)
    if plot is not None:
        check_picture(plot)
    walk = _walk(dataset, distance)
    sizes = sorted(set(facts or [10_000, 30_000, 100_000, 300_000, 1_000_000]))
    bar = track(sizes, "Growing", console=progress_console(), transient=True)
    growth = [measure_growth_apart(distance, size) for size in bar]
    if plot is not None:
        _draw(growth, plot)
    if as_json:
        print_json({"distance": distance, "walk": asdict(walk), "growth": [asdict(entry) for entry in growth]})
    else:
        _print(walk, growth)


@app.command()
def train(
    model: Annotated[str, typer.Option(help="A model folder, or a model's name on the Hugging Face hub.")] = MINILM,
    seconds: Annotated[float, typer.Option(min=0, help="About how long to measure; at least one round is done.")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast a model trains in the shared-prefix and in the joint encoding, on the same samples.

    Samples are those of WorldTree 2020 if it is installed, and made up to the same lengths otherwise.

    Example: arcf bench train --seconds 30 --json
    """
    try:
        from arcf.bench.train import measure_training
    except ModuleNotFoundError as error:
        raise MissingExtraError("Training", "train") from error

    speed = measure_training(model, seconds)
    if as_json:
        print_json(_training_record(speed))
    else:
        _print_training(speed)


@app.command()
def explain(
    model: Annotated[str, typer.Option(help="A folder with torch weights, or a model's name on the hub.")] = MINILM,
    questions: Annotated[int, typer.Option(min=1, help="How many questions each procedure explains.")] = 2,
    procedure: Annotated[
        list[str] | None, typer.Option(help="One of the procedures; repeat it. [default: all eight]")
    ] = None,
    read_ahead: Annotated[
        int | None,
        typer.Option(min=0, help="Layers of the late ones that are read ahead [default: as trained, or half of all]."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how long an explanation takes: the paper's procedure as CrossEncoder runs it, and arcf's.

    Procedures: crossencoder, joint_exact, shared_exact, shared_fast, onnx_fp32, onnx_int8, late_fast, late_screened.
    The first two encode every visible fact together with the whole chain and take minutes a question; the others take
    seconds, the late ones after reading all facts once. All run the same weights, whichever encoding those were
    trained in. With late_screened, questions a second are measured too: one at a time, and side by side.

    Questions are those of WorldTree 2020 if it is installed, and made up to the same lengths otherwise.

    Example: arcf bench explain --model runs/best --questions 1

    Example: arcf bench explain --model runs/best --procedure shared_fast --procedure onnx_int8 --json
    """
    from rich.progress import Progress

    try:
        from arcf.bench.explain import PROCEDURES, measure_explaining
    except ModuleNotFoundError as error:
        raise MissingExtraError("Comparing with torch", "train") from error

    names = procedure or list(PROCEDURES)
    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Explaining", total=questions * len({*names, "shared_exact"}))
        speed = measure_explaining(model, names, questions, read_ahead, lambda: bar.advance(task))
    if as_json:
        print_json(_explaining_record(speed))
    else:
        _print_explaining(speed)


def _explaining_record(speed: "ExplainSpeed") -> dict[str, object]:
    return {
        "model": speed.model,
        "read_ahead": speed.read_ahead,
        "dataset": speed.dataset,
        "facts": speed.facts,
        "threads": speed.threads,
        "questions": next(iter(speed.costs.values())).questions,
        "seconds_per_question": {name: round(own.seconds_per_question, 4) for name, own in speed.costs.items()},
        "scorings_per_question": {name: round(own.scorings / own.questions) for name, own in speed.costs.items()},
        "questions_per_second": {name: round(rate, 4) for name, rate in speed.questions_per_second.items()},
        "peak_bytes": speed.peak_bytes,
    }


def _print_explaining(speed: "ExplainSpeed") -> None:
    terminal = console()
    terminal.print(
        f"[bold]Explaining with {speed.model}[/] from the {speed.facts:,} facts of {speed.dataset}\n", soft_wrap=True
    )
    slowest = max(own.seconds_per_question for own in speed.costs.values())
    table = table_of("procedure", "s / question", "scorings / question", "times faster")
    for name, own in sorted(speed.costs.items(), key=lambda entry: -entry[1].seconds_per_question):
        seconds = own.seconds_per_question
        table.add_row(name, f"{seconds:.2f}", f"{own.scorings / own.questions:,.0f}", f"{slowest / seconds:,.1f}")
    terminal.print(table)
    terminal.print(f"\n{speed.threads} threads, k = 290, 9 facts a chain")
    if rates := speed.questions_per_second:
        told = ", ".join(f"{rate:.2f} {name.replace('_', ' ')}" for name, rate in rates.items())
        terminal.print(f"late_screened, questions a second: {told}")
    if speed.peak_bytes is not None:
        terminal.print(f"onnx_int8 in a process of its own: {speed.peak_bytes / 1e6:,.0f} MB at most")


def _training_record(speed: "TrainingSpeed") -> dict[str, object]:
    return {
        "model": speed.model,
        "dataset": speed.dataset,
        "threads": speed.threads,
        "allocator": speed.allocator,
        "samples_per_second": {name: round(own.samples_per_second, 1) for name, own in speed.speeds.items()},
        "tokens_per_second": {name: round(own.tokens_per_second, 1) for name, own in speed.speeds.items()},
        "seconds": {name: round(own.seconds, 2) for name, own in speed.speeds.items()},
        "ratio": round(speed.ratio, 2),
    }


def _print_training(speed: "TrainingSpeed") -> None:
    terminal = console()
    terminal.print(f"[bold]Training {speed.model}[/] on samples of {speed.dataset}", soft_wrap=True)
    terminal.print(f"{speed.threads} threads, memory: {speed.allocator}\n", soft_wrap=True)
    table = table_of("encoding", "samples / s", "tokens / s", "steps", "s")
    for name, own in speed.speeds.items():
        rates = (f"{own.samples_per_second:,.0f}", f"{own.tokens_per_second:,.0f}")
        table.add_row(name, *rates, str(own.steps), f"{own.seconds:.1f}")
    terminal.print(table)
    terminal.print(f"\nshared_prefix gives {speed.ratio:.1f} times more samples a second")


def _walk(dataset: str | None, distance: str) -> "Walk":
    from arcf.bench import make_corpus, measure_walk
    from arcf.bench.neighborhood import SEARCHES
    from arcf.data import load
    from arcf.neighborhood import recipe

    if dataset is None:
        made_up = make_corpus(9_720, 2_000 + SEARCHES)
        facts: Sequence[Fact] = made_up.facts
        training, asked = made_up.questions[SEARCHES:], made_up.questions[:SEARCHES]
    else:
        corpus = load(dataset)
        facts, training = corpus.facts, corpus.training
        asked = corpus.splits.get("dev") or next((split for split in corpus.splits.values() if split), ())
        if not asked:
            raise InputError("has no questions to search for.", dataset)
    return measure_walk(recipe(distance), facts, training, asked)


def _draw(growth: "Sequence[Growth]", path: Path) -> None:
    from arcf.evaluation.plots import plot_growth

    panels = {
        "building, s": {"build": {entry.facts: entry.build_seconds for entry in growth}},
        "nearest, k = 290, ms": {
            "question, median": {entry.facts: entry.question.median for entry in growth},
            "question, 95th percentile": {entry.facts: entry.question.p95 for entry in growth},
            "fact, median": {entry.facts: entry.fact.median for entry in growth},
        },
        "memory, MB": {
            "index": {entry.facts: entry.index_bytes / 1e6 for entry in growth},
            "peak of the process": {entry.facts: (entry.peak_bytes or 0) / 1e6 for entry in growth if entry.peak_bytes},
        },
    }
    plot_growth(panels, "facts", path)


def _print(walk: "Walk", growth: "Sequence[Growth]") -> None:
    terminal = console()
    terminal.print(f"[bold]A chain of 9 among {walk.facts:,} facts, k = 290[/]\n")
    table = table_of("", "s", "ms, median", "ms, 95th percentile")
    table.add_row("build", f"{walk.build_seconds:.2f}", "", "")
    table.add_row("visible, all ten searched", "", f"{walk.cold.median:.3f}", f"{walk.cold.p95:.3f}")
    table.add_row("visible, all remembered", "", f"{walk.warm.median:.3f}", f"{walk.warm.p95:.3f}")
    terminal.print(table)
    terminal.print("\n[bold]Growth[/] (nearest at k = 290, in ms: median / 95th percentile)\n")
    table = table_of("facts", "build, s", "of a question", "of a fact", "index, MB", "peak, MB")
    for entry in growth:
        peak = "-" if entry.peak_bytes is None else f"{entry.peak_bytes / 1e6:,.0f}"
        searches = (f"{latency.median:.2f} / {latency.p95:.2f}" for latency in (entry.question, entry.fact))
        table.add_row(
            f"{entry.facts:,}", f"{entry.build_seconds:.2f}", *searches, f"{entry.index_bytes / 1e6:,.1f}", peak
        )
    terminal.print(table)
