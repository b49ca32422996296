"""A report with tables in it."""

from rich.console import RenderableType

from nearsame.outputs.console import Report

__all__ = ["ReportPage"]


class ReportPage(Report):
    """Lines and tables on a stream, of one width."""

    @property
    def coloured(self) -> bool:
        """Whether colours can be told apart there."""
        return self._console.is_terminal and not self._console.no_color

    def show(self, renderable: RenderableType) -> None:
        """Print a table, or what else Rich can lay out, within the width of the page."""
        self._console.print(renderable, width=self._width)
