"""Priority: the total order that says which of two similar documents stays.

1. The `against` side first, then (for containment) larger sets, then the value of `keep`, then the order of reading, or
   (`ties="content"`) what any engine can tell: the order column, the id, the 128-bit hash of the text. `order_of` says
   so for all engines; each carries it out over what it knows of documents. A word is a row of `GOES_BY`.
2. `keep` is a list: a later entry decides what the earlier ones leave equal. A source without an entry's column has
   nulls; nulls (and values that cannot be read as the policy needs) come last; `longest` counts UTF-8 bytes.
3. How many values could not be read is said; if none could, the policy says nothing, and that is an error.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.named import NamedTuple
from nearsame.recipes.choices import KEEP_BY_COLUMN, KEEP_PLAIN, KeepByColumn, KeepPlain, Ties, word_of
from nearsame.stages.clusters.dates import moments

__all__ = [
    "CHOSEN",
    "GOES_BY",
    "Going",
    "Keep",
    "Order",
    "Policy",
    "chosen_first",
    "order_of",
    "ranks",
    "readable",
    "unread_dates",
]

CHOSEN = "chosen"  # the column of the places that people have chosen

_WORDS = f"(?:{'|'.join(KEEP_PLAIN)})\\s*(?:,|$)|(?:{'|'.join(KEEP_BY_COLUMN)}):"
_NEXT = rf"\s*,\s*(?={_WORDS})"  # a comma may stand in a name, too

Order = tuple[tuple[str, bool], ...]


class Going(NamedTuple):
    """What a word of `keep` goes by.

    Attributes:
        by: a column of documents; `value` is the one that is named with the word, `row` the order of reading.
        ascending: whether less of it is better.
        dates: whether its values are dates and times.
    """

    by: str
    ascending: bool
    dates: bool = False


GOES_BY: dict[KeepPlain | KeepByColumn, Going] = {
    "first": Going("row", ascending=True),
    "last": Going("row", ascending=False),
    "longest": Going("text_bytes", ascending=False),
    "shortest": Going("text_bytes", ascending=True),
    "newest": Going("value", ascending=False, dates=True),
    "oldest": Going("value", ascending=True, dates=True),
    "max": Going("value", ascending=False),
    "min": Going("value", ascending=True),
}


class Policy(NamedTuple):
    """One entry of `keep`: which value is better, and in which column it stands."""

    word: KeepPlain | KeepByColumn
    column: str | None = None

    @property
    def goes(self) -> Going:
        """By which column of documents, and which way."""
        return GOES_BY[self.word]

    @property
    def by_date(self) -> bool:
        """Whether what is read are dates and times."""
        return self.goes.dates

    @property
    def by_reading(self) -> bool:
        """Whether the order of reading decides, which leaves nothing equal."""
        return self.goes.by == "row"

    @property
    def by_length(self) -> bool:
        """Whether the length of the text decides."""
        return self.goes.by == "text_bytes"

    @classmethod
    def parse(cls, text: str) -> "Policy":
        """Read `first`, `last`, `longest`, `shortest`, or newest|oldest|max|min:COLUMN."""
        word, _, column = text.partition(":")
        plain, by_column = word_of(word, KEEP_PLAIN), word_of(word, KEEP_BY_COLUMN)
        if plain is not None and not column:
            return cls(plain)
        if by_column is not None and column:
            return cls(by_column, column)
        kinds = ", ".join((*KEEP_PLAIN, *(f"{name}:COLUMN" for name in KEEP_BY_COLUMN)))
        example = "max:quality" if by_column or not text else f"max:{column or text}"
        hint = f"To keep the one with the greatest value of a column, write it as in {example}."
        raise ConfigError(f"keep={text!r} is not one of {kinds}", hint=hint)

    def __str__(self) -> str:
        return self.word if self.column is None else f"{self.word}:{self.column}"


@dataclass(frozen=True)
class Keep:
    """Policies, the later of which decide what the earlier ones leave equal, and what decides after the last.

    Attributes:
        policies: as in `max:quality`, `longest`; an order column is the last of them.
        ties: `reading`: what was read first is better; `content`: what is first by id and hash of the text.
    """

    policies: tuple[Policy, ...]
    ties: Ties = "reading"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        return tuple(dict.fromkeys(policy.column for policy in self.policies if policy.column is not None))

    @property
    def values(self) -> dict[str, Policy]:
        """The policies that go by a column, by what their values are called in an order."""
        return {f"value{at}": policy for at, policy in enumerate(self.policies) if policy.column is not None}

    @classmethod
    def parse(cls, keep: str | Sequence[str], ties: Ties = "reading", order_column: str | None = None) -> "Keep":
        """Read a list of policies, or one text of them.

        Example:
            >>> Keep.parse("max:quality, longest").policies
            (Policy(word='max', column='quality'), Policy(word='longest', column=None))
        """
        texts = re.split(_NEXT, keep) if isinstance(keep, str) else list(keep) or [""]
        if any(text.strip(", ") != text or (not text and len(texts) > 1) for text in texts):
            hint = "Write one comma between two of them, as in max:quality, longest."
            raise ConfigError(f"keep={keep!r} has a comma with nothing beside it", hint=hint)
        policies = tuple(Policy.parse(text) for text in texts)
        for policy in policies[:-1]:
            if policy.by_reading:
                message = f"keep={keep!r}: {policy.word} leaves nothing to decide for what comes after it"
                raise ConfigError(message, hint=f"Put {policy.word} last, or leave it out.")
        is_last = policies[-1].by_reading and not policies[-1].goes.ascending
        if is_last and ties == "content" and order_column is None:
            message = f"keep={keep!r} and ties='content': documents have no order but that of an order column"
            raise ConfigError(message, hint="Name one, or choose keep='max:COLUMN'.")
        if order_column is not None:
            before = tuple(policy for policy in policies if not policy.by_reading)
            return cls((*before, Policy("max" if is_last else "min", order_column)), ties)
        return cls(policies, ties)


def readable(policy: Policy, values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The policy's column as it is ordered, and what one must know about it.

    Raises:
        ConfigError: Dates are needed, and the column has texts, none of them a date.
    """
    comparable = _comparable(values, dates=policy.by_date)
    if not policy.by_date:
        return comparable, ()
    given = len(values) - values.null_count
    if _is_text(values.type):
        given -= computing.sum_(computing.equal(computing.ascii_trim_whitespace(_plain(values)), "")).as_py() or 0
    return comparable, unread_dates(policy, given, len(comparable) - comparable.null_count)


