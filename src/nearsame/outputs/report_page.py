"""A report with tables in it."""

from collections.abc import Iterable

from rich.console import RenderableType
from rich.text import Text

from nearsame.outputs.console import Report

__all__ = ["ReportPage"]


class ReportPage(Report):
    """Lines and tables on a stream, of one width."""

    @property
    def coloured(self) -> bool:
        """Whether colours can be told apart there."""
        return self._console.is_terminal and not self._console.no_color

    def show(self, renderable: RenderableType) -> None:
        """Print a table, or what else Rich can lay out, within the width of the page; no line ends in spaces."""
        for pieces in self._console.render_lines(renderable, self._console.options.update_width(self._width)):
            line = Text.assemble(*((piece.text, piece.style or "") for piece in pieces))
            line.rstrip()
            self._console.print(line, overflow="ignore", no_wrap=True, crop=False)

    def has_room(self, renderable: RenderableType) -> bool:
        """Whether it fits without a fold."""
        unbounded = self._console.options.update(max_width=10 * self._width)
        return self._console.measure(renderable, options=unbounded).maximum <= self._width

    def height(self, lines: Iterable[str]) -> int:
        """How many lines of the page some texts take."""
        return sum(len(Text(line).wrap(self._console, self._width)) for line in lines)

    def passage(self, text: Text, most: int | None) -> None:
        """Print a text of several lines, and of a longer one how much follows."""
        lines = text.wrap(self._console, self._width - 2)
        shown = lines if most is None or len(lines) <= most else lines[: most - 1]
        for line in shown:
            line.rstrip()
            line.pad_left(2)
            self._console.print(line, overflow="fold", crop=False)
        if len(shown) < len(lines):
            self.line(f"  (... {len(lines) - len(shown):,} more lines)", style="dim")

    def clear(self) -> None:
        """Begin the page anew, where there is a terminal."""
        self._console.clear()
