"""The plot of the comparison with peers: documents a second, on a logarithmic axis, against recall."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import altair as alt

from nearsame.outputs.plots import write_chart

WIDTH, HEIGHT = 560, 320


@dataclass(frozen=True)
class Point:
    """One row of the table."""

    tool: str
    setting: str
    speed: float
    recall: float


def write(points: Iterable[Point], title: str, target: Path) -> None:
    """Draw the points into an SVG file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    write_chart(draw(list(points), title), target)


def draw(points: list[Point], title: str) -> alt.Chart:
    """The picture: a colour and a shape for each tool, a point for each setting."""
    values = [{"tool": each.tool, "documents a second": each.speed, "recall": each.recall} for each in points]
    names = list(dict.fromkeys(each.tool for each in points))
    lowest = min([each.recall for each in points], default=0)
    return (
        alt.Chart(alt.Data(values=values), title=title, width=WIDTH, height=HEIGHT)
        .mark_point(size=90, filled=True, opacity=0.8)
        .encode(
            alt.X("documents a second:Q").scale(type="log", nice=True),
            alt.Y("recall:Q").scale(domain=[max(lowest - 0.05, 0), 1.01], nice=False).axis(format="%"),
            alt.Color("tool:N").scale(domain=names),  # the same scale for both makes one legend
            alt.Shape("tool:N").scale(domain=names),
        )
    )
