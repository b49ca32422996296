"""What a notebook shows of answers: tables, curves and texts side by side, in small pieces of HTML.

1. Every text is escaped by `element`, which alone makes HTML; there is no script, and nothing is fetched.
2. Colours let those of the page through, so that cells read well in light and in dark notebooks.
3. No package is needed beyond those of nearsame itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import pyarrow as pa

from nearsame.answers.comparisons import Comparison, Explanation
from nearsame.answers.findings import CurvePoint, Evaluation, Plan, SimHashPlan
from nearsame.answers.matches import Match, Matches
from nearsame.answers.reports import RunReport, SimilarityBin
from nearsame.outputs import comparison, evaluations
from nearsame.outputs.marking import MarkedPiece
from nearsame.outputs.similarity_bars import drawn
from nearsame.printable import printable
from nearsame.shares import cut, exactly, small_percent

__all__ = [
    "Cell",
    "Html",
    "bars",
    "beside",
    "cell",
    "curve",
    "element",
    "figures",
    "share",
    "shown",
    "spark",
    "table",
    "told",
]

_LONGEST = 300  # characters of a text in a table
_ROWS = 20
_PASSAGES = 5
_DIGITS = 12
_CODE = re.compile(r"[0-9a-f]{16,}")  # a hash, or its bits
_MARKS = {"shared": "mark", "other": "span"}


class Html(str):
    """HTML that was made here: what is no more than a `str` is a text, and is escaped."""

    __slots__ = ()


Content = str | int | float | None


class Cell:
    """What a notebook shows, and a terminal as a text."""

    def __init__(self, text: str, *parts: Html) -> None:
        self._text, self._parts = text, parts

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return cell(*self._parts)


def element(name: str, *content: Content, kind: str = "", **attributes: Any) -> Html:
    """An element with its content: texts and numbers, escaped, and what was made here.

    >>> element("b", "<i>", kind="number")
    '<b class="number">&lt;i&gt;</b>'
    """
    given = {"class": kind or None, **{key.replace("_", "-"): value for key, value in attributes.items()}}
    said = "".join(f' {key}="{escape(str(value))}"' for key, value in given.items() if value is not None)
    return Html(f"<{name}{said}>{''.join(map(_escaped, content))}</{name}>")


def told(text: str) -> Html:
    """A paragraph."""
    return element("p", text, dir="auto")


def cell(*parts: Html) -> str:
    """What stands below the cell that asked for it."""
    return element("div", Html(f"<style>{_style()}</style>"), *parts, kind="nearsame")


@cache
def _style() -> str:
    return "".join(files(__package__).joinpath("templates", "cells.css").read_text("utf-8").splitlines()[1:])


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Content]], *, most: int = _ROWS) -> Html:
    """A table; numbers are set to the right, and of many rows the first are shown."""
    rows = list(rows)
    right = [bool(rows) and all(_is_number(row[at]) for row in rows) for at in range(len(columns))]
    head = [element("th", name, scope="col", kind="number" if is_right else "")
            for name, is_right in zip(columns, right, strict=True)]  # fmt: skip
    body = [
        element("tr", *(_cell(value, is_right=right[at], is_first=at == 0) for at, value in enumerate(row)))
        for row in rows[:most]
    ]
    parts = [element("caption", caption)] if caption else []
    made = element("table", *parts, element("thead", element("tr", *head)), element("tbody", *body))
    more = [element("p", f"and {len(rows) - most:,} more", kind="quiet")] if len(rows) > most else []
    return Html("".join([element("div", made, kind="wide"), *more]))


def figures(values: Iterable[tuple[str, str, str]]) -> Html:
    """Numbers that are to be seen first: (name, value, remark)."""
    return element("dl", *(
        element("div", element("dt", name), element("dd", value), *([element("dd", remark)] if remark else []))
        for name, value, remark in values
    ))  # fmt: skip


def beside(names: tuple[str, str], sides: tuple[Sequence[MarkedPiece], Sequence[MarkedPiece]]) -> Html:
    """Two texts side by side: what both have is marked, and so is what only one has."""
    return element("div", *(
        element("div", element("p", name, kind="side", dir="auto"),
                element("div", *map(_piece, pieces, [alone] * len(pieces)), kind="text", dir="auto"))
        for name, pieces, alone in zip(names, sides, ("del", "ins"), strict=True)
    ), kind="both")  # fmt: skip


def share(value: float) -> Html:
    """A number from 0 to 1 as a bar."""
    width = round(100 * min(max(value, 0.0), 1.0), 1)
    bar = element("rect", kind="bar", width=width, height=10, rx=2)
    return element("svg", bar, kind="share", viewBox="0 0 100 10", preserveAspectRatio="none", height=10,
                   aria_hidden="true")  # fmt: skip


def spark(heights: Sequence[float]) -> Html:
    """Shares from 0 to 1 as small bars beside each other."""
    shapes = [
        element("rect", kind="bar", x=at, y=round(20 - 20 * height, 1), width=0.8, height=round(20 * height, 1))
        for at, height in enumerate(heights)
    ]
    return element("svg", *shapes, kind="spark", viewBox=f"0 0 {len(heights)} 20", preserveAspectRatio="none",
                   height=20, aria_hidden="true")  # fmt: skip


def bars(bins: Sequence[SimilarityBin], name: str) -> Html:
    """Pairs by similarity."""
    picture = drawn(bins)
    left, width, height, ticks = (picture[key] for key in ("left", "width", "height", "ticks"))
    axes = [element("line", kind="axis", x1=left, x2=width, y1=y, y2=y) for _, y in ticks["linear"]]
    values = [element("text", value, x=left - 6, y=y + 4, text_anchor="end") for value, y in ticks["linear"]]
    shapes = [
        element("rect", element("title", bar.title), kind="bar", x=bar.x, y=bar.y, width=bar.width, height=bar.height)
        for bar in picture["bars"]["linear"]
    ]
    feet = [element("text", text, x=x, y=height - 4, text_anchor="middle") for text, x in picture["labels"]]
    return element("svg", *axes, *values, *shapes, *feet, viewBox=f"0 0 {width} {height}", role="img", aria_label=name)


def curve(points: Sequence[CurvePoint], threshold: float, name: str) -> Html:
    """A chance over the similarity, and the threshold."""

    def place(similarity: float, found: float) -> str:
        return f"{40 + 600 * similarity:.1f},{10 + 180 * (1 - found):.1f}"

    lines = [element("line", kind="axis", x1=40, x2=640, y1=y, y2=y) for y in (10, 100, 190)]
    named = (("1", 10), ("0.5", 100), ("0", 190))
    marks = [element("text", text, x=34, y=y + 4, text_anchor="end") for text, y in named]
    feet = [element("text", f"{step / 5:g}", x=40 + 120 * step, y=208, text_anchor="middle") for step in range(6)]
    at = 40 + 600 * threshold
    path = element("polyline", kind="curve", points=" ".join(place(*point) for point in points))
    mark = element(
        "line", element("title", f"threshold {exactly(threshold)}"), kind="mark", x1=at, x2=at, y1=10, y2=190
    )
    return element("svg", *lines, *marks, *feet, path, mark, viewBox="0 0 660 214", role="img", aria_label=name)


def shown(answer: Any) -> str:
    """An answer as a cell."""
    made = next((draw for kind, draw in _SHOWN.items() if isinstance(answer, kind)), _plain)
    return cell(*made(answer))


def _comparison(compared: Comparison) -> list[Html]:
    rows = []
    for one in compared.measures:
        value = "" if one.similarity is None else cut(one.similarity)
        bar = "" if one.similarity is None else share(float(one.similarity))
        rows.append((comparison.NAMES[one.name], value, bar, comparison.shown_distance(one, value), one.note or one.of))
    parts = [element("p", element("b", comparison.verdict(compared)))]
    parts.append(table("", ("measure", "similarity", "", "distance", "of"), rows))
    longest = sorted(compared.passages, key=lambda passage: -passage.tokens)[:_PASSAGES]
    for passage in longest:
        sides = [[MarkedPiece("shared", text[:_LONGEST])] for text in (passage.a_text, passage.b_text)]
        begins = " (its beginning)" if max(len(passage.a_text), len(passage.b_text)) > _LONGEST else ""
        parts += [element("h4", f"{passage.tokens:,} tokens in both{begins}"), beside(("a", "b"), (sides[0], sides[1]))]
    if len(longest) < len(compared.passages):
        parts.append(told(f"These are the longest of {len(compared.passages):,} shared passages."))
    return parts


def _explanation(walk: Explanation) -> list[Html]:
    parts = []
    for number, step in enumerate(walk.steps, 1):
        parts.append(element("h4", f"{number}. {step.title}"))
        parts += [told(step.note)] if step.note else []
        parts += [table("", step.columns, step.rows)] if step.rows else []
    return parts


def _plan(plan: Plan) -> list[Html]:
    shape, missed = plan.shape, [(f"{at:g}", f"{100 * lost:.3g} %") for at, lost in plan.misses]
    parts = [
        told(
            f"MinHash: {shape.bands} bands of {shape.rows} rows for threshold {exactly(plan.threshold)}: {plan.reason}."
        ),
        curve(plan.curve, plan.threshold, "Chance that a pair is found, by its similarity"),
        table("Pairs that it misses", ("at", "share"), missed),
    ]
    if plan.expected is not None:
        known = plan.expected
        parts.append(told(
            f"In the corpus of {known.documents:,} documents: about {known.candidates:,.0f} candidates,"
            f" {known.similar:,.0f} pairs from {exactly(plan.threshold)} on, {known.missed:,.2f} of them missed."
        ))  # fmt: skip
    return [*parts, *(told(f"Note: {note}.") for note in plan.notes)]


def _simhash_plan(plan: SimHashPlan) -> list[Html]:
    at = f"k={plan.k} finds {small_percent(plan.at_threshold)} of the pairs at {exactly(plan.threshold)}"
    name = f"Chance to be within k={plan.k} of {plan.bits} bits, by the similarity"
    return [told(f"SimHash, {plan.bits} bits: {at}; a recall of {plan.recall:g} takes k={plan.least_k}."),
            curve(plan.curve, plan.threshold, name)]  # fmt: skip


def _evaluation(evaluation: Evaluation) -> list[Html]:
    parts = [told(evaluations.heading(evaluation))]
    for one in evaluations.tables(evaluation):
        drawn_rows = [(*row[:-1], spark(heights)) for row, heights in zip(one.rows, one.heights, strict=False)]
        parts.append(table(one.title, one.columns, drawn_rows or one.rows))
    said, command = evaluations.conclusion(evaluation)
    return [*parts, *map(told, said), *([element("pre", command)] if command else [])]


def _matches(matches: Sequence[Match]) -> list[Html]:
    rows = [
        (
            match.id,
            "" if match.similarity is None else cut(match.similarity),
            "" if match.similarity is None else share(match.similarity),
            ", ".join(match.found_by),
            match.url or "",
        )
        for match in matches
    ]
    return [table("", ("document", "similarity", "", "found by", "URL"), rows) if rows else told("No match.")]


def _report(report: RunReport) -> list[Html]:
    named = ((figure.name, figure.value, figure.remark) for figure in report.figures)
    return [told(repr(report)), figures(named)]


def _plain(answer: Any) -> list[Html]:
    """The rows of its table, if it has one; otherwise what its record has but nothing and zeros."""
    rows = getattr(answer, "table", None)
    if isinstance(rows, pa.Table):
        some = [[_said(value) for value in row.values()] for row in rows.slice(0, _ROWS).to_pylist()]
        more = [told(f"and {rows.num_rows - _ROWS:,} more")] if rows.num_rows > _ROWS else []
        return [told(repr(answer)), *([table("", rows.column_names, some)] if some else []), *more]
    facts = [(name.replace("_", " "), _said(value)) for name, value in answer.record().items() if value]
    return [told(repr(answer)), table("", ("", ""), facts, most=len(facts))]


def _said(value: Any) -> str:
    """A value of a record in few words."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_said(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


