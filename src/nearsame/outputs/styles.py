"""Rich's console, for what has styles, tables, or letters of other widths."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from nearsame.printable import printable

__all__ = ["QuietConsole"]


class QuietConsole(Console):
    """A console that leaves a closed pipe to its caller."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, of whatever it is made: nothing in it that the terminal would obey but our styles."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text, lines=True))

    def on_broken_pipe(self) -> None:
        """Raise what rich would make an exit of its own."""
        raise BrokenPipeError