def unread_dates(policy: Policy, given: int, read: int) -> tuple[str, ...]:
    """What one must know where fewer dates could be read than were given.

    Raises:
        ConfigError: None could.
    """
    unread = given - read
    if not unread:
        return ()
    counted = f"{unread:,} of {given:,} values of {policy.column!r} are not dates"
    if not read:
        other = "min" if policy.goes.ascending else "max"
        hint = f"Write them as in 2024-12-31, or order them as they are, by {other}:{policy.column}."
        raise ConfigError(f"keep={policy}: {counted}", hint=hint)
    return (f"{counted}: they come last",)


def order_of(keep: Keep, *, larger_first: bool = False, by_side: bool = True) -> Order:
    """The order of priority: columns of documents and whether less of them is better, what counts most first.

    Args:
        keep: the policies.
        larger_first: whether larger sets come before what they may contain.
        by_side: whether the `against` side comes first.

    Example:
        >>> order_of(Keep.parse("max:score, shortest"))
        (('side', True), ('value0', False), ('text_bytes', True), ('row', True))
    """
    order = [("side", True)] if by_side else []
    if larger_first:
        order.append(("size", False))
    for at, policy in enumerate(keep.policies):
        if not policy.by_reading:
            order.append((policy.goes.by if policy.column is None else f"value{at}", policy.goes.ascending))
    if keep.ties == "content":
        return (*order, *((name, True) for name in ("id", "digest_a", "digest_b", "row")))
    last = keep.policies[-1]
    return (*order, ("row", last.goes.ascending or not last.by_reading))


def chosen_first(order: Order) -> Order:
    """The same order with documents that people have chosen first, behind what nobody can choose otherwise.

    Example:
        >>> chosen_first((("side", True), ("row", True)))
        (('side', True), ('chosen', True), ('row', True))
    """
    first = sum(name in ("side", "size") for name, _ in order)
    return (*order[:first], (CHOSEN, True), *order[first:])


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
    return np.asarray(computing.sort_indices(some, [("v", "ascending" if ascending else "descending")])).astype(
        np.int64
    )


def _comparable(values: pa.ChunkedArray, *, dates: bool) -> pa.ChunkedArray:
    """The column as it can be ordered: with `dates`, texts are read as such, in UTC where they name no zone."""
    values = _plain(values)
    if pa.types.is_floating(values.type):  # what is not a number has no place
        values = computing.if_else(computing.is_nan(values), pa.scalar(None, values.type), values)
    if not dates or not _is_text(values.type):
        return values
    return pa.chunked_array([pa.array(moments(values.cast(pa.large_binary()).to_pylist()), pa.int64())])


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
