"""`arcf explain`: the chain of facts that explains an answer, or those of many."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.cluster import Ray, Workers, chosen_cluster, tell_workers
from arcf.cli.output import note, own_question, print_json, print_text, progress_console
from arcf.cli.picture import print_picture
from arcf.cli.ranker import DatasetOrFacts
from arcf.errors import SettingError
from arcf.registry import pick

if TYPE_CHECKING:
    from arcf.batch import ExplanationJob
    from arcf.explanation import Explanation
    from arcf.rankers import OnCluster, RankerSettings


def explain(
    settings: "RankerSettings",
    question: Annotated[
        str | None, typer.Argument(help="A question of your own; - reads it from standard input.")
    ] = None,
    answer: Annotated[str, typer.Option(help="Its answer.")] = "",
    options: Annotated[list[str] | None, typer.Option(help="An answer option; once for each.")] = None,
    correct: Annotated[str, typer.Option(help="The letter (A for the first) or text of the right option.")] = "",
    question_id: Annotated[str | None, typer.Option("--id", help="A question of the dataset instead.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="All questions of a .jsonl, .csv, .tsv or .txt file instead; - is standard input."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="All questions of a split of the dataset instead.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where the explanations of --file or --split go. [default: standard output]")
    ] = None,
    dataset: DatasetOrFacts = "science",
    ray: Ray = None,
    workers: Workers = None,
    top_k: Annotated[int, typer.Option(min=0, help="Show the ranking below the chain, this many facts.")] = 0,
    style: Annotated[
        str | None, typer.Option("--format", help="text, json or markdown. [default: text; of many questions, json]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write the picture of the chain to this SVG file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write picture and scores to this one HTML file.")] = None,
) -> None:
    """Explain an answer with a chain of facts.

    Example: arcf explain "Which process turned the ice cube to water?" --answer melting

    Example: arcf explain "Why does my bread not rise?" --answer "the yeast is dead" --facts facts.txt

    Example: arcf explain --dataset worldtree-2020 --id Mercury_SC_415491 --model runs/best --html chain.html

    Example: arcf explain --file questions.jsonl --facts facts.txt --output explanations.jsonl

    Example: arcf explain --file questions.jsonl --output explanations.jsonl --ray

    Many questions (--file, --split) give one JSON object a line, each as soon as it is found. With --output, the same
    command goes on after a kill where it was: nothing is lost, and nothing written twice.
    """
    from arcf.chain.search import MIN_CONFIDENCE
    from arcf.explainer import load_explainer
    from arcf.files import check_writable

    if sum(given is not None for given in (question, question_id, file, split)) != 1:
        raise SettingError("Give one of: a question, --id, --file, --split.")
    _check_answer(question, answer, correct, options or [])
    if output is not None and str(output) == "-":
        raise SettingError("--output names a file; without it, explanations go to standard output.")
    cluster = chosen_cluster(ray, workers)
    if file is not None or split is not None:
        if svg or html or style not in (None, "json"):
            raise SettingError("Many explanations are JSON lines; --format, --svg and --html are for one question.")
        _explain_many(_job(settings, dataset, file, split, top_k), output, cluster)
        return
    if cluster is not None:
        raise SettingError("--ray is for many questions; it goes with --file or --split.")
    if output is not None:
        raise SettingError("--output is for --file and --split; redirect the explanation of one question instead.")
    show = pick(FORMATS, _style(style, as_json), "format")
    if svg is not None and svg == html:
        raise SettingError("--svg and --html name the same file; give each its own.")
    for picture in filter(None, (svg, html)):
        check_writable(picture)
    own = own_question(question)
    explainer = load_explainer(settings, dataset)
    asked = own if question_id is None else explainer.dataset.question(question_id)
    search = explainer.ranker.search
    if search.calibration is None and search.settings.min_confidence not in (None, MIN_CONFIDENCE):
        note("The model has no calibration, so --min-confidence ends no chain; make one: arcf calibrate")
    explanation = explainer.explain(asked, answer or correct, options or (), whole=top_k > 0)
    show(explanation, top_k)
    if svg or html:
        _write_pictures(explanation, svg, html)


def _check_answer(question: str | None, answer: str, correct: str, options: list[str]) -> None:
    if question is None and (answer or correct or options):
        raise SettingError("A question that is not your own has its answer and options; leave out those given.")
    if answer and correct:
        raise SettingError("--answer and --correct say the same; give one of them.")
    if correct and not options:
        raise SettingError("--correct is the letter of an option; give the options too (--options), or --answer.")


def _style(style: str | None, as_json: bool) -> str:
    if as_json and style not in (None, "json"):
        raise SettingError(f"--json is --format json, and --format {style} something else; give one of them.")
    return "json" if as_json else style or "text"


def _job(
    settings: "RankerSettings", dataset: str, file: Path | None, split: str | None, top_k: int
) -> "ExplanationJob":
    from arcf.batch import ExplanationJob
    from arcf.data.asked import read_asked
    from arcf.data.given import given_facts
    from arcf.files import read_input

    read = read_asked(*read_input(file)) if file is not None else ()
    corpus = given_facts(dataset)
    return ExplanationJob(settings, corpus, read if split is None else corpus.split(split), top_k)


def _explain_many(job: "ExplanationJob", output: Path | None, cluster: "OnCluster | None") -> None:
    """A bar is shown only where it does not stand among the lines of the result."""
    from functools import partial

    from rich.progress import Progress

    from arcf.batch import ExplanationJob, explain_to_file, explaining_on

    shared = output is None and sys.stdout.isatty()
    with Progress(console=progress_console(), transient=True, redirect_stdout=False, disable=shared) as bar:
        task = bar.add_task("Explaining", total=len(job.questions))
        tell = partial(tell_workers, bar, "Explaining")
        work = ExplanationJob.records if cluster is None else explaining_on(cluster, tell)
        if output is not None:
            explain_to_file(job, output, lambda: bar.advance(task), work)
        else:
            for record in work(job):
                print_json(record, indent=None)
                bar.advance(task)
    if output is not None:
        note(f"{len(job.questions)} questions explained in {output}")


def _write_pictures(explanation: "Explanation", svg: Path | None, html: Path | None) -> None:
    from arcf.files import write_text
    from arcf.picture import html_page, svg_file

    if svg is not None:
        write_text(svg, svg_file(explanation, explanation.gold))
    if html is not None:
        write_text(html, html_page(explanation, explanation.gold))


def _print_json(explanation: "Explanation", top_k: int) -> None:
    print_json(explanation.to_dict(top_k))


def _print_markdown(explanation: "Explanation", top_k: int) -> None:
    print_text(explanation.to_markdown(top_k))


FORMATS: dict[str, Callable[["Explanation", int], None]] = {
    "text": print_picture,
    "json": _print_json,
    "markdown": _print_markdown,
}
