"""`arcf explain`: the chain of facts that explains an answer, as a picture in the terminal."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.chain import ChainOverrides, Exact, Longest, Shortest, Visible, chain_settings
from arcf.cli.output import console, print_json
from arcf.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.table import Table
    from rich.text import Text

    from arcf.explainer import Explainer
    from arcf.explanation import Explanation
    from arcf.types import Step


def explain(
    question: Annotated[str | None, typer.Argument(help="A question of your own.")] = None,
    answer: Annotated[str, typer.Option(help="Its answer.")] = "",
    options: Annotated[list[str] | None, typer.Option(help="An answer option; once for each.")] = None,
    correct: Annotated[str, typer.Option(help="The letter (A for the first) or text of the right option.")] = "",
    question_id: Annotated[str | None, typer.Option("--id", help="A question of the dataset instead.")] = None,
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset", "--facts", help="Name of an installed dataset, or path of a zip, folder or file of facts."
        ),
    ] = "science",
    model: Annotated[str | None, typer.Option(help="Folder of a trained model [default: the packaged one].")] = None,
    k: Visible = None,
    longest: Longest = None,
    shortest: Shortest = None,
    exact: Exact = False,
    overrides: ChainOverrides = None,
    top: Annotated[int, typer.Option(min=0, help="Show the ranking below the chain, this many facts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write the picture of the chain to this SVG file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write picture and scores to this one HTML file.")] = None,
) -> None:
    """Explain an answer with a chain of facts.

    Example: arcf explain "Which process turned the ice cube to water?" --answer melting

    Example: arcf explain "Why does my bread not rise?" --answer "the yeast is dead" --facts facts.txt

    Example: arcf explain --dataset worldtree-2020 --id Mercury_400187 --model runs/best --html chain.html
    """
    from arcf.explainer import load

    if (question is None) == (question_id is None):
        raise SettingError("Give a question, or --id.")
    if answer and correct:
        raise SettingError("--answer and --correct say the same; give one of them.")
    if correct and not options:
        raise SettingError("--correct is the letter of an option; give the options too (--options), or --answer.")
    if question_id is not None and (answer or correct or options):
        raise SettingError("A question of the dataset has its own answer and options; give --id alone.")
    explainer = load(model, dataset, chain_settings(k, longest, shortest, overrides, exact=exact))
    asked = explainer.dataset.question(question_id) if question_id is not None else question or ""
    explanation = explainer.explain(asked, answer or correct, options or ())
    show = _print_json if as_json else _print_picture
    show(explainer, explanation, top)
    _write_pictures(explainer, explanation, svg, html)


def _write_pictures(explainer: "Explainer", explanation: "Explanation", svg: Path | None, html: Path | None) -> None:
    from arcf.files import write_text
    from arcf.picture import html_page, svg_file

    gold = explainer.dataset.gold_ids(explanation.chain.question)
    if svg is not None:
        write_text(svg, svg_file(explanation, gold))
    if html is not None:
        write_text(html, html_page(explanation, gold))


def _print_json(explainer: "Explainer", explanation: "Explanation", top: int) -> None:
    gold = set(explainer.dataset.gold_ids(explanation.chain.question))
    record = explanation.record()
    if gold:
        record["gold"] = [explainer.dataset.facts[fact].uid for fact in sorted(gold)]
    if top:
        ranking = explainer.ranking(explanation)
        record["ranking"] = [
            {"uid": explainer.dataset.facts[fact].uid, "text": explainer.dataset.facts[fact].text, "score": score}
            for fact, score in zip(ranking.facts[:top].tolist(), ranking.scores[:top].tolist(), strict=True)
        ]
    print_json(record)


def _print_picture(explainer: "Explainer", explanation: "Explanation", top: int) -> None:
    from rich.markup import escape

    chain, terminal = explanation.chain, console()
    question, gold = chain.question, set(explainer.dataset.gold_ids(chain.question))
    terminal.print(f"[bold]{escape(question.stem)}[/]")
    for option in question.options:
        style = "bold cyan" if option.text == question.answer else "dim"
        terminal.print(f"  [{style}]({escape(option.label)}) {escape(option.text)}[/]")
    if question.answer and not question.options:
        terminal.print(f"  [bold cyan]{escape(question.answer)}[/]")
    terminal.print()
    terminal.print(_picture(explanation, gold, explainer.ranker.search.settings.shortest))
    terminal.print(f"\n[dim]{escape(explanation.ending())}[/]")
    found = explanation.found
    terminal.print(
        f"[dim]{found.considered} of {len(explanation.corpus)} facts considered, {found.scorings} scorings, "
        f"{explanation.seconds:.2f} s[/]"
    )
    if gold:
        hit = len(gold.intersection(chain.facts))
        terminal.print(f"[green]✓[/] in the gold explanation: {hit} of its {len(gold)} facts are in the chain")
    if top:
        terminal.print(_ranking(explainer, explanation, top, gold))


def _picture(explanation: "Explanation", gold: "Collection[int]", shortest: int) -> "Table":
    """Each fact with its score, and below it what it was seen from and how clearly it won."""
    from rich.table import Table
    from rich.text import Text

    chain = explanation.chain
    picture = Table.grid(padding=(0, 1))
    for justify in ("right", "right", "left"):
        picture.add_column(justify=justify, overflow="fold")
    for place, fact in enumerate(chain.start, start=1):
        picture.add_row(f"[bold]{place}[/]", "[dim]given[/]", _fact(explanation.corpus[fact].text, fact in gold))
    for place, step in enumerate(chain.steps, start=len(chain.start) + 1):
        words = {word for seen in explanation.sources(step) for word in seen.words}
        text = _fact(explanation.corpus[step.chosen.fact].text, step.chosen.fact in gold, words)
        picture.add_row(f"[bold]{place}[/]", f"[cyan]{step.chosen.score:.2f}[/]", text)
        picture.add_row(
            "", "", Text(f"└ {explanation.origin(step)}{_margin(step, early=place <= shortest)}", style="dim")
        )
    return picture


def _margin(step: "Step", *, early: bool) -> str:
    """How clearly a fact won, and where stopping stood. One of several beams may go on with a fact that did not win."""
    margin = ""
    if step.runners_up:
        ahead = step.chosen.score - step.runners_up[0].score
        margin += f"; {ahead:.2f} ahead of the next" if ahead >= 0 else f"; {-ahead:.2f} behind the best"
    if step.stop_score is not None:
        ahead = step.chosen.score - step.stop_score
        passed = "too early to stop" if early else "stopping passed over"
        margin += f"; {ahead:.2f} ahead of stopping" if ahead > 0 else f"; {passed} ({-ahead:.2f} higher)"
    return margin


def _fact(text: str, is_gold: bool, words: "Collection[str]" = ()) -> "Text":
    from rich.text import Text

    marked = Text("✓ " if is_gold else "", style="green")
    fact = Text(text, style="default")
    if words:
        fact.highlight_regex(rf"(?i)\b(?:{'|'.join(map(re.escape, sorted(words)))})\b", "bold yellow")
    return marked.append_text(fact)


def _ranking(explainer: "Explainer", explanation: "Explanation", top: int, gold: "Collection[int]") -> "Table":
    from rich.table import Table

    ranking = explainer.ranking(explanation)
    table = Table(box=None, pad_edge=False, header_style="bold", title="\nRanking", title_justify="left")
    for heading, justify in (("", "right"), ("score", "right"), ("fact", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    facts = zip(ranking.facts[:top].tolist(), ranking.scores[:top].tolist(), strict=True)
    for place, (fact, score) in enumerate(facts, start=1):
        table.add_row(str(place), f"{score:.3f}", _fact(explanation.corpus[fact].text, fact in gold))
    return table
