"""Pictures, as SVG or PNG: nothing in them comes from elsewhere, and no browser is needed to draw them.

1. Plain data in, bytes out; Altair and vl-convert (the extra `report`) are loaded when a picture is drawn.
2. The same data gives the same picture.
"""

import contextlib
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nearsame.answers.advice import Advice, Trade
from nearsame.answers.findings import CurvePoint, Evaluation, Plan, PlanCurve, SimHashPlan
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.outputs.folder import appearing, require_place
from nearsame.shares import exactly, small_percent

__all__ = [
    "advice_chart",
    "altair",
    "check_name",
    "for_reports",
    "plan_chart",
    "scatter_chart",
    "seconds_chart",
    "simhash_chart",
    "svg",
    "write_chart",
]

_SUFFIXES = (".svg", ".png")
_BLUE, _RED, _ORANGE, _GREY = "#2a5db0", "#c0392b", "#e08e0b", "#888888"
_COLOURS = (_BLUE, _ORANGE, _RED, "#2e8b57", "#7d3c98", _GREY)
_WIDTH, _HEIGHT = 560, 320
_POINTS = 300  # of a curve
_INSTANT = 1e-4  # seconds: a logarithm has no zero


def plan_chart(plan: Plan) -> Any:
    """The S-curve, what is wasted below the threshold and what is lost above it; several curves with a legend."""
    if plan.also:
        curves = [PlanCurve(f"{plan.shape.bands} x {plan.shape.rows}", plan.curve), *plan.also]
        return _curves_chart(curves, plan.threshold, "Bands x rows", "Jaccard similarity")
    title = f"{plan.shape.bands} bands of {plan.shape.rows} rows"
    areas = (
        f"wasted below {exactly(plan.threshold)}: area {plan.shape.false_positive_area:.4f}",
        f"lost above: area {plan.shape.false_negative_area:.5f}",
    )
    return _curve_chart(plan.curve, plan.threshold, title, ", ".join(areas))


def simhash_chart(plan: SimHashPlan) -> Any:
    """The chance to be within k bits, of several k with a legend."""
    axis = "Jaccard similarity" if plan.measure == "jaccard" else "cosine"
    if plan.also:
        curves = [PlanCurve(f"k={plan.k}", plan.curve), *plan.also]
        return _curves_chart(curves, plan.threshold, f"SimHash, {plan.bits} bits: distance at most k", axis)
    title = f"SimHash, {plan.bits} bits: distance at most {plan.k}"
    subtitle = f"at {exactly(plan.threshold)}: {small_percent(plan.at_threshold)}"
    return _curve_chart(plan.curve, plan.threshold, title, subtitle, axis)


def seconds_chart(evaluation: Evaluation) -> Any:
    """How long each method took, on a logarithmic scale."""
    alt = altair()
    rows = [{"method": one.method, "seconds": max(one.seconds, _INSTANT)} for one in evaluation.scores if one.seconds]
    rows += [{"method": line.method, "seconds": line.seconds} for line in evaluation.closing[:1]]
    x = alt.X("seconds:Q", scale=alt.Scale(type="log"), title="seconds")
    y = alt.Y("method:N", sort=None, title=None, axis=alt.Axis(labelLimit=260))
    bars = alt.Chart(alt.Data(values=rows)).mark_point(color=_BLUE, filled=True, size=90).encode(x=x, y=y)
    heading = alt.TitleParams("Time", subtitle="on a logarithmic scale", anchor="start")
    # the widths of labels are estimated, and short by a letter without the padding
    padding = {"left": 24, "top": 5, "right": 5, "bottom": 5}
    return bars.properties(width=_WIDTH - 140, height=alt.Step(24), title=heading, padding=padding)


