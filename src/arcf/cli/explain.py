"""`arcf explain`: the chain of facts that explains an answer, as a picture in the terminal."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.facts import fact_text, ranking_table
from arcf.cli.output import console, print_json
from arcf.cli.ranker import DatasetOrFacts
from arcf.display import shown
from arcf.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.explanation import Explanation
    from arcf.rankers import RankerSettings
    from arcf.types import Step


def explain(
    settings: "RankerSettings",
    question: Annotated[str | None, typer.Argument(help="A question of your own.")] = None,
    answer: Annotated[str, typer.Option(help="Its answer.")] = "",
    options: Annotated[list[str] | None, typer.Option(help="An answer option; once for each.")] = None,
    correct: Annotated[str, typer.Option(help="The letter (A for the first) or text of the right option.")] = "",
    question_id: Annotated[str | None, typer.Option("--id", help="A question of the dataset instead.")] = None,
    dataset: DatasetOrFacts = "science",
    top_k: Annotated[int, typer.Option(min=0, help="Show the ranking below the chain, this many facts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write the picture of the chain to this SVG file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write picture and scores to this one HTML file.")] = None,
) -> None:
    """Explain an answer with a chain of facts.

    Example: arcf explain "Which process turned the ice cube to water?" --answer melting

    Example: arcf explain "Why does my bread not rise?" --answer "the yeast is dead" --facts facts.txt

    Example: arcf explain --dataset worldtree-2020 --id Mercury_400187 --model runs/best --html chain.html
    """
    from arcf.explainer import load_explainer
    from arcf.files import check_writable

    if (question is None) == (question_id is None):
        raise SettingError("Give a question, or --id.")
    if answer and correct:
        raise SettingError("--answer and --correct say the same; give one of them.")
    if correct and not options:
        raise SettingError("--correct is the letter of an option; give the options too (--options), or --answer.")
    if question_id is not None and (answer or correct or options):
        raise SettingError("A question of the dataset has its own answer and options; give --id alone.")
    for picture in filter(None, (svg, html)):
        check_writable(picture)
    explainer = load_explainer(settings, dataset)
    asked = explainer.dataset.question(question_id) if question_id is not None else question or ""
    explanation = explainer.explain(asked, answer or correct, options or ())
    show = _print_json if as_json else _print_picture
    show(explanation, top_k)
    _write_pictures(explanation, svg, html)


def _write_pictures(explanation: "Explanation", svg: Path | None, html: Path | None) -> None:
    from arcf.files import write_text
    from arcf.picture import html_page, svg_file

    if svg is not None:
        write_text(svg, svg_file(explanation, explanation.gold))
    if html is not None:
        write_text(html, html_page(explanation, explanation.gold))


def _print_json(explanation: "Explanation", top_k: int) -> None:
    ranking = {"ranking": [asdict(fact) for fact in explanation.ranking(top_k)]} if top_k else {}
    print_json(explanation.to_dict() | ranking)


def _print_picture(explanation: "Explanation", top_k: int) -> None:
    from rich.markup import escape

    chain, terminal, gold = explanation.chain, console(), set(explanation.gold)
    question = chain.question
    terminal.print(f"[bold]{escape(shown(question.stem))}[/]")
    for option in question.options:
        style = "bold cyan" if option.text == question.answer else "dim"
        terminal.print(f"  [{style}]({escape(shown(option.label))}) {escape(shown(option.text))}[/]")
    if question.answer and not question.options:
        terminal.print(f"  [bold cyan]{escape(shown(question.answer))}[/]")
    terminal.print()
    terminal.print(_picture(explanation))
    terminal.print()
    if explanation.confidence is not None:
        terminal.print(f"[cyan]{explanation.confidence:.0%}[/] of these facts can be expected to explain the answer")
    terminal.print(f"[dim]{escape(chr(10).join([explanation.ending(), *explanation.nearest()]))}[/]")
    found = explanation.found
    terminal.print(
        f"[dim]{found.considered} of {len(explanation.corpus)} facts considered, {found.scorings} scorings, "
        f"{explanation.seconds:.2f} s[/]"
    )
    if gold:
        hit = len(gold.intersection(chain.facts))
        terminal.print(f"[green]✓[/] in the gold explanation: {hit} of its {len(gold)} facts are in the chain")
    if top_k:
        terminal.print("\nRanking")
        terminal.print(ranking_table(explanation.ranking(top_k), {explanation.corpus[fact].uid for fact in gold}))


def _picture(explanation: "Explanation") -> "Table":
    """Each fact with how sure it is, and below it what it was seen from and how clearly it won."""
    from rich.table import Table
    from rich.text import Text

    from arcf.explanation import worth

    chain, gold = explanation.chain, set(explanation.gold)
    earliest = explanation.ranker.search.settings.min_facts
    picture = Table.grid(padding=(0, 1))
    for justify in ("right", "right", "left"):
        picture.add_column(justify=justify, overflow="fold")
    for place, fact in enumerate(chain.start, start=1):
        picture.add_row(f"[bold]{place}[/]", "[dim]given[/]", fact_text(explanation.corpus[fact].text, fact in gold))
    for place, step in enumerate(chain.steps, start=len(chain.start) + 1):
        words = {word for seen in explanation.sources(step) for word in seen.words}
        text = fact_text(explanation.corpus[step.chosen.fact].text, step.chosen.fact in gold, words)
        picture.add_row(f"[bold]{place}[/]", f"[cyan]{worth(step)}[/]", text)
        picture.add_row(
            "", "", Text(f"└ {shown(explanation.origin(step))}{_margin(step, early=place <= earliest)}", style="dim")
        )
    return picture


def _margin(step: "Step", *, early: bool) -> str:
    """A fact's score, how clearly it won, and where stopping stood. A beam may go on with a fact that did not win."""
    margin = "" if step.confidence is None else f"; score {step.chosen.score:.2f}"
    if step.runners_up:
        ahead = step.chosen.score - step.runners_up[0].score
        margin += f"; {ahead:.2f} ahead of the next" if ahead >= 0 else f"; {-ahead:.2f} behind the best"
    if step.stop_score is not None:
        ahead = step.chosen.score - step.stop_score
        passed = "too early to stop" if early else "stopping passed over"
        margin += f"; {ahead:.2f} ahead of stopping" if ahead > 0 else f"; {passed} ({-ahead:.2f} higher)"
    return margin
