"""`arcf rank`: the facts of a corpus ordered for one question, or for a whole split."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcf.cli.chain import ChainOverrides, Exact, Longest, Shortest, Visible, chain_settings
from arcf.cli.output import console, print_json, progress_console
from arcf.errors import SettingError
from arcf.types import Dataset, Question, Ranking

if TYPE_CHECKING:
    from arcf.rankers import Ranker
    from arcf.rankers.journal import Journal

SHOWN = 10


def rank(
    question: Annotated[str | None, typer.Argument(help="A question of your own.")] = None,
    answer: Annotated[str, typer.Option(help="Its answer.")] = "",
    question_id: Annotated[str | None, typer.Option("--id", help="A question of the dataset instead.")] = None,
    split: Annotated[str | None, typer.Option(help="All questions of a split instead; needs --output.")] = None,
    dataset: Annotated[str, typer.Option(help="Name of an installed dataset, or path of a zip, folder or file.")] = (
        "science"
    ),
    ranker: Annotated[str, typer.Option(help="arcf, tfidf, tfidf-sublinear, bm25 or bm25-classic.")] = "tfidf",
    model: Annotated[
        str | None, typer.Option(help="Folder of a model, for the ranker arcf [default: the packaged one].")
    ] = None,
    k: Visible = None,
    longest: Longest = None,
    shortest: Shortest = None,
    exact: Exact = False,
    overrides: ChainOverrides = None,
    output: Annotated[Path | None, typer.Option(help="Where the ranking of a split is written.")] = None,
    file_format: Annotated[str, typer.Option("--format", help="textgraphs, trec or json.")] = "textgraphs",
    top: Annotated[
        int | None, typer.Option(min=1, help="Facts a question [default: 10 when shown, all when written].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ranking of one question as JSON.")] = False,
) -> None:
    """Rank facts by how likely they explain an answer.

    Example: arcf rank "Which process turned the ice cube to water?" --answer melting

    Example: arcf rank --dataset worldtree-2020 --split dev --ranker bm25 --output dev.txt

    The ranker arcf takes seconds a question, so it keeps its rankings of a split in OUTPUT.partial until all are there:
    the same command, given again after a kill, goes on where it was.
    """
    from arcf.data import load
    from arcf.explainer import ask
    from arcf.explainer import load as load_explainer
    from arcf.rankers import RANKERS
    from arcf.registry import pick

    asked = [given for given in (question, question_id, split) if given is not None]
    if len(asked) != 1:
        raise SettingError("Give one of: a question, --id, --split.")
    if (split is None) != (output is None):
        raise SettingError("--split and --output go together: a split's ranking is written to a file.")
    if answer and question is None:
        raise SettingError("Questions of a dataset have their own answers; --answer is for a question of your own.")
    rankers: dict[str, Callable[[Dataset], Ranker]] = {
        **RANKERS,
        "arcf": lambda corpus: load_explainer(model, corpus, settings).ranker,
    }
    settings = chain_settings(k, longest, shortest, overrides, exact=exact)
    build = pick(rankers, ranker, "ranker")
    if ranker != "arcf" and (model is not None or settings != chain_settings(None, None, None, None, exact=False)):
        raise SettingError(f"A model and the settings of chains are for --ranker arcf; {ranker} has neither.")
    corpus = load(dataset)
    if split is not None and output is not None:
        run = _Run(corpus, corpus.split(split), build(corpus), top)
        _write_split(run, output, file_format, model)
        return
    chosen = corpus.question(question_id) if question_id is not None else ask(question or "", answer)
    ranking = build(corpus).rank(chosen)
    show = _print_json if as_json else _print_table
    show(corpus, chosen, _cut(ranking, top or SHOWN))


@dataclass(frozen=True)
class _Run:
    """Everything that decides what is written."""

    corpus: Dataset
    questions: Sequence[Question]
    ranker: "Ranker"
    top: int | None

    def rank(self, question: Question) -> Ranking:
        return _cut(self.ranker.rank(question), self.top)


def _write_split(run: _Run, output: Path, file_format: str, model: str | None) -> None:
    """Rank and write. A ranker with a model takes long: its rankings are kept in a journal until all are there."""
    from rich.progress import track

    from arcf.data.runs import FORMATS, write_run
    from arcf.registry import pick

    pick(FORMATS, file_format, "run format")
    journal = _journal(run, output, model)
    shown = track(run.questions, "Ranking", console=progress_console(), transient=True)
    if journal is None:
        write_run(output, run.corpus, map(run.rank, shown), file_format)
    else:
        for _ in journal.rankings(shown, run.rank):
            pass
        # Only now: a kill on the way would leave a half-written file behind that nobody needs.
        write_run(output, run.corpus, journal.rankings(run.questions, run.rank), file_format)
        journal.remove()
    typer.echo(f"{len(run.questions)} questions ranked in {output}", err=True)


def _journal(run: _Run, output: Path, model: str | None) -> "Journal | None":
    from arcf.explainer import packaged_model
    from arcf.rankers import Autoregressive
    from arcf.rankers.journal import Journal, fingerprint
    from arcf.scorer.loading import model_identity

    if not isinstance(run.ranker, Autoregressive):
        return None
    decisive = {
        "arcf": version("arcf"),
        "model": model_identity(model or packaged_model()),
        "chain": asdict(run.ranker.search.settings),
        "top": run.top,
    }
    return Journal(output.with_name(f"{output.name}.partial"), decisive | fingerprint(run.corpus, run.questions))


def _cut(ranking: Ranking, top: int | None) -> Ranking:
    return Ranking(ranking.question_id, ranking.facts[:top], ranking.scores[:top])


def _print_json(corpus: Dataset, question: Question, ranking: Ranking) -> None:
    gold = set(corpus.gold_ids(question))
    facts = [
        {"uid": corpus.facts[fact].uid, "text": corpus.facts[fact].text, "score": score}
        | ({"gold": fact in gold} if gold else {})
        for fact, score in zip(ranking.facts.tolist(), ranking.scores.tolist(), strict=True)
    ]
    record: dict[str, Any] = {"question": question.stem, "answer": question.answer, "facts": facts}
    print_json(({"id": question.id} if question.id else {}) | record)


def _print_table(corpus: Dataset, question: Question, ranking: Ranking) -> None:
    from rich.markup import escape
    from rich.table import Table

    gold = set(corpus.gold_ids(question))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("", "right"), ("score", "right"), ("fact", "left"), ("uid", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for place, (fact, score) in enumerate(zip(ranking.facts.tolist(), ranking.scores.tolist(), strict=True), start=1):
        record = corpus.facts[fact]
        mark = "[green]✓[/] " if fact in gold else ""
        table.add_row(str(place), f"{score:.3f}", mark + escape(record.text), f"[dim]{escape(record.uid)}[/]")
    terminal = console()
    terminal.print(f"[bold]{escape(question.stem)}[/] {escape(question.answer)}")
    terminal.print(table)
    if gold:
        terminal.print(f"[green]✓[/] in the gold explanation ({len(gold)} facts)")
