"""Priority: the total order that says which of two similar documents stays.

1. The `against` side first, then (for containment) larger sets, then the value of `keep`, then the order of reading, or
   (`ties="content"`) what any engine can tell: the order column, the id, the 128-bit hash of the text.
2. Nulls (and values that cannot be read as the policy needs) come last; `longest` counts UTF-8 bytes.
3. How many values could not be read is said; if none could, the policy says nothing, and that is an error.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.errors import ConfigError

__all__ = ["Keep", "content_order", "moments", "ranks", "readable"]

_PLAIN = ("first", "last", "longest", "shortest")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BY_COLUMN = {"newest": "descending", "max": "descending", "oldest": "ascending", "min": "ascending"}


@dataclass(frozen=True)
class Keep:
    """A policy, as in `newest:date`, and what decides between documents of equal value.

    Attributes:
        policy: which value is better.
        column: where it stands.
        ties: `reading`: what was read first is better; `content`: what is first by order column, id, hash of the text.
        order_column: values in the place of the order of reading.
    """

    policy: str
    column: str | None = None
    ties: str = "reading"
    order_column: str | None = None

    @property
    def reads(self) -> str | None:
        """The column that has to be read."""
        return self.column or self.order_column

    @classmethod
    def parse(cls, text: str, ties: str = "reading", order_column: str | None = None) -> "Keep":
        """Read `first`, `last`, `longest`, `shortest`, or newest|oldest|max|min:COLUMN."""
        if ties not in ("reading", "content"):
            raise ConfigError(f"ties={ties!r} is not 'reading' or 'content'", hint="Choose one of the two.")
        policy, _, column = text.partition(":") if isinstance(text, str) else ("", "", "")
        if policy in _PLAIN and not column:
            if policy == "last" and ties == "content" and order_column is None:
                message = "keep='last' and ties='content': documents have no order but that of an order column"
                raise ConfigError(message, hint="Name one, or choose keep='max:COLUMN'.")
            return cls(policy, None, ties, order_column)
        if policy in _BY_COLUMN and column:
            if order_column is not None:
                message = f"keep={text!r} and order_column={order_column!r}: one column decides"
                raise ConfigError(message, hint="Leave one of them out.")
            return cls(policy, column, ties)
        kinds = ", ".join((*_PLAIN, *(f"{name}:COLUMN" for name in _BY_COLUMN)))
        raise ConfigError(f"keep={text!r} is not one of {kinds}", hint="Choose which of two similar documents stays.")


def readable(keep: Keep, values: pa.ChunkedArray | None) -> tuple[pa.ChunkedArray | None, tuple[str, ...]]:
    """The policy's column as it is ordered, and what one must know about it.

    Raises:
        ConfigError: Dates are needed, and the column has texts, none of them a date.
    """
    dates = keep.policy in ("newest", "oldest")
    if values is None or not dates:
        return values, ()
    moments = _comparable(values, dates=True)
    given = len(values) - values.null_count
    if _is_text(values.type):
        given -= pc.sum(pc.equal(pc.utf8_trim_whitespace(_plain(values)), "")).as_py() or 0
    unread = given - (len(moments) - moments.null_count)
    if not unread:
        return moments, ()
    counted = f"{unread:,} of {given:,} values of {keep.column!r} are no ISO 8601 dates"
    if unread == given:
        raise ConfigError(f"keep={keep.policy}:{keep.column}: {counted}", hint="Write them as in 2024-12-31.")
    return moments, (f"{counted}: they come last",)


def ranks(  # noqa: PLR0913, PLR0917  (a column for each part of the order)
    keep: Keep,
    text_bytes: npt.NDArray[np.int64],
    values: pa.ChunkedArray | None,
    num_against: int,
    sizes: npt.NDArray[np.int64] | None = None,
    order: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int64]:
    """For each row its place in the order of priority, 0 the most worth keeping.

    Args:
        keep: the policy.
        text_bytes: of each row.
        values: the policy's column, where it has one.
        num_against: rows below this number are the `against` side.
        sizes: of the sets, where larger ones come before what they may contain.
        order: the rows in the order that takes the place of reading (see `content_order`).
    """
    if order is not None:
        policy = Keep("first") if keep.policy == "last" else keep  # the order is that of the last already
        values, sizes = (
            None if values is None else values.take(pa.array(order)),
            None if sizes is None else sizes[order],
        )
        out = np.empty(order.size, np.int64)
        out[order] = ranks(policy, text_bytes[order], values, num_against, sizes)
        return out
    rows = np.arange(text_bytes.size)
    side = (rows >= num_against).astype(np.int8)
    smaller = np.zeros(rows.size, np.int64) if sizes is None else -sizes
    order = np.lexsort((_within_side(keep, text_bytes, values), smaller, side))
    out = np.empty(rows.size, np.int64)
    out[order] = rows
    return out


def content_order(
    keep: Keep, ids: pa.ChunkedArray, digests: tuple[npt.NDArray[np.int64], ...], values: pa.ChunkedArray | None,
    num_against: int,
) -> npt.NDArray[np.int64]:  # fmt: skip
    """The rows by what any engine can tell: side, order column, id, hash of the text (as two int64); nulls last."""
    side = np.arange(len(ids)) >= num_against
    columns: dict[str, tuple[Any, str]] = {"side": (pa.array(side.astype(np.int8)), "ascending")}
    if keep.order_column is not None and values is not None:
        columns["order"] = _plain(values), "descending" if keep.policy == "last" else "ascending"
    columns["id"] = ids, "ascending"
    columns |= {f"digest_{number}": (pa.array(digest), "ascending") for number, digest in enumerate(digests)}
    table = pa.table({name: column for name, (column, _) in columns.items()})
    keys = [(name, way) for name, (_, way) in columns.items()]
    return np.asarray(pc.sort_indices(table, keys)).astype(np.int64)  # stable, bytes of strings as they are


def _within_side(
    keep: Keep, text_bytes: npt.NDArray[np.int64], values: pa.ChunkedArray | None
) -> npt.NDArray[np.int64]:
    """A number for each row, less is better; equal numbers leave it to the order of reading."""
    rows = np.arange(text_bytes.size)
    match keep.policy:
        case "last":
            return rows[::-1]
        case "longest":
            return -text_bytes
        case "shortest":
            return text_bytes
        case "first":
            return rows
    if values is None:
        raise ConfigError(f"keep={keep.policy}:{keep.column} needs the column {keep.column!r}")
    column = _comparable(values, dates=keep.policy in ("newest", "oldest"))
    order = pc.sort_indices(pa.table({"v": column}), [("v", _BY_COLUMN[keep.policy])]).to_numpy()  # stable
    out = np.empty(rows.size, np.int64)
    out[order] = rows
    return out


def _comparable(values: pa.ChunkedArray, *, dates: bool) -> pa.ChunkedArray:
    """The column as it can be ordered: with `dates`, texts are read as ISO 8601, in UTC where they name no zone."""
    values = _plain(values)
    if not dates or not _is_text(values.type):
        return values
    return pa.chunked_array([pa.array(moments(values.to_pylist()), pa.int64())])


def moments(texts: Iterable[str | None]) -> list[int | None]:
    """Microseconds since 1970 of ISO 8601 dates and times; None for what is none."""
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
