"""Pages of HTML that stand alone: no script, no font, no picture from elsewhere.

1. The templates beside this file only print; what they print is plain data, escaped.
2. Jinja2 (the extra `report`) is loaded when a page is made.
"""

from importlib.resources import files
from typing import Any

from nearsame.answers.advice import Advice
from nearsame.answers.findings import Evaluation
from nearsame.outputs import evaluations, plots

__all__ = ["evaluation_page", "render", "require"]


def evaluation_page(evaluation: Evaluation) -> str:
    """An evaluation with its pictures."""
    charts = [plots.seconds_chart(evaluation)]
    if evaluation.scatter:
        charts.append(plots.scatter_chart(evaluation))
    if isinstance(evaluation.advice, Advice):
        charts.append(plots.advice_chart(evaluation.advice))
    return render(
        "evaluation.html",
        heading=evaluations.heading(evaluation),
        tables=evaluations.tables(evaluation),
        conclusion=evaluations.conclusion(evaluation),
        pictures=[plots.svg(chart) for chart in charts],
        versions=evaluation.versions,
        settings=evaluation.settings,
    )


def render(name: str, **data: Any) -> str:
    """A template with its data."""
    jinja2 = _jinja2()
    source = files(__package__).joinpath("templates", name).read_text("utf-8")
    settings = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    return str(jinja2.Environment(**settings).from_string(source).render(**data))


def require() -> None:
    """Make sure that pages can be made.

    Raises:
        MissingExtraError: What makes them, or draws their pictures, is not installed.
    """
    _jinja2()
    plots.altair()


def _jinja2() -> Any:
    with plots.for_reports("HTML needs"):
        import jinja2  # noqa: PLC0415  (optional)
    return jinja2
