"""Pictures, as SVG or PNG: nothing in them comes from elsewhere, and no browser is needed to draw them.

1. Plain data in, bytes out; Altair and vl-convert (the extra `report`) are loaded when a picture is drawn.
2. The same data gives the same picture.
"""

import io
from pathlib import Path
from typing import Any

from samesame.errors import ConfigError, MissingExtraError, OutputError
from samesame.results import CurvePoint, Plan, SimHashPlan

__all__ = ["altair", "check_name", "plan_chart", "simhash_chart", "svg", "write_chart"]

_SUFFIXES = (".svg", ".png")
_BLUE, _RED, _ORANGE, _GREY = "#2a5db0", "#c0392b", "#e08e0b", "#888888"
_WIDTH, _HEIGHT = 560, 320


def plan_chart(plan: Plan) -> Any:
    """The S-curve, what is wasted below the threshold and what is lost above it."""
    title = f"{plan.shape.bands} bands of {plan.shape.rows} rows"
    areas = (
        f"wasted below {plan.threshold:g}: area {plan.shape.false_positive_area:.4f}",
        f"lost above: area {plan.shape.false_negative_area:.5f}",
    )
    return _curve_chart(plan.curve, plan.threshold, title, ", ".join(areas))


def simhash_chart(plan: SimHashPlan) -> Any:
    """The chance to be within k bits."""
    title = f"SimHash, {plan.bits} bits: distance at most {plan.k}"
    return _curve_chart(plan.curve, plan.threshold, title, f"at {plan.threshold:g}: {100 * plan.at_threshold:.2g} %")


def svg(chart: Any) -> str:
    """A chart as SVG text, to stand in a page."""
    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()


def write_chart(chart: Any, path: str | Path) -> None:
    """Write a chart to a file, as SVG or PNG by its name.

    Raises:
        ConfigError: The name ends otherwise.
        OutputError: The file cannot be written.
    """
    target = Path(path)
    check_name(target)
    try:
        if target.suffix.lower() == ".svg":
            target.write_text(svg(chart), "utf-8")
        else:
            buffer = io.BytesIO()
            chart.save(buffer, format="png", scale_factor=2)
            target.write_bytes(buffer.getvalue())
    except OSError as error:
        message = f"{target}: {error.strerror or error}"
        raise OutputError(message, hint="Check that there is room and permission to write.") from error


def check_name(path: str | Path) -> None:
    """Refuse a file name that is neither .svg nor .png."""
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"plot={str(path)!r} ends neither in .svg nor in .png", hint="Name the file so.")


def altair() -> Any:
    """The package that draws.

    Raises:
        MissingExtraError: It is not installed, or what turns its charts into files is not.
    """
    try:
        import altair as alt  # noqa: PLC0415  (optional, and slow to load)
        import vl_convert  # noqa: F401, PLC0415  (altair asks for it only when it saves)
    except ImportError as error:
        message = f"plots need a package that is not installed: {error.name}"
        raise MissingExtraError(message, hint="Run: pip install 'samesame[report]'") from error
    return alt


def _curve_chart(curve: tuple[CurvePoint, ...], threshold: float, title: str, subtitle: str) -> Any:
    alt = altair()
    points = [point._asdict() for point in curve]
    x = alt.X("similarity:Q", title="Jaccard similarity", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("found:Q", title="chance to be found", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(alt.Data(values=points))
    wasted = base.transform_filter(f"datum.similarity <= {threshold}").mark_area(color=_ORANGE, opacity=0.35)
    lost = base.transform_filter(f"datum.similarity >= {threshold}").mark_area(color=_RED, opacity=0.35)
    rule = alt.Chart(alt.Data(values=[{"similarity": threshold}])).mark_rule(color=_GREY, strokeDash=[4, 4])
    layers = (
        wasted.encode(x=x, y=y),
        lost.encode(x=x, y=y, y2=alt.datum(1)),
        rule.encode(x="similarity:Q"),
        base.mark_line(color=_BLUE, strokeWidth=2).encode(x=x, y=y),
    )
    heading = alt.TitleParams(title, subtitle=subtitle, anchor="start")
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=heading)
