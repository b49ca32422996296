"""Documents by what is known of them: kept and removed by source, host, language and date; pairs by two sources."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.answers.reports import Breakdown, SourceMap, Split
from nearsame.arrow import Int64s, Mask
from nearsame.printable import shortened
from nearsame.stages.pairs.evidence import hosts
from nearsame.studies.second_reading import Facts

__all__ = ["breakdowns", "maps"]

_VALUES = 20  # that a breakdown lists
_SIDE = 12  # sources of a map
_MONTHS = 24  # with more, dates are told apart by years
_UNKNOWN = "not known"
_LONGEST = 200  # characters of a value that are shown


def breakdowns(source_names: tuple[str, ...], facts: Facts, touched: Sequence[Mask]) -> tuple[Breakdown, ...]:
    """The judged documents by each column that tells them apart; `touched` are removed or paired, at each threshold."""
    gone = [at[facts.judged] for at in touched]
    made = []
    for name, values in _columns(source_names, facts):
        column = _split(name, values.filter(pa.array(facts.judged)), gone)
        if len(column.splits) > 1:
            made.append(column)
    return tuple(made)


def maps(
    source_names: tuple[str, ...], facts: Facts, pairs: tuple[Int64s, Int64s], standing: Sequence[Mask]
) -> tuple[SourceMap, ...]:
    """How many pairs join two sources, and two hosts, where there are several; `standing`: at each threshold."""
    places = [np.searchsorted(facts.keys, side) for side in pairs]
    made = []
    for name, values in _columns(source_names, facts):
        if name in ("source", "host"):
            a, b = (values.take(pa.array(side)).fill_null(_UNKNOWN) for side in places)
            one = _map(name, a, b, standing)
            if len(one.names) > 1:
                made.append(one)
    return tuple(made)


def _columns(source_names: tuple[str, ...], facts: Facts) -> Iterator[tuple[str, pa.Array]]:
    """What tells documents apart, by the name of the column."""
    yield "source", pa.array(source_names, pa.string()).take(pa.array(facts.keys >> 40))
    for name, values in facts.columns.items():
        if name == "url":
            yield "host", hosts(values)
        elif name.startswith("lang"):
            yield name, values
        else:
            yield from _dates(name, values)


def _dates(name: str, values: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Dates by month, or by year where there are many months; nothing where they are no dates."""
    for what, pattern in (("month", r"^(?P<part>\d{4}-\d{2})"), ("year", r"^(?P<part>\d{4})")):
        parts = pc.struct_field(pc.extract_regex(values, pattern), "part")
        if parts.null_count < len(parts) and (what == "year" or pc.count_distinct(parts).as_py() <= _MONTHS):
            yield f"{what} of {name}", parts
            return


def _split(name: str, values: pa.Array, gone: Sequence[Mask]) -> Breakdown:
    steps = {str(number): pa.array(at).cast(pa.int64()) for number, at in enumerate(gone)}
    table = pa.table({"value": values.fill_null(_UNKNOWN), **steps})
    counted = table.group_by("value").aggregate([("value", "count"), *((step, "sum") for step in steps)]).to_pylist()
    rows = sorted(counted, key=lambda row: (-row["value_count"], row["value"]))
    splits = tuple(_of_value(row, [row[f"{step}_sum"] for step in steps]) for row in rows[:_VALUES])
    if name.startswith(("month", "year")):
        splits = tuple(sorted(splits, key=lambda split: split.value))
    return Breakdown(name, splits, max(0, len(rows) - _VALUES))


def _of_value(row: Mapping[str, Any], gone: Sequence[int]) -> Split:
    return Split(shortened(row["value"], _LONGEST), row["value_count"], gone[0], tuple(gone) if len(gone) > 1 else ())


def _map(name: str, a: pa.Array, b: pa.Array, standing: Sequence[Mask]) -> SourceMap:
    """Of the values that stand in most pairs."""
    counted = {row["values"]: row["counts"] for row in pc.value_counts(pa.concat_arrays([a, b])).to_pylist()}
    names = sorted(sorted(counted), key=lambda value: -counted[value])[:_SIDE]
    at = [pc.index_in(side, pa.array(names, pa.string())).fill_null(-1).to_numpy() for side in (a, b)]
    inside, cells = (at[0] >= 0) & (at[1] >= 0), at[0] * len(names) + at[1]
    counts = [np.bincount(cells[inside & some], minlength=len(names) ** 2) for some in (True, *standing)]
    whole, *steps = (each.reshape(len(names), len(names)) for each in counts)
    moving = np.stack(steps, axis=-1).tolist() if len(steps) > 1 else []
    return SourceMap(
        name,
        tuple(shortened(one, _LONGEST) for one in names),
        tuple(tuple(row) for row in whole.tolist()),
        tuple(tuple(tuple(cell) for cell in row) for row in moving),
    )
