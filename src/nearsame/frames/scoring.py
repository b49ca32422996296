"""Pairs to similarities: the features of both sides beside each pair, and the kernels of one machine.

1. The later document's features travel with the pair, the earlier one's once for all its partners: they come first in
   the order of a partition, so that no task holds more than one of them.
2. A document with very many partners is dealt to several partitions.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import Bound

__all__ = ["lengths", "scored"]

_PARTNERS = 20_000  # of one document, in one partition
_SCORES = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("num", pa.int64()), ("den", pa.int64())])


def lengths(columns: Sequence[str]) -> str:
    """How many numbers a document is compared by, in SQL.

    >>> lengths(("items", "confirming"))
    'size(items) + size(confirming)'
    """
    return " + ".join(f"size({name})" for name in columns)


def scored(  # noqa: PLR0913  (who is compared, by what, and how it is dealt)
    verbs: Any, pairs: Any, lists: Any, bound: Bound, *, below: Bound | None = None, hot: bool = False
) -> tuple[Any, Work]:
    """The pairs that reach the bound (a, b, num, den), and what it took to compare them all.

    Args:
        verbs: the engine's.
        pairs: a, b: numbers of two documents, each pair once; the score is that of (b, a).
        lists: number, and what is compared.
        bound: the measure and the threshold.
        below: what pairs that do not reach it are scored by; None: they are left out.
        hot: whether some document may have very many partners.
    """
    parts = f"greatest(1L, cast(ceil(count(1) over (partition by a) / {_PARTNERS}) as bigint))"
    dealt = pairs.selectExpr("a", "b", f"{parts} as parts" if hot else "1L as parts")
    dealt = dealt.selectExpr("a", "b", "pmod(xxhash64(b), parts) as part")
    compared = lists.columns[1:]
    seconds = dealt.join(lists.toDF("b", *compared), "b").select("a", "part", "b", *compared)
    firsts = dealt.select("a", "part").distinct().join(lists.toDF("a", *compared), "a")
    both = seconds.union(firsts.selectExpr("a", "part", "-1L as b", *compared))
    placed = both.repartition("a", "part").sortWithinPartitions("a", "part", "b")
    work = _Scores((bound,) if below is None else (bound, below), tuple(compared))
    scores = verbs.map_batches(placed, work, _SCORES)
    sums = (f"coalesce(sum(if(a < 0, {name}, 0)), 0)" for name in ("b", "num"))
    scores, (compared, passed) = verbs.told(scores, *sums)
    return scores.filter("a >= 0"), Work(0, int(compared), int(compared), int(passed))


@dataclass(frozen=True)
class _Scores:
    """Scores each document of a partition with the first one before it."""

    bounds: tuple[Bound, ...]
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        firsts, compared, passed = [arrow.NO_HASHES for _ in self.columns], 0, 0
        for batch in batches:
            if not len(batch):
                continue
            a, b = (arrow.ints(batch.column(name)) for name in ("a", "b"))
            items, offsets = _behind(firsts, [arrow.lists(batch.column(name)) for name in self.columns])
            at = np.arange(1, len(batch) + 1)
            owner = np.maximum.accumulate(np.where(b < 0, at, 0))
            mine = b >= 0
            nums, dens = np.empty(int(mine.sum()), np.int64), np.empty(int(mine.sum()), np.int64)
            measure = deciding.verify_pairs if len(self.bounds) == 1 else deciding.measure_pairs
            passed += measure(
                arrow.frozen(at[mine]), arrow.frozen(owner[mine]), arrow.frozen(items), arrow.frozen(offsets),
                *self.bounds, nums, dens,
            )  # fmt: skip
            good, compared = nums >= 0, compared + nums.size
            columns = (a[mine][good], b[mine][good], nums[good], dens[good])
            yield pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=_SCORES)
            lasts = int(owner[-1]) + (len(batch) + 1) * np.arange(len(firsts))
            firsts = [items[offsets[last] : offsets[last + 1]].copy() for last in lasts.tolist()]
        totals = [pa.array([value], pa.int64()) for value in (-1, compared, passed, 1)]  # for the sum of all partitions
        yield pa.RecordBatch.from_arrays(totals, schema=_SCORES)


def _behind(firsts: Sequence[arrow.UInt64s], columns: Sequence[arrow.Lists]) -> tuple[arrow.UInt64s, arrow.Int64s]:
    """A document before those of some columns: (items, offsets), the lists of a second column behind all others."""
    parts, sizes = [], [np.zeros(1, np.int64)]
    for first, lists in zip(firsts, columns, strict=True):
        parts += [first, lists.items[lists.starts[0] : lists.ends[-1]]]
        sizes += [np.array([first.size]), lists.sizes]
    return np.concatenate(parts), np.cumsum(np.concatenate(sizes))
