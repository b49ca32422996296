"""Some records of parts: of several parts in one table, or the texts of some alone."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Rows
from nearsame.errors import ColumnError
from nearsame.sources.base import Columns, Part, apart
from nearsame.sources.page_records import as_pages

__all__ = ["texts", "together"]

_OF_128_BITS = 38  # digits of a decimal
_DIGITS = {  # of the largest whole number of a type
    pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 19,
    pa.uint8(): 3, pa.uint16(): 5, pa.uint32(): 10, pa.uint64(): 20,
}  # fmt: skip


def together(tables: Sequence[pa.Table], names: Sequence[str], untyped: Sequence[bool] = ()) -> pa.Table:
    """Records of several sources as one table: a column of numbers takes the wider type, a missing one is null.

    Args:
        tables: The records of each source.
        names: What it is called.
        untyped: Whether it says nothing of types: its whole numbers and dates become texts again beside texts.

    Raises:
        ColumnError: A column has values of types that have nothing in common.
    """
    texts = {field.name for table in tables for field in table.schema if pa.types.is_string(field.type)}
    tables = [
        _as_written(table, texts) if loose else table for table, loose in zip_longest(tables, untyped, fillvalue=False)
    ]
    if len(tables) == 1:
        return tables[0]  # as it is, two columns of one name included
    try:
        return pa.concat_tables(_decimal(_unsigned(tables)), promote_options="permissive") if tables else pa.table({})
    except pa.ArrowException as error:
        raise _apart(tables, names, error) from None


def _as_written(table: pa.Table, names: AbstractSet[str]) -> pa.Table:
    """The table with whole numbers and dates of these columns as they were written."""
    for at, field in enumerate(table.schema):
        if field.name in names and (pa.types.is_integer(field.type) or pa.types.is_temporal(field.type)):
            table = table.set_column(at, field.name, table.column(at).cast(pa.string()))
    return table


def _unsigned(tables: Sequence[pa.Table]) -> Sequence[pa.Table]:
    """Whole numbers without a sign in all tables where one has larger ones than an int64 is, and none is below 0."""
    for name in {field.name for table in tables for field in table.schema if field.type == pa.uint64()}:
        at = [table.schema.get_field_index(name) for table in tables]
        signed = [place >= 0 and table.field(place).type == pa.int64() for table, place in zip(tables, at, strict=True)]
        columns = [table.column(name) for table, is_signed in zip(tables, signed, strict=True) if is_signed]
        if all((computing.min_(column).as_py() or 0) >= 0 for column in columns):
            tables = [
                table.set_column(place, name, table.column(place).cast(pa.uint64())) if is_signed else table
                for table, place, is_signed in zip(tables, at, signed, strict=True)
            ]
    return tables


def _decimal(tables: Sequence[pa.Table]) -> Sequence[pa.Table]:
    """Decimals, and whole numbers beside them, as decimals that hold them all: Arrow's own are too short for these."""
    for name in {field.name for table in tables for field in table.schema if pa.types.is_decimal(field.type)}:
        at = [table.schema.get_field_index(name) for table in tables]
        kinds = {table.field(place).type for table, place in zip(tables, at, strict=True) if place >= 0} - {pa.null()}
        if len(kinds) == 1 or not all(pa.types.is_decimal(kind) or kind in _DIGITS for kind in kinds):
            continue
        sizes = [(kind.precision, kind.scale) if pa.types.is_decimal(kind) else (_DIGITS[kind], 0) for kind in kinds]
        scale = max(behind for _, behind in sizes)
        digits = max(whole - behind for whole, behind in sizes) + scale
        kind = pa.decimal128(digits, scale) if digits <= _OF_128_BITS else pa.decimal256(digits, scale)
        tables = [
            table if place < 0 else table.set_column(place, name, table.column(place).cast(kind))
            for table, place in zip(tables, at, strict=True)
        ]
    return tables


def _apart(tables: Sequence[pa.Table], names: Sequence[str], error: pa.ArrowException) -> ColumnError:
    hint = "Give the column one type in all sources, or write the result: there each file keeps its own."
    first: dict[str, tuple[pa.Field, str]] = {}
    for table, name in zip(tables, names, strict=True):
        twins = [column for column in table.column_names if table.column_names.count(column) > 1]
        if twins:
            message = f"{name} has several columns that are called {twins[0]!r}"
            return ColumnError(message, hint="Rename all but one, or write the result: there each file keeps its own.")
        for field in table.schema:
            known, home = first.setdefault(field.name, (field, name))
            try:
                pa.unify_schemas([pa.schema([known]), pa.schema([field])], promote_options="permissive")
            except pa.ArrowException:
                message = f"column {field.name!r} is {known.type} in {home} and {field.type} in {name}"
                return ColumnError(message, hint=hint)
    return ColumnError(f"the records of {', '.join(names)} do not fit into one table: {error}", hint=hint)


def _word(item: str | float) -> str:
    return item if isinstance(item, str) else f"{item:.4g}"


def texts(
    part: Part, positions: Rows, columns: Columns, extract: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
) -> dict[int, str]:
    """The texts (or the items or numbers, joined) at these positions; reads no further than the last of them.

    Args:
        part: Where they are.
        positions: Which they are.
        columns: What the run reads.
        extract: Takes the texts out of PAGES, where the run reads pages.
    """
    by_position: dict[int, str] = {}
    wanted = np.unique(positions)
    part.require_unchanged(wanted)
    for batch in part.read(replace(columns, may_lack=True), lambda _: None):  # what --keep goes by may be in folders
        own, *_ = apart(batch)
        chosen = own.filter(pa.array(np.isin(own.column("position").to_numpy(), wanted)))
        if extract is not None:
            pages = as_pages(chosen.column("position"), chosen, columns)
            chosen = pa.RecordBatch.from_arrays(
                [chosen.column("position"), extract(pages).column("text")], ["position", "text"]
            )
        values = chosen.column("vector" if columns.vectors else "items" if columns.items else "text").to_pylist()
        for position, value in zip(chosen.column("position").to_pylist(), values, strict=True):
            by_position[position] = " ".join(map(_word, value)) if isinstance(value, list) else value or ""
        if len(by_position) == len(wanted):
            break
    return by_position
