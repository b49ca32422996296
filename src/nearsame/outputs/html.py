"""Pages of HTML that stand alone: no script, no font, no picture from elsewhere.

1. The templates beside this file only print; what they print is plain data, escaped.
2. A page allows one style and one script at most, by their hashes, and no request to anywhere.
3. Jinja2 (the extra `report`) is loaded when a page is made.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from nearsame._version import __version__
from nearsame.answers.advice import Advice
from nearsame.answers.comparisons import Explanation
from nearsame.answers.findings import Evaluation
from nearsame.answers.reports import KINDS, RunReport
from nearsame.outputs import cluster_layout, evaluations, explanation, plots, similarity_bars, walk_pictures
from nearsame.outputs.page_data import brief, for_a_script
from nearsame.outputs.promises import in_bytes
from nearsame.shares import cut

__all__ = ["evaluation_page", "explanation_page", "render", "report_page", "require", "require_templates"]

_CLUSTERS = 30  # that the page lists
_LONGEST = 2_000  # characters of a setting that are shown
_FOLDED = re.compile(r"[^./_-]*[./_-]+|[^./_-]+")  # pieces of a host or path, after which it may be folded
_LISTED = ("of", "documents", "pairs", "beside", "parts", "bins", "thresholds", "num_pairs", "untold")


def evaluation_page(evaluation: Evaluation) -> str:
    """An evaluation with its pictures."""
    charts = [plots.seconds_chart(evaluation)]
    if evaluation.scatter:
        charts.append(plots.scatter_chart(evaluation))
    if isinstance(evaluation.advice, Advice):
        charts.append(plots.advice_chart(evaluation.advice))
    return render(
        "evaluation.html",
        heading="Evaluation",
        parts=(),
        summary=evaluations.heading(evaluation),
        tables=evaluations.tables(evaluation),
        conclusion=evaluations.conclusion(evaluation),
        pictures=[plots.svg(chart) for chart in charts],
        versions=evaluation.versions,
        settings=evaluation.settings,
    )


def explanation_page(walk: Explanation, *, everything: bool = False) -> str:
    """A walk with its pictures."""
    return render(
        "explanation.html",
        heading=f"{walk.method}, step by step",
        parts=[(f"step-{number}", str(number)) for number in range(1, len(walk.steps) + 1)],
        steps=[
            {
                "title": shown.step.title,
                "note": shown.step.note,
                "picture": walk_pictures.picture(shown.step),
                "columns": list(zip(shown.step.columns, shown.are_numbers, strict=True)),
                "rows": shown.cells,
                "more": shown.more,
            }
            for shown in explanation.shown(walk, everything=everything)
        ],
        versions={"nearsame": __version__},
        settings=walk.recipe,
    )


def report_page(report: RunReport) -> str:
    """A run with its pairs, to be looked at."""
    record = report.record()
    data = {name: record[name] for name in _LISTED} | {"kinds": KINDS}
    data["name"] = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]  # by which a browser knows its marks
    is_dedup, sizes = report.of == "dedup", _sizes(report)
    clusters = min(_CLUSTERS, len(report.clusters))
    return render(
        "report.html",
        report=report,
        heading=f"{'Duplicates' if is_dedup else 'Similar pairs'} in {report.title}",
        versions=report.versions,
        script=_source("tables.js") + _source("report.js"),
        data=for_a_script(data),
        parts=[(id, name) for id, name, is_there in _PARTS if is_there(report)],
        bins=similarity_bars.drawn(report.bins, report.curve, report.below),
        bins_name=f"{'Removed documents by the similarity to their witness' if is_dedup else 'Pairs by similarity'}"
        f" ({report.measure}); the last bar: 1",
        pairs_name="Removed documents and their witnesses" if is_dedup else "Pairs",
        pairs_note=" ".join(_about_pairs(report)),
        touched="removed" if is_dedup else "in a pair",
        untouched="kept" if is_dedup else "in none",
        map_caption=_map_caption(report),
        clusters_name=_clusters_name(clusters, sum(count for _, count in report.sizes)),
        most_clusters=_CLUSTERS,
        graphs=[(graph, cluster_layout.laid_out(graph, report.least)) for graph in report.graphs],
        sizes=sizes,
        most_sizes=max((number for _, count, at in sizes for number in (count, *at)), default=1),
        has_peaks=any(step.peak_memory for step in report.steps),
        most_seconds=max((step.seconds for step in report.steps), default=0) or 1,
        settings=[
            (name, _setting(name, value)) for name, value in report.recipe.items() if value not in (None, [], "")
        ],
    )


def _about_pairs(report: RunReport) -> Iterator[str]:
    """How many there are, which of them are here, and where the others are."""
    shown, texts, cut_ids = len(report.pairs), len(report.beside), sum(one.is_cut for one in report.documents)
    yield f"{report.num_pairs:,} in all."
    if shown < report.num_pairs:
        yield f"{shown:,} of them are here, evenly over the order of similarity."
    if report.untold:
        yield f"No texts: {report.untold}."
    else:
        yield f"{texts:,} {'has its' if texts == 1 else 'have their'} texts here."
    if cut_ids:
        yield f"{cut_ids:,} long {'id is' if cut_ids == 1 else 'ids are'} cut."
    if report.leaves_out and report.data:
        yield f"All pairs with their whole ids: {report.data}."


def _clusters_name(shown: int, clusters: int) -> str:
    return f"The largest {shown:,} of {clusters:,}" if shown < clusters else "All of them, largest first"


def _map_caption(report: RunReport) -> str:
    followed = "at the threshold that is chosen above" if len(report.thresholds) > 1 else ""
    if report.of == "pairs":
        return f"Rows: a; columns: b{followed and f'; {followed}'}"
    return (
        f"Rows: the document that goes{followed and f' {followed}'}; columns: its witness{followed and ' in this run'}"
    )


def _sizes(report: RunReport) -> list[tuple[str, int, list[int]]]:
    """Sizes of clusters: how many have it in the run, and at each threshold."""
    steps = [dict(one.sizes) for one in report.thresholds]
    names = max((report.sizes, *(one.sizes for one in report.thresholds)), key=len)
    return [(name, dict(report.sizes).get(name, 0), [step.get(name, 0) for step in steps]) for name, _ in names]


def render(name: str, *, script: str = "", **data: Any) -> str:
    """A template with its data; a page has one style, and one script at most."""
    jinja2, style = _jinja2(), _source("report.css")
    settings = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_source), **settings)
    environment.filters |= {"number": "{:,}".format, "share": cut, "bytes": in_bytes, "folded": _FOLDED.findall}
    if isinstance(data.get("settings"), Mapping):
        data["settings"] = brief(data["settings"], _LONGEST)
    data |= {"script": script, "script_hash": _hashed(script), "style": style, "style_hash": _hashed(style)}
    return str(environment.get_template(name).render(**data)).lstrip()


_PARTS = (
    ("summary", "Summary", lambda _: True),
    ("changes", "What has changed", lambda report: report.changes),
    ("similarity", "Similarity", lambda report: report.num_pairs),
    ("pairs", "Pairs", lambda report: report.num_pairs),
    ("judging", "How good is it?", lambda report: report.beside),
    ("clusters", "Clusters", lambda report: report.clusters),
    ("sources", "Where they come from", lambda report: report.breakdowns or report.maps),
    ("cost", "Time and memory", lambda _: True),
    ("recipe", "What decided it", lambda _: True),
)


def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text("utf-8")


def _hashed(text: str) -> str:
    """What a policy calls an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _setting(name: str, value: Any) -> str:
    if name == "decisions":
        return f"{value:,} of people"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def require_templates() -> None:
    """Make sure that pages without pictures can be made.

    Raises:
        MissingExtraError: What makes them is not installed.
    """
    _jinja2()


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
