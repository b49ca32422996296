"""What a notebook shows of a result: its figures, its distributions, and some pairs side by side.

`Result` and `Pairs` offer it, and load it when it is asked for: it stands above them.
"""

import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from nearsame.answers.stats import Stats
from nearsame.errors import ConfigError
from nearsame.flow.results import Pairs, Result
from nearsame.outputs import reports
from nearsame.outputs.cells import Cell, Html, bars, beside, element, figures, share, table, told
from nearsame.outputs.console import clean, window
from nearsame.outputs.marking import MarkedPiece
from nearsame.outputs.promises import condition, content, guarantee, in_bytes, measured, near
from nearsame.outputs.remarks import remarks
from nearsame.shares import counted, cut, percent
from nearsame.studies.distributions import bins, cluster_table, grid, sizes
from nearsame.studies.finished import finished
from nearsame.studies.report import report as made
from nearsame.studies.side_by_side import Sides

__all__ = ["clusters", "leaks", "shown_pairs", "similarity", "summary", "written"]

_SAID = {"dedup": ("removed", "its witness, which stays"), "pairs": ("a", "b")}
_WIDTH = 76  # of a line of plain text
_NO_PAIRS = "No pairs."


def summary(found: Result | Pairs) -> Cell:
    """The headline: what was found, how sure it is, and how similar the pairs are."""
    stats = found.stats
    is_dedup = isinstance(found, Result)
    parts = [figures(_figures(found, stats))]
    if is_dedup and stats.documents:
        parts.append(told(f"Guarantee: {guarantee(stats)}"))
    if stats.audit:
        parts.append(told(f"Measured: {measured(stats.audit)}"))
    parts += [told(remark) for remark in remarks(stats, found.passed_over)]
    if isinstance(found.pairs, pa.Table) and len(found.pairs):
        parts.append(_similarity(found))
    return Cell(repr(found), *parts)


def similarity(found: Result | Pairs) -> Cell:
    """How many pairs there are by similarity.

    Raises:
        ConfigError: The run was on Spark.
    """
    count = len(finished(found).pairs)
    return Cell(f"Similarity of {counted(count, 'pair')}", _similarity(found) if count else told(_NO_PAIRS))


def clusters(found: Result | Pairs) -> Cell:
    """How many clusters there are by size, and which are the largest.

    Raises:
        ConfigError: The run was on Spark, or found pairs, which have no clusters.
    """
    if isinstance(found, Pairs):
        raise ConfigError("pairs have no clusters: who stays is not decided", hint="Ask dedup.")
    run = finished(found)
    column = run.pairs.column("similarity").to_numpy()
    _, counts, first, least = cluster_table(run.pairs.column("cluster").to_numpy(), column)
    keepers = run.pairs.column("b_id").take(pa.array(first)).to_pylist()
    by_size = sizes(counts)
    most = max((count for _, count in by_size), default=1)
    if not keepers:
        return Cell("No clusters.", told("No clusters."))
    rows = zip(keepers, counts.tolist(), map(cut, least.tolist()), strict=True)
    return Cell(
        counted(len(keepers), "cluster"),
        table(
            "Clusters by size", ("documents", "clusters", ""), [(size, n, share(n / most)) for size, n in by_size if n]
        ),
        table("The largest", ("kept document", "documents", "least similarity"), list(rows), most=10),
    )