def scatter_chart(evaluation: Evaluation) -> Any:
    """The similarity of codes against the cosine of what they stand for, and the angle that they estimate."""
    alt = altair()
    points = [point._asdict() for point in evaluation.scatter]
    x = alt.X("cosine:Q", title="cosine of the features", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("similarity:Q", title="equal bits of the codes", scale=alt.Scale(domain=[0.2, 1], clamp=True))
    angle = [{"cosine": c / 100, "similarity": 1 - math.acos(c / 100) / math.pi} for c in range(101)]
    dots = alt.Chart(alt.Data(values=points)).mark_circle(color=_BLUE, opacity=0.45, size=28).encode(x=x, y=y)
    line = alt.Chart(alt.Data(values=angle)).mark_line(color=_RED).encode(x=x, y=y)
    subtitle = f"{len(points):,} pairs, near and far; the line is 1 - angle / pi"
    heading = alt.TitleParams("How well SimHash codes follow the angle", subtitle=subtitle, anchor="start")
    return alt.layer(dots, line).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def advice_chart(advice: Advice) -> Any:
    """Precision against recall on the judged pairs: a curve for each of the best settings, as far as colours go."""
    alt = altair()
    shown = [one for one in advice.tried if one.curve][: len(_COLOURS)]
    rows = [
        {"recall": line.recall, "precision": line.precision, "threshold": line.threshold, "setting": one.label}
        for one in shown
        for line in _thinned(one.curve)
    ]
    x = alt.X("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("precision:Q", title="Precision", scale=alt.Scale(domain=[0, 1]))
    colours = alt.Scale(domain=[one.label for one in shown], range=list(_COLOURS[: len(shown)]))
    colour = alt.Color(
        "setting:N", scale=colours, title=None, legend=alt.Legend(orient="bottom", columns=1, labelLimit=500)
    )
    lines = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=1.5).encode(
        x=x, y=y, color=colour, order=alt.Order("threshold:Q")
    )  # fmt: skip
    best = [{"recall": one.recall, "precision": one.precision, "setting": one.label} for one in shown]
    points = alt.Chart(alt.Data(values=best)).mark_point(filled=True, size=50).encode(x=x, y=y, color=colour)
    heading = alt.TitleParams(
        "Precision and recall of the judged pairs", subtitle="by setting; a point where F1 is greatest", anchor="start"
    )
    return alt.layer(lines, points).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def _thinned(curve: tuple[Trade, ...]) -> tuple[Trade, ...]:
    """Some of its lines, the first and the last among them: a picture shows no more."""
    step = -(-len(curve) // _POINTS)
    return (*curve[:-1:step], *curve[-1:])


def svg(chart: Any) -> str:
    """A chart as SVG text, to stand in a page."""
    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()


def write_chart(chart: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a chart to a file, as SVG or PNG by its name; it appears complete or not at all.

    Raises:
        ConfigError: The name ends otherwise.
        OutputError: The file exists, or cannot be written.
    """
    check_name(path)
    with appearing(require_place(path, folder=False, overwrite=overwrite)) as made:
        if Path(path).suffix.lower() == ".svg":
            made.write_text(svg(chart), "utf-8")
        else:
            buffer = io.BytesIO()
            chart.save(buffer, format="png", scale_factor=2)
            made.write_bytes(buffer.getvalue())


def check_name(path: str | Path) -> None:
    """Refuse a file name that is neither .svg nor .png."""
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"plot={str(path)!r} ends neither in .svg nor in .png", hint="Name the file so.")


def altair() -> Any:
    """The package that draws.

    Raises:
        MissingExtraError: It is not installed, or what turns its charts into files is not.
    """
    with for_reports("plots need"):
        import altair as alt  # noqa: PLC0415  (optional, and slow to load)
        import vl_convert  # noqa: F401, PLC0415  (altair asks for it only when it saves)
    return alt


@contextlib.contextmanager
def for_reports(needed: str) -> Iterator[None]:
    """Say which extra brings a package that is not there: what is `needed` says for what."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError.of(f"{needed} a package that is not installed: {error.name}", "report") from error


def _curves_chart(curves: list[PlanCurve], threshold: float, title: str, axis: str) -> Any:
    """Each curve in a colour of its own."""
    alt = altair()
    rows = [{**point._asdict(), "setting": name} for name, points in curves for point in points]
    colours = alt.Scale(domain=[curve.name for curve in curves], range=list(_COLOURS[: len(curves)]))
    lines = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2).encode(
        x=alt.X("similarity:Q", title=axis, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("found:Q", title="chance to be found", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("setting:N", scale=colours, title=None, legend=alt.Legend(orient="right")),
    )  # fmt: skip
    rule = alt.Chart(alt.Data(values=[{"similarity": threshold}])).mark_rule(color=_GREY, strokeDash=[4, 4])
    heading = alt.TitleParams(title, subtitle=f"dashed: the threshold, {exactly(threshold)}", anchor="start")
    padding = {"left": 5, "top": 5, "right": 16, "bottom": 5}  # as above
    return alt.layer(rule.encode(x="similarity:Q"), lines).properties(
        width=_WIDTH, height=_HEIGHT, title=heading, padding=padding
    )


def _curve_chart(
    curve: tuple[CurvePoint, ...], threshold: float, title: str, subtitle: str, axis: str = "Jaccard similarity"
) -> Any:
    alt = altair()
    points = [point._asdict() for point in curve]
    x = alt.X("similarity:Q", title=axis, scale=alt.Scale(domain=[0, 1]))
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
