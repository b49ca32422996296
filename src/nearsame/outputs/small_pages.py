"""Plans and mirrors as pages: a few tables, and a picture where there is one.

1. Everything shown stands in the record; nothing is computed here but words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from nearsame._version import __version__
from nearsame.answers.findings import Plan, PlanCurve, SimHashPlan
from nearsame.dataclass import dataclass
from nearsame.outputs import plots
from nearsame.outputs.evaluations import Table
from nearsame.outputs.html import render
from nearsame.printable import shortened
from nearsame.shares import counted, exactly, percent, small_percent

__all__ = ["SmallPage", "of_mirrors", "of_plan", "small_page"]

_MIRRORS, _NAME = 500, 300  # pairs that the page lists, and characters of a name there
_STEPS = slice(5, None, 5)  # of a curve in hundredths


@dataclass(frozen=True)
class SmallPage:
    """What such a page says.

    Attributes:
        heading: its name.
        summary: the answer in words.
        tables: likewise in numbers.
        settings: what it was asked with.
        record: all of it, JSON-able.
        draw: makes its pictures.
    """

    heading: str
    summary: str
    tables: tuple[Table, ...]
    settings: Mapping[str, Any]
    record: Mapping[str, Any]
    draw: Callable[[], Sequence[Any]] = field(default=tuple)


def small_page(page: SmallPage) -> str:
    """The page."""
    return render(
        "evaluation.html",
        heading=page.heading,
        parts=(),
        summary=page.summary,
        tables=page.tables,
        conclusion=((), ""),
        pictures=[plots.svg(chart) for chart in page.draw()],
        versions={"nearsame": __version__},
        settings=page.settings,
    )


def of_plan(plan: Plan | SimHashPlan) -> SmallPage:
    """A plan."""
    record = plan.record()
    names = ("threshold", "recall", "num_perm", "bits", "k", "measure", "codes")
    settings = {name: record[name] for name in names if name in record}
    if isinstance(plan, Plan):
        heading, summary, tables = "Plan for MinHash", _bands(plan), _of_bands(plan)
        return SmallPage(heading, summary, tuple(tables), settings, record, lambda: [plots.plan_chart(plan)])
    found = f"{small_percent(plan.at_threshold)} of the pairs at {exactly(plan.threshold)}"
    by = f"{found}, and half of them from {plan.half:.3f} on"
    summary = f"k={plan.k} finds {by}. A recall of {plan.recall:g} there takes k={plan.least_k}."
    tables = _of_codes(plan)
    return SmallPage("Plan for SimHash", summary, tuple(tables), settings, record, lambda: [plots.simhash_chart(plan)])


def _bands(plan: Plan) -> str:
    shape = f"{counted(plan.shape.bands, 'band')} of {counted(plan.shape.rows, 'row')}"
    return " ".join([f"{shape}: {plan.reason}.", *(f"{note}." for note in plan.notes)])


def _of_bands(plan: Plan) -> Iterator[Table]:
    shape = plan.shape
    yield _curves([PlanCurve(f"{shape.bands} x {shape.rows}", plan.curve), *plan.also], "Jaccard similarity")
    rows = tuple((f"{similarity:g}", small_percent(share)) for similarity, share in plan.misses)
    yield Table("Pairs that it misses", ("at", "missed"), rows)
    columns = ("bands x rows", f"found at {exactly(plan.threshold)}", "wasted below", "lost above", "why")
    shapes = sorted((shape, *plan.others), key=lambda one: (-one.rows, -one.bands))
    cells = tuple(
        (
            f"{one.bands} x {one.rows}", f"{one.at_threshold:.4f}", f"{one.false_positive_area:.4f}",
            f"{one.false_negative_area:.5f}", "this one" if one is shape else one.note,
        )
        for one in shapes
    )  # fmt: skip
    yield Table(
        "Bands and rows", columns, cells, "Areas: under the curve below the threshold, over it above.", ("why",)
    )
    if (expected := plan.expected) is not None:
        pairs = tuple((f"{low:.2f}", f"{high:.2f}", f"{count:,.0f}") for low, high, count in expected.histogram)
        remark = (
            f"{expected.documents:,} documents, {expected.sampled:,} looked at: {expected.candidates:,.0f} candidates"
            f" to be verified; {expected.similar:,.0f} pairs at the threshold or above, of these {expected.missed:,.2f}"
            f" missed. Below {expected.listed_from:g} estimated from {expected.drawn:,} random pairs."
        )
        yield Table("In the corpus", ("similarity from", "to", "pairs"), pairs, remark)


def _of_codes(plan: SimHashPlan) -> Iterator[Table]:
    yield _curves([PlanCurve(f"k={plan.k}", plan.curve), *plan.also], plan.measure)
    columns = ("k", *(f"at {similarity:g}" for similarity in plan.similarities))
    rows = tuple((f"{k}", *map(small_percent, chances)) for k, chances in plan.by_k)
    yield Table("Chance to be within k bits", columns, rows)
    searches = tuple(
        (
            f"{way.blocks}", f"{way.header}", f"{way.tables}", f"{way.comparisons:,.0f}", f"{way.seconds:.3g}",
            "this one" if way == plan.search else "",
        )
        for way in sorted({plan.search, *plan.searches})
    )  # fmt: skip
    columns = ("blocks", "header", "tables", "comparisons", "seconds", "chosen")
    remark = "Comparisons are to be expected of codes whose bits are fair, and seconds of one core."
    yield Table(f"To find all pairs among {plan.codes:,} codes", columns, searches, remark, ("chosen",))


def _curves(curves: Sequence[PlanCurve], by: str) -> Table:
    columns = (by, *(curve.name for curve in curves))
    points = zip(*(curve.points[_STEPS] for curve in curves), strict=True)
    rows = tuple((f"{some[0].similarity:.2f}", *(f"{point.found:.4f}" for point in some)) for some in points)
    return Table("Chance that a pair is found", columns, rows)


def of_mirrors(record: Mapping[str, Any]) -> SmallPage:
    """Mirrors, by the record of the answer."""
    stats, found = record["stats"], record["mirrors"]
    counts = tuple((name.replace("_", " "), f"{value:,}") for name, value in stats.items() if isinstance(value, int))
    columns = ("keep", "a", "b", "kind", "common paths", "agree", "a in b", "b in a")
    rows = tuple(
        (
            *(shortened(row[name], _NAME) for name in ("keep", "a", "b")),
            row["kind"],
            f"{row['common']:,}",
            *_shares(row),
        )
        for row in found[:_MIRRORS]
    )
    left = len(found) - len(rows)
    remark = f"{left:,} more: the folder of -o has them all." if left else ""
    tables = [Table("Mirrors", columns, rows, remark, ("a", "b", "kind"))] if rows else []
    mapped = tuple((reason, f"{times:,}") for reason, times in stats["mapped"].items())
    tables += [Table("URLs that lead to another one", ("reason", "URLs"), mapped)] if mapped else []
    pairs = f"{counted(found, 'pair')} of mirrors in {counted(stats['groups'], 'group')}"
    summary = f"{pairs}, in {counted(stats['pages'], 'page')}."
    tables.append(Table("What was read", ("of", "number"), counts))
    return SmallPage("Mirrors", summary, tuple(tables), record["settings"], record)


def _shares(row: Mapping[str, Any]) -> Iterator[str]:
    return (percent(row[name], 1) for name in ("agreement", "a_in_b", "b_in_a"))
