"""A console that shows text as text, whatever is in it and wherever it goes."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from arcf.display import clean

BOUNDLESS = 1_000_000
"""More columns than any line has."""


class SafeConsole(Console):
    """Rich passes on the escape sequences in a text as if they were its own; here they become visible characters.

    Emoji codes stay as they are written, too: `:ice:` in a fact is no picture. Long texts must be clipped before, by
    `display.shown`: here it would be too late to save the time of laying them out.

    What goes into a pipe or a file is for programs: lines are as long as they are, nothing is filled up with spaces,
    and the columns of a table are separated by tabs.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)
        if not self.is_terminal:
            self.width = BOUNDLESS

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See Console; what rich itself tells the terminal is marked as control."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))

    def print(self, *objects: Any, **options: Any) -> None:
        """See Console."""
        if self.is_terminal:
            super().print(*objects, **options)
        elif not self.quiet:
            self.file.write(self._plain(*objects, **options))

    def _plain(self, *objects: Any, **options: Any) -> str:
        match objects:
            case [Table(show_header=True) as table]:
                columns = [[column.header, *column.cells] for column in table.columns]
                rows = zip(*columns, strict=True)
                return "".join("\t".join(map(self._cell, row)) + "\n" for row in rows)
        with self.capture() as captured:
            super().print(*objects, **options)
        return "\n".join(line.rstrip(" ") for line in captured.get().split("\n"))

    def _cell(self, cell: RenderableType) -> str:
        text = self.render_str(cell).plain if isinstance(cell, str) else str(cell)
        return clean(" ".join(text.split()))
