"""Facts in the terminal: marked where they are gold, with the words that matter."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from arcf.display import shown

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from arcf.types import RankedFact


def fact_text(text: str, is_gold: bool, words: Collection[str] = ()) -> "Text":
    """A fact, with a mark if it is gold and the given words in colour."""
    from rich.text import Text

    marked = Text("✓ " if is_gold else "", style="green")
    fact = Text(shown(text), style="default")
    if words:
        fact.highlight_regex(rf"(?i)\b(?:{'|'.join(map(re.escape, sorted(words)))})\b", "bold yellow")
    return marked.append_text(fact)


def ranking_table(facts: "Sequence[RankedFact]", gold: Collection[str]) -> "Table":
    """Ranked facts, with a mark at the gold uids."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("", "right"), ("score", "right"), ("fact", "left"), ("uid", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for place, fact in enumerate(facts, start=1):
        marked = fact_text(fact.text, fact.uid in gold)
        table.add_row(str(place), f"{fact.score:.3f}", marked, Text(shown(fact.uid), style="dim"))
    return table
