"""How one machine brings together what shares a key: grouping, renumbering, gathering.

1. Documents in a meeting are numbered by priority: 0 is the most worth keeping.
2. A key that only one document has is dropped before anything is sorted twice.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame import arrow
from samesame.engines.base import Rows
from samesame.kernels import buckets as kernel
from samesame.kernels.buckets import Entries

__all__ = ["assemble", "same_features", "take_lists"]

_PARTS = 256
_SHIFT = np.uint64(56)
Int32s = npt.NDArray[np.int32]
Each = Callable[[Iterable[Any], Callable[[Any], Any]], Iterator[Any]]


def assemble(keys: Iterator[pa.RecordBatch], ranks: Rows, each: Each) -> Entries:
    """Entries of the keys that more than one document has."""
    columns = [
        (arrow.unsigned(arrow.ints(b.column("key"))), arrow.ints(b.column("row")), arrow.ints(b.column("place")))
        for b in keys
    ]
    ends, (all_keys, all_rows, all_places) = _deal(columns)
    shared = each(
        pairwise(ends),
        lambda part: _shared(*(column[part[0] : part[1]] for column in (all_keys, all_rows, all_places))),
    )
    rows, places, buckets, num_buckets = _concatenate(list(shared))
    return _renumber(rows, places, buckets, num_buckets, ranks)


def _deal(columns: list[tuple[Any, Any, Any]]) -> tuple[Rows, tuple[Any, Any, Any]]:
    """All entries, dealt to parts by the top bits of the key: (ends of the parts, columns)."""
    counts = np.zeros(_PARTS + 1, np.int64)
    for keys, _, _ in columns:
        kernel.count_parts(keys, _SHIFT, counts)
    ends = np.cumsum(counts)
    out = np.empty(ends[-1], np.uint64), np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int32)
    at = ends[:-1].copy()
    for keys, rows, places in columns:
        kernel.deal(keys, rows, places, _SHIFT, at, *out)
    return ends, out


def _shared(keys: Any, rows: Any, places: Any) -> tuple[Rows, Int32s, Rows, int]:
    order = np.argsort(keys)
    out = np.empty(keys.size, np.int64), np.empty(keys.size, np.int32), np.empty(keys.size, np.int64)
    filled, num_buckets = kernel.mark_shared(keys, order, rows, places, *out)
    return out[0][:filled].copy(), out[1][:filled].copy(), out[2][:filled].copy(), num_buckets


def _concatenate(parts: list[tuple[Rows, Int32s, Rows, int]]) -> tuple[Rows, Int32s, Rows, int]:
    total = 0
    for part in parts:
        np.add(part[2], total, out=part[2])
        total += part[3]
    rows, places, buckets = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return rows, places, buckets, total


def _renumber(rows: Rows, places: Int32s, buckets: Rows, num_buckets: int, ranks: Rows) -> Entries:
    """Number the documents by priority, and give each its entries."""
    by_rank = np.zeros(ranks.size, np.bool_)
    by_rank[ranks[rows]] = True
    numbers = np.cumsum(by_rank) - 1
    docs = numbers[ranks[rows]]
    row_of = np.empty(ranks.size, np.int64)
    row_of[ranks] = np.arange(ranks.size)
    num_docs = int(by_rank.sum())
    starts = np.zeros(num_docs + 1, np.int64)
    np.cumsum(np.bincount(docs, minlength=num_docs), out=starts[1:])
    out_buckets, out_places = np.empty(rows.size, np.int64), np.empty(rows.size, np.int32)
    fill, packed = np.zeros(num_docs, np.int64), np.empty(rows.size, np.uint64)
    kernel.order_entries(docs, buckets, places, starts, fill, packed, out_buckets, out_places)
    bucket_starts = np.zeros(num_buckets + 1, np.int64)
    np.cumsum(np.bincount(buckets, minlength=num_buckets), out=bucket_starts[1:])
    return Entries(row_of[by_rank], starts, out_buckets, out_places, bucket_starts)


def take_lists(batches: Iterable[pa.RecordBatch], rows: Rows, each: Each) -> tuple[arrow.UInt64s, Rows]:
    """The lists of the given rows, one after the other in their order: (items, offsets)."""
    order = np.argsort(rows, kind="stable")
    ascending = rows[order]
    wanted = []
    offsets = np.zeros(rows.size + 1, np.int64)
    for batch in batches:
        lists, here = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        low, high = np.searchsorted(ascending, [here[0], here[-1] + 1]) if here.size else (0, 0)
        which = np.searchsorted(here, ascending[low:high])
        offsets[order[low:high] + 1] = lists.sizes[which]
        if high > low:
            wanted.append((lists, which, order[low:high]))
    np.cumsum(offsets, out=offsets)
    items = np.empty(offsets[-1], np.uint64)
    for _ in each(wanted, lambda want: kernel.gather(*want[0], want[1], offsets[want[2]], items)):
        pass
    return items, offsets


def same_features(batches: list[pa.RecordBatch], ranks: Rows, each: Each) -> Rows:
    """For each row the best row with equal items; grouped by their digests, then compared."""
    best = np.arange(ranks.size)
    rows = np.concatenate([arrow.ints(b.column("row")) for b in batches] or [best])
    sizes = np.concatenate([arrow.lists(b.column("items")).sizes for b in batches] or [best])
    a, b = (np.concatenate([arrow.ints(x.column(name)) for x in batches] or [best]) for name in ("set_a", "set_b"))
    order = np.argsort(a)
    same = np.zeros(order.size, np.bool_)
    same[1:] = a[order][1:] == a[order][:-1]
    same[:-1] |= same[1:]
    order = order[same & (sizes[order] > 0)]
    order = order[np.lexsort((ranks[rows[order]], b[order], a[order]))]
    chosen = rows[order]
    items, offsets = take_lists(batches, chosen, each)
    kernel.group_equal(a[order], b[order], chosen, items, offsets, best)
    return best
