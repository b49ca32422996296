"""How one machine brings together what shares a key: grouping, renumbering, gathering.

1. Documents in a meeting are numbered by priority: 0 is the most worth keeping.
2. A key that only one document has is dropped before anything is sorted twice.
3. Where documents stand in groups, the group is part of every key, and of what tells that features are equal: two
   groups give two different numbers to be mixed in, so equal features of two groups are never held for equal.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.engines.space import Space
from nearsame.kernels import buckets as kernel
from nearsame.kernels.buckets import Entries

__all__ = ["apart", "assemble", "same_features", "take_lists"]

_PARTS = 256
_LEAST = 1 << 13  # keys that are looked at together
_SHIFT = np.uint64(56)
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # SplitMix64
Int32s = npt.NDArray[np.int32]
Batches = Callable[[], Iterator[pa.RecordBatch]]  # read anew at each call
Each = Callable[[Iterable[Any], Callable[[Any], Any]], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class _Apart(Iterable[pa.RecordBatch]):
    """Batches of which a column has the group of each row mixed in."""

    batches: Iterable[pa.RecordBatch]
    column: str
    mixed_in: npt.NDArray[np.int64]  # by row

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Each batch, as often as it can be read."""
        for batch in self.batches:
            at = batch.schema.get_field_index(self.column)
            values = arrow.ints(batch.column(at)) ^ self.mixed_in[arrow.ints(batch.column("row"))]
            yield batch.set_column(at, batch.schema.field(at), pa.array(values))


def apart(batches: Iterable[pa.RecordBatch], column: str, groups: Rows | None) -> Iterable[pa.RecordBatch]:
    """The batches, with the groups of rows (numbers from -1 on) mixed into a column of hashes; as they are without any.

    Every step can be undone, so no two groups give the same number.
    """
    if groups is None:
        return batches
    mixed = (groups + 2).astype(np.uint64) * _SPREAD[0]
    for shift, factor in ((30, _SPREAD[1]), (27, _SPREAD[2])):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return _Apart(batches, column, (mixed ^ (mixed >> np.uint64(31))).view(np.int64))


def assemble(keys: Batches, ranks: Rows, each: Each, space: Space) -> Entries:
    """Entries of the keys that more than one document has."""
    ends, columns = _deal(keys, space)
    ends = _in_pieces(ends)
    sizes = list(each(pairwise(ends), lambda part: _keep_shared(*(column[slice(*part)] for column in columns))))
    return _renumber(*_close_up(columns, ends, sizes), ranks, space)


def _deal(keys: Batches, space: Space) -> tuple[Rows, tuple[Any, ...]]:
    """All entries, dealt to parts by the top bits of the key: (ends of the parts, columns)."""
    counts = np.zeros(_PARTS + 1, np.int64)
    for batch in keys():
        kernel.count_parts(arrow.unsigned(arrow.ints(batch.column("key"))), _SHIFT, counts)
    ends = np.cumsum(counts)
    size = int(ends[-1])
    out = [space.array(size, kind) for kind in (np.uint64, np.int64, np.int32, np.uint8)]
    at = ends[:-1].copy()
    for batch in keys():
        hashes, *others = (arrow.ints(batch.column(name)) for name in ("key", "row", "place", "probes"))
        kernel.deal(arrow.unsigned(hashes), *others, _SHIFT, at, *out)
    return ends, tuple(out)


def _in_pieces(ends: Rows) -> Rows:
    """The ends of parts that are worth a call: small neighbours go together, which leaves all keys in their order."""
    kept = [0]
    for end in ends[1:-1].tolist():
        if end - kept[-1] >= _LEAST:
            kept.append(end)
    return np.array([*kept, int(ends[-1])])


def _keep_shared(keys: Any, rows: Rows, places: Int32s, probes: Any) -> tuple[int, int]:
    """Of one part the entries whose key another has: moved to its front, with the bucket in place of the key.

    Returns (entries, buckets).
    """
    order = np.argsort(keys)
    out = np.empty(keys.size, np.int64), np.empty(keys.size, np.int32), np.empty(keys.size, np.int64)
    filled, num_buckets = kernel.mark_shared(keys, order, rows, places, probes, *out)
    for column, shared in zip((rows, places, keys.view(np.int64)), out, strict=True):
        column[:filled] = shared[:filled]
    return filled, num_buckets


def _close_up(columns: tuple[Any, ...], ends: Rows, sizes: list[tuple[int, int]]) -> tuple[Rows, Int32s, Rows, int]:
    """The parts one behind the other, in place: (rows, places, buckets, number of buckets)."""
    buckets, rows, places = columns[0].view(np.int64), *columns[1:3]
    at = total = 0
    for start, (filled, num_buckets) in zip(ends[:-1].tolist(), sizes, strict=True):
        old, new = slice(start, start + filled), slice(at, at + filled)
        rows[new], places[new] = rows[old], places[old]
        np.add(buckets[old], total, out=buckets[new])
        at, total = at + filled, total + num_buckets
    return rows[:at], places[:at], buckets[:at], total


