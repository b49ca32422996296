"""Priority: the total order that says which of two similar documents stays.

1. The `against` side first, then (for containment) larger sets, then the value of `keep`, then the order of reading.
2. Nulls (and values that cannot be read as the policy needs) come last; `longest` counts UTF-8 bytes.
3. How many values could not be read is said; if none could, the policy says nothing, and that is an error.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from samesame.errors import ConfigError

__all__ = ["Keep", "ranks", "readable"]

_PLAIN = ("first", "last", "longest", "shortest")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BY_COLUMN = {"newest": "descending", "max": "descending", "oldest": "ascending", "min": "ascending"}


@dataclass(frozen=True)
class Keep:
    """A policy, as in `newest:date`."""

    policy: str
    column: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Keep":
        """Read `first`, `last`, `longest`, `shortest`, or newest|oldest|max|min:COLUMN."""
        policy, _, column = text.partition(":") if isinstance(text, str) else ("", "", "")
        if policy in _PLAIN and not column:
            return cls(policy)
        if policy in _BY_COLUMN and column:
            return cls(policy, column)
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


def ranks(
    keep: Keep,
    text_bytes: npt.NDArray[np.int64],
    values: pa.ChunkedArray | None,
    num_against: int,
    sizes: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int64]:
    """For each row its place in the order of priority, 0 the most worth keeping.

    Args:
        keep: the policy.
        text_bytes: of each row.
        values: the policy's column, where it has one.
        num_against: rows below this number are the `against` side.
        sizes: of the sets, where larger ones come before what they may contain.
    """
    rows = np.arange(text_bytes.size)
    side = (rows >= num_against).astype(np.int8)
    smaller = np.zeros(rows.size, np.int64) if sizes is None else -sizes
    order = np.lexsort((_within_side(keep, text_bytes, values), smaller, side))
    out = np.empty(rows.size, np.int64)
    out[order] = rows
    return out


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
    moments = [_moment(text) for text in values.to_pylist()]
    return pa.chunked_array([pa.array(moments, pa.int64())])


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