_SHOWN: dict[type, Callable[[Any], list[Html]]] = {
    Comparison: _comparison,
    Explanation: _explanation,
    Plan: _plan,
    SimHashPlan: _simhash_plan,
    Evaluation: _evaluation,
    RunReport: _report,
    Match: lambda match: _matches([match]),
    Matches: _matches,
}


def _piece(piece: MarkedPiece, alone: str) -> Html:
    if piece.kind == "gap":
        return element("i", f" [{piece.left_out:,} characters left out] ", kind="quiet")
    return element(_MARKS.get(piece.kind, alone), piece.text) if piece.text else Html()


def _cell(value: Content, *, is_right: bool, is_first: bool) -> Html:
    if isinstance(value, str) and not isinstance(value, Html) and len(value) > _LONGEST:
        value = value[:_LONGEST] + "…"
    is_code = isinstance(value, str) and not isinstance(value, Html) and _CODE.fullmatch(value) is not None
    kind = "code" if is_code else "number" if is_right else ""
    return element("th", value, scope="row", kind=kind) if is_first else element("td", value, kind=kind)


def _is_number(value: Content) -> bool:
    """Whether it is a number or a place of one; what has many digits is a code."""
    if isinstance(value, Html) or not isinstance(value, str) or value in ("", "-"):
        return not isinstance(value, Html)
    plain = value.replace(",", "").replace(".", "", 1).rstrip(" %").lstrip("-")
    return plain.isdecimal() and len(plain) <= _DIGITS


def _escaped(value: Content) -> str:
    if isinstance(value, Html):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else escape(printable(str(value), lines=True))
