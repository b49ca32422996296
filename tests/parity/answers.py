"""What an engine answers, in a form that can be compared: by the documents' names, in no order.

1. The number of a row is an engine's own; compared are ids, similarities, measures, roles and users' columns.
2. Tables become bags: a line that stands twice counts twice, so repeated ids hide nothing but who is who among them.
3. A pair has a direction: the document of higher priority is first on both engines, where ties go by content.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

import nearsame as ns

__all__ = ["Answer", "deduplicated", "difference", "listed", "local", "on_spark"]

Run = Callable[..., Any]
Lines = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Answer:
    """Tables as bags of lines."""

    pairs: Lines
    removals: Lines
    clusters: Lines
    kept: Lines
    removed: Lines


def local(source: Any, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """How the engine of one machine is asked."""
    return source, settings


def on_spark(engine: Any, layout: Callable[[pa.Table], Any]) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """How Spark is asked, with tables laid out in partitions."""

    def asked(source: Any, **settings: Any) -> tuple[Any, dict[str, Any]]:
        if settings.get("against") is not None:
            settings["against"] = layout(settings["against"])
        settings.pop("ties", None)  # it has no other
        return layout(source), {**settings, "engine": engine}

    return asked


def deduplicated(ask: Run, source: pa.Table, *, higher: str | None = None, **settings: Any) -> Answer:
    """The whole answer of `dedup`; with `higher` that at a higher threshold."""
    documents, given = ask(source, **settings)
    found = ns.dedup(documents, audit=False, **given)
    if higher is not None:
        found = found.at(threshold=higher)
    return Answer(
        _pairs(_arrow(found.pairs)),
        _bag(_arrow(found.removals), ["id", "witness_id", "similarity", "measure"]),
        _clusters(_arrow(found.clusters)),
        _bag(_arrow(found.kept()), ["number"]),
        _bag(_arrow(found.removed()), ["number"]),
    )


def listed(ask: Run, source: pa.Table, **settings: Any) -> Lines:
    """All pairs."""
    settings.setdefault("ties", "content")
    documents, given = ask(source, **settings)
    return _pairs(_arrow(ns.pairs(documents, audit=False, **given).pairs))


def difference(left: Any, right: Any) -> dict[str, Any]:
    """What is in one answer only, by table, a few lines of each; empty for equal answers."""
    if isinstance(left, Counter):
        return {"pairs": _apart(left, right)} if left != right else {}
    names = [each.name for each in fields(left) if getattr(left, each.name) != getattr(right, each.name)]
    return {name: _apart(getattr(left, name), getattr(right, name)) for name in names}


def _apart(left: Lines, right: Lines) -> dict[str, list[Any]]:
    return {
        "only left": sorted((left - right).elements(), key=repr)[:5],
        "only right": sorted((right - left).elements(), key=repr)[:5],
    }


def _arrow(table: Any) -> pa.Table:
    return table if isinstance(table, pa.Table) else table.toArrow()


def _bag(table: pa.Table, names: list[str]) -> Lines:
    return Counter(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _pairs(table: pa.Table) -> Lines:
    extra = [name for name in table.column_names if not name.startswith(("a_id", "a_row", "a_source", "b_id", "b_row"))]
    extra = sorted(set(extra) - {"b_source"})
    return _bag(table, ["a_id", "b_id", *extra])


def _clusters(table: pa.Table) -> Lines:
    keepers = {line["cluster"]: line["id"] for line in table.to_pylist() if line["role"] == "keeper"}
    return Counter(
        (keepers[line["cluster"]], line["id"], line["role"], line["similarity"]) for line in table.to_pylist()
    )