def _renumber(  # noqa: PLR0913, PLR0917  (the four that _close_up gives, and what they are brought together with)
    rows: Rows, places: Int32s, buckets: Rows, num_buckets: int, ranks: Rows, space: Space
) -> Entries:
    """Number the documents by priority, and give each its entries."""
    by_rank = np.zeros(ranks.size, np.bool_)
    kernel.mark_ranks(rows, ranks, by_rank)
    row_of = np.empty(ranks.size, np.int64)
    row_of[ranks] = np.arange(ranks.size)
    starts = np.zeros(int(by_rank.sum()) + 1, np.int64)
    numbers = np.cumsum(by_rank, dtype=np.int32)
    sizes, bucket_starts = space.array(num_buckets, np.int64), space.array(num_buckets + 1, np.int64)
    sizes[:] = 0
    kernel.count_entries(rows, buckets, ranks, numbers, starts, sizes)
    np.cumsum(starts, out=starts)
    out_buckets, out_places = space.array(rows.size, np.int64), space.array(rows.size, np.int32)
    fill = np.zeros(starts.size - 1, np.int64)
    out = out_buckets.view(np.uint64), out_places, bucket_starts
    kernel.order_entries(rows, buckets, places, ranks, numbers, starts, fill, sizes, *out)
    return Entries(row_of[by_rank], starts, out_buckets, out_places, bucket_starts)


def take_lists(
    batches: Batches, rows: Rows, each: Each, space: Space, columns: Sequence[str] = schemas.COMPARED[:1]
) -> tuple[arrow.UInt64s, Rows]:
    """The lists of the given rows, one after the other in their order: (items, offsets).

    Of several columns the lists of the second stand behind all those of the first. Batches are read twice, for the
    sizes and for the items: what they hold may be on disk.
    """
    order = np.argsort(rows, kind="stable")
    wanted = partial(_wanted, batches, rows[order], order, columns)
    offsets = np.zeros(len(columns) * rows.size + 1, np.int64)
    for lists, which, places in wanted():
        offsets[places + 1] = lists.sizes[which]
    np.cumsum(offsets, out=offsets)
    items = space.array(int(offsets[-1]), np.uint64)
    for _ in each(wanted(), lambda want: kernel.gather(*want[0], want[1], offsets[want[2]], items)):
        pass
    return items, offsets


def _wanted(
    batches: Batches, ascending: Rows, order: Rows, columns: Sequence[str]
) -> Iterator[tuple[arrow.Lists, Rows, Rows]]:
    """Of each batch the lists that are wanted: (lists, which of them, places in the order that is asked for)."""
    for batch in batches():
        here = arrow.ints(batch.column("row"))
        low, high = np.searchsorted(ascending, [here[0], here[-1] + 1]) if here.size else (0, 0)
        if high > low:
            which = np.searchsorted(here, ascending[low:high])
            for number, name in enumerate(columns):
                yield arrow.lists(batch.column(name)), which, order[low:high] + number * order.size


def same_features(batches: Iterable[pa.RecordBatch], ranks: Rows, each: Each, space: Space) -> Rows:
    """For each row the best row with equal items; grouped by their digests, then compared."""
    best = np.arange(ranks.size)
    rows, sizes, a, b = _digests(batches)
    order = np.argsort(a)
    in_order, same = a[order], np.zeros(order.size, np.bool_)
    same[1:] = in_order[1:] == in_order[:-1]
    same[:-1] |= same[1:]
    del in_order
    order = order[same & (sizes[order] > 0)]
    order = order[np.lexsort((ranks[rows[order]], b[order], a[order]))]
    chosen = rows[order]
    first = next(iter(batches), None)
    columns = [name for name in schemas.COMPARED if first is None or name in first.schema.names]
    items, offsets = take_lists(lambda: iter(batches), chosen, each, space, columns)
    kernel.group_equal(a[order], b[order], chosen, items, offsets, best)
    return best


def _digests(batches: Iterable[pa.RecordBatch]) -> list[Rows]:
    """[rows, sizes, set_a, set_b] of all rows; copies, so that no batch is held."""
    parts = [
        (
            arrow.ints(batch.column("row")).copy(),
            arrow.lists(batch.column("items")).sizes,
            arrow.ints(batch.column("set_a")).copy(),
            arrow.ints(batch.column("set_b")).copy(),
        )
        for batch in batches
    ]
    return [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64)] * 4
