"""`arcf rank`: the facts of a corpus ordered for one question, or for a whole split."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.cluster import Ray, Workers, chosen_cluster, tell_workers
from arcf.cli.facts import ranking_table
from arcf.cli.output import console, note, own_question, print_json, progress_console
from arcf.cli.ranker import DatasetOrFacts
from arcf.display import shown
from arcf.errors import SettingError
from arcf.types import Dataset, Question, RankedFact

if TYPE_CHECKING:
    from arcf.rankers import OnCluster, RankerSettings
    from arcf.runs import RankingJob

SHOWN = 10


def rank(
    settings: "RankerSettings",
    question: Annotated[
        str | None, typer.Argument(help="A question of your own; - reads it from standard input.")
    ] = None,
    answer: Annotated[str, typer.Option(help="Its answer.")] = "",
    question_id: Annotated[str | None, typer.Option("--id", help="A question of the dataset instead.")] = None,
    split: Annotated[str | None, typer.Option(help="All questions of a split instead; needs --output.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="Only a fixed sample of the split, so many.")] = None,
    dataset: DatasetOrFacts = "science",
    ranker: Annotated[
        str,
        typer.Option(
            help="arcf, single-fact or path-rerank (with a model), ensemble, bm25, bm25-iterated, bm25-embedding, "
            "embedding-iterated, or a distance: tfidf, overlap, embedding, ..."
        ),
    ] = "arcf",
    output: Annotated[Path | None, typer.Option(help="Where the ranking of a split is written.")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="textgraphs, trec or json. [default: textgraphs]")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Facts a question [default: 10 when shown, all when written].")
    ] = None,
    ray: Ray = None,
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ranking of one question as JSON.")] = False,
) -> None:
    """Rank facts by how likely they explain an answer.

    Example: arcf rank "Which process turned the ice cube to water?" --answer melting

    Example: arcf rank --dataset worldtree-2020 --split dev --ranker bm25 --output dev.txt

    Example: arcf rank --dataset worldtree-2020 --split dev --output dev.txt --ray

    Example: arcf rank --split dev --output both.json --ranker ensemble --set 'ensemble.members=["bm25", "single-fact"]'

    A ranker with a model takes seconds a question, so it keeps its rankings of a split in OUTPUT.partial until all are
    there: the same command, given again after a kill, goes on where it was.
    """
    from arcf.data import load
    from arcf.data.sample import sampled
    from arcf.explainer import ask
    from arcf.rankers import build_ranker, find_kind
    from arcf.registry import pick
    from arcf.runs import FORMATS, RankingJob

    asked = [given for given in (question, question_id, split) if given is not None]
    if len(asked) != 1:
        raise SettingError("Give one of: a question, --id, --split.")
    if (split is None) != (output is None):
        raise SettingError("--split and --output go together: a split's ranking is written to a file.")
    if answer and question is None:
        raise SettingError("Questions of a dataset have their own answers; --answer is for a question of your own.")
    if questions is not None and split is None:
        raise SettingError("--questions is how many of a split are ranked; it goes with --split.")
    if file_format is not None and split is None:
        raise SettingError("--format is that of a split's ranking; one question's is a table, or JSON with --json.")
    if as_json and split is not None:
        raise SettingError("--json prints the ranking of one question; a split's is written with --format json.")
    if ray is not None and split is None:
        raise SettingError("--ray is for many questions; it goes with --split.")
    cluster = chosen_cluster(ray, workers)
    settings = replace(settings, kind=ranker)
    find_kind(settings)
    corpus = load(dataset)
    if split is not None and output is not None:
        file_format = file_format or "textgraphs"
        pick(FORMATS, file_format, "run format")
        narrowed = sampled(corpus, split, questions)
        job = RankingJob(settings, narrowed, narrowed.split(split), top_k)
        if cluster is None:
            _write_split(job, output, file_format)
        else:
            _write_split_on(cluster, job, output, file_format)
        note(f"{len(job.questions)} questions ranked in {output}")
        return
    chosen = corpus.question(question_id) if question_id is not None else ask(own_question(question), answer)
    ranked = build_ranker(settings, corpus).rank(chosen).top(top_k or SHOWN).named(corpus.facts)
    show = _print_json if as_json else _print_table
    show(corpus, chosen, ranked)


def _write_split(job: "RankingJob", output: Path, file_format: str) -> None:
    from rich.progress import Progress

    from arcf.runs import rank_to_file

    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Ranking", total=len(job.questions))
        rank_to_file(job, output, file_format, lambda: bar.advance(task))


def _write_split_on(cluster: "OnCluster", job: "RankingJob", output: Path, file_format: str) -> None:
    from rich.progress import Progress

    from arcf.runs import ClusterProgress, rank_on_cluster

    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Ranking", total=len(job.questions))

        def tell(progress: ClusterProgress) -> None:
            bar.update(task, completed=progress.ranked)
            tell_workers(bar, "Ranking", progress.alive, progress.workers)

        rank_on_cluster(job, cluster, output, file_format, tell)


def _gold(corpus: Dataset, question: Question) -> set[str]:
    return {corpus.facts[fact].uid for fact in corpus.gold_ids(question)}


def _print_json(corpus: Dataset, question: Question, ranked: tuple[RankedFact, ...]) -> None:
    from arcf.explanation import question_to_dict

    gold = _gold(corpus, question)
    facts = [asdict(fact) | ({"gold": fact.uid in gold} if gold else {}) for fact in ranked]
    print_json(question_to_dict(question, corpus) | {"facts": facts})


def _print_table(corpus: Dataset, question: Question, ranked: tuple[RankedFact, ...]) -> None:
    from rich.markup import escape

    terminal, gold = console(), _gold(corpus, question)
    terminal.print(f"[bold]{escape(shown(question.stem))}[/] {escape(shown(question.answer))}")
    terminal.print(ranking_table(ranked, gold))
    if gold:
        terminal.print(f"[green]✓[/] in the gold explanation ({len(gold)} facts)")
