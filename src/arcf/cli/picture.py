"""An explanation as a picture in the terminal."""

from typing import TYPE_CHECKING

from arcf.cli.facts import fact_text, ranking_table
from arcf.cli.output import console
from arcf.display import shown

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.explanation import Explanation
    from arcf.types import Step


def print_picture(explanation: "Explanation", top_k: int) -> None:
    """Show the question, the facts of the chain with where they come from, and what is to be said of them.

    The right option has an arrow before it, besides its colour: pipes and some eyes have none.
    """
    from rich.markup import escape

    terminal, found = console(), explanation.found
    terminal.print(f"[bold]{escape(shown(explanation.chain.question.stem))}[/]")
    for text, right in explanation.account().options():
        terminal.print(f"[bold cyan]→ {escape(text)}[/]" if right else f"[dim]  {escape(text)}[/]")
    terminal.print()
    terminal.print(_picture(explanation))
    terminal.print()
    for line in explanation.closing():
        terminal.print(escape(line))
    terminal.print(
        f"[dim]{found.considered} of {len(explanation.corpus)} facts considered, {found.scorings} scorings, "
        f"{explanation.seconds:.2f} s[/]"
    )
    if top_k:
        gold = {explanation.corpus[fact].uid for fact in explanation.gold}
        terminal.print("\nRanking")
        terminal.print(ranking_table(explanation.ranking(top_k), gold))


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