def leaks(found: Any) -> Cell:
    """What `leaks` found: of each benchmark how much, and which items first."""
    stats = found.stats
    where = f"in {counted(stats.leaked_documents, 'document')}"
    of_all = percent(stats.leaked / max(stats.items, 1), 1)
    about = [
        ("documents", f"{stats.documents:,}", in_bytes(stats.text_bytes)),
        ("items", f"{stats.items:,}", f"{stats.sought:,} were looked for"),
        ("leaked", f"{stats.leaked:,}", f"{of_all}, {where}"),
    ]
    rows = [
        (one.name, one.items, one.sought, one.leaked, share(one.leaked / max(one.items, 1)), one.documents)
        for one in stats.benchmarks
    ]
    columns = ("benchmark", "items", "looked for", "leaked", "", "documents")
    parts = [figures(about), table("", columns, rows)]
    if len(found.items):
        items = ((one["benchmark"], one["item"], cut(one["score"]), ", ".join(one["columns"]), one["documents"])
                 for one in found.items.to_pylist())  # fmt: skip
        parts.append(table("Leaked items", ("benchmark", "item", "share", "columns", "documents"), items, most=10))
    return Cell(repr(found), *parts, *(told(f"Note: {note}.") for note in stats.notes))


def shown_pairs(found: Result | Pairs, count: int) -> Cell:
    """Some pairs with their texts side by side, the least similar first."""
    of, (name, other) = ("dedup", ("", "witness_")) if isinstance(found, Result) else ("pairs", ("a_", "b_"))
    rows = found.examples(count).to_pylist()
    sides, said = Sides(found.stats.recipe, of, found.stats.least), _SAID[of]
    parts, lines = list[Html](), list[str]()
    for row in rows:
        ids, both = (tuple(row[f"{side}{field}"] for side in (name, other)) for field in ("id", "text"))
        parts += _pair(row, ids, both, sides, said)
        lines += _plain(row, ids, both)
    return Cell("\n".join(lines) or _NO_PAIRS, *(parts or [told(_NO_PAIRS)]))


def written(
    found: Result | Pairs,
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    texts: bool,
    against: str | os.PathLike[str] | None,
) -> None:
    """Write its report as a page, or as JSON."""
    reports.require_report(path)
    reports.write_report(made(found, texts=texts, against=against), path, overwrite=overwrite)


def _figures(found: Result | Pairs, stats: Stats) -> Iterator[tuple[str, str, str]]:
    judged = max(stats.documents - stats.against, 1)
    yield "documents", f"{stats.documents:,}", in_bytes(stats.text_bytes)
    if isinstance(found, Pairs):
        yield "pairs", f"{found.num_pairs:,}", condition(stats)
        return
    yield "kept", f"{stats.kept:,}", percent(stats.kept / judged, 1)
    yield "removed", f"{stats.removed:,}", percent(stats.removed / judged, 1)
    yield "exact copies", f"{stats.exact_copies:,}", f"the same {content(stats)}"
    yield "near copies", f"{stats.near_copies:,}", near(stats)
    yield "clusters", f"{stats.clusters:,}", ""


def _similarity(found: Result | Pairs) -> Html:
    run = finished(found)
    name = f"Pairs by similarity ({run.stats.measure}); the last bar: 1"
    counts = bins(run.pairs.column("similarity").to_numpy(), grid(Fraction(str(run.stats.least))))
    return Html(element("p", name, kind="quiet") + bars(counts, name))


def _pair(
    row: Mapping[str, Any], ids: tuple[str, ...], texts: tuple[str, ...], sides: Sides, said: tuple[str, str]
) -> Iterator[Html]:
    view = sides.of_pair((texts[0], texts[1]), row).view
    pieces = [[_marked(*piece) for piece in side] for side in (view.a, view.b)]
    yield element("h4", f"{cut(row['similarity'])} {row['measure']}")
    yield beside((f"{ids[0]} ({said[0]})", f"{ids[1]} ({said[1]})"), (pieces[0], pieces[1]))


def _marked(kind: Any, text: str, passage: int, left_out: int) -> MarkedPiece:
    return MarkedPiece(kind, text, passage, left_out=left_out)


def _plain(row: Mapping[str, Any], ids: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[str]:
    yield f"{cut(row['similarity'])} {row['measure']}"
    for sign, name, text in zip("-+", ids, window(clean(texts[0]), clean(texts[1])), strict=True):
        yield f"  {sign} {clean(name)[:_WIDTH]}"
        yield f"    {text[:_WIDTH]}"
