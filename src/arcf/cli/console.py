"""A console that shows text as text, whatever is in it."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from arcf.display import clean


class SafeConsole(Console):
    """Rich passes on the escape sequences in a text as if they were its own; here they become visible characters.

    Emoji codes stay as they are written, too: `:ice:` in a fact is no picture. Long texts must be clipped before, by
    `display.shown`: here it would be too late to save the time of laying them out.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See Console; what rich itself tells the terminal is marked as control."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))
