"""Priority: the total order that says which of two similar documents stays.

1. The `against` side first, then (for containment) larger sets, then the value of `keep`, then the order of reading, or
   (`ties="content"`) what any engine can tell: the order column, the id, the 128-bit hash of the text. `order_of` says
   so for all engines; each carries it out over what it knows of documents.
2. Nulls (and values that cannot be read as the policy needs) come last; `longest` counts UTF-8 bytes.
3. How many values could not be read is said; if none could, the policy says nothing, and that is an error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.arrow import Rows
from nearsame.errors import ConfigError
from nearsame.recipes.choices import KEEP_BY_COLUMN, KEEP_PLAIN, KeepByColumn, KeepPlain, Ties, word_of

__all__ = ["Keep", "Order", "moments", "order_of", "ranks", "readable", "unread_dates"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BY_DATE = ("newest", "oldest")
_BY_LENGTH = ("longest", "shortest")
_DESCENDING = ("newest", "max", "last")

Order = tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Keep:
    """A policy, as in `newest:date`, and what decides between documents of equal value.

    Attributes:
        policy: which value is better.
        column: where it stands.
        ties: `reading`: what was read first is better; `content`: what is first by order column, id, hash of the text.
        order_column: values in place of the order of reading.
    """

    policy: KeepPlain | KeepByColumn
    column: str | None = None
    ties: Ties = "reading"
    order_column: str | None = None

    @property
    def reads(self) -> str | None:
        """The column that has to be read."""
        return self.column or self.order_column

    @property
    def by_date(self) -> bool:
        """Whether what is read are dates and times."""
        return self.policy in _BY_DATE

    @classmethod
    def parse(cls, text: str, ties: Ties = "reading", order_column: str | None = None) -> "Keep":
        """Read `first`, `last`, `longest`, `shortest`, or newest|oldest|max|min:COLUMN."""
        policy, _, column = text.partition(":") if isinstance(text, str) else ("", "", "")
        plain, by_column = word_of(policy, KEEP_PLAIN), word_of(policy, KEEP_BY_COLUMN)
        if plain is not None and not column:
            if plain == "last" and ties == "content" and order_column is None:
                message = "keep='last' and ties='content': documents have no order but that of an order column"
                raise ConfigError(message, hint="Name one, or choose keep='max:COLUMN'.")
            return cls(plain, None, ties, order_column)
        if by_column is not None and column:
            if order_column is not None:
                message = f"keep={text!r} and order_column={order_column!r}: one column decides"
                raise ConfigError(message, hint="Leave one of them out.")
            return cls(by_column, column, ties)
        kinds = ", ".join((*KEEP_PLAIN, *(f"{name}:COLUMN" for name in KEEP_BY_COLUMN)))
        raise ConfigError(f"keep={text!r} is not one of {kinds}", hint="Choose which of two similar documents stays.")


def readable(keep: Keep, values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The policy's column as it is ordered, and what one must know about it.

    Raises:
        ConfigError: Dates are needed, and the column has texts, none of them a date.
    """
    comparable = _comparable(values, dates=keep.by_date)
    if not keep.by_date:
        return comparable, ()
    given = len(values) - values.null_count
    if _is_text(values.type):
        given -= pc.sum(pc.equal(pc.utf8_trim_whitespace(_plain(values)), "")).as_py() or 0
    return comparable, unread_dates(keep, given, len(comparable) - comparable.null_count)


def unread_dates(keep: Keep, given: int, read: int) -> tuple[str, ...]:
    """What one must know where fewer dates could be read than were given.

    Raises:
        ConfigError: None could.
    """
    unread = given - read
    if not unread:
        return ()
    counted = f"{unread:,} of {given:,} values of {keep.column!r} are not ISO 8601 dates"
    if not read:
        raise ConfigError(f"keep={keep.policy}:{keep.column}: {counted}", hint="Write them as in 2024-12-31.")
    return (f"{counted}: they come last",)


def order_of(keep: Keep, *, larger_first: bool = False, by_side: bool = True) -> Order:
    """The order of priority: columns of documents and whether less of them is better, what counts most first.

    Args:
        keep: the policy.
        larger_first: whether larger sets come before what they may contain.
        by_side: whether the `against` side comes first.

    Example:
        >>> order_of(Keep.parse("max:score"))
        (('side', True), ('value', False), ('row', True))
    """
    order = [("side", True)] if by_side else []
    if larger_first:
        order.append(("size", False))
    if keep.policy in _BY_LENGTH:
        order.append(("text_bytes", keep.policy == "shortest"))
    if keep.reads is not None:
        order.append(("value", keep.policy not in _DESCENDING))
    if keep.ties == "content":
        return (*order, *((name, True) for name in ("id", "digest_a", "digest_b", "row")))
    return (*order, ("row", keep.policy != "last"))


def ranks(order: Order, columns: Mapping[str, Any], num_rows: int) -> Rows:
    """For each row its place in an order, 0 the most worth keeping; the order ends with `row`, which is its number.

    Args:
        order: as `order_of` says.
        columns: each that it names but `row`, by row, in NumPy or Arrow;
            nulls come last, whichever way the others are ordered.
        num_rows: how many there are.
    """
    (*others, (_, forwards)) = order
    rows = np.arange(num_rows)
    best = rows if forwards else rows[::-1]
    for name, ascending in reversed(others):  # each sort is stable, so what counts most is sorted last
        best = best[_sorted(columns[name], best, ascending=ascending)]
    out = np.empty(rows.size, np.int64)
    out[best] = rows
    return out


def _sorted(column: Any, rows: Rows, *, ascending: bool) -> Rows:
    """The places of some rows in the order of a column."""
    if isinstance(column, np.ndarray):
        return np.argsort(column[rows] if ascending else ~column[rows], kind="stable")  # no number overflows
    some = pa.table({"v": column.take(pa.array(rows))})
    return np.asarray(pc.sort_indices(some, [("v", "ascending" if ascending else "descending")])).astype(np.int64)


def _comparable(values: pa.ChunkedArray, *, dates: bool) -> pa.ChunkedArray:
    """The column as it can be ordered: with `dates`, texts are read as ISO 8601, in UTC where they name no zone."""
    values = _plain(values)
    if pa.types.is_floating(values.type):  # what is not a number has no place
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    if not dates or not _is_text(values.type):
        return values
    return pa.chunked_array([pa.array(moments(values.to_pylist()), pa.int64())])


def moments(texts: Iterable[str | None]) -> list[int | None]:
    """Microseconds since 1970 of ISO 8601 dates and times; None for anything else."""
    return [_moment(text) for text in texts]


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _moment(text: str | None) -> int | None:
    """Microseconds since 1970 of an ISO 8601 date or time; None where it is not one."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)  # a float of seconds has no room for them after 2038
