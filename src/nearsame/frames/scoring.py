"""Pairs to similarities: the features of both sides beside each pair, and the kernels of one machine.

1. The later document's features travel with the pair, the earlier one's once for all its partners: they come first in
   the order of a partition, so that no task holds more than one of them.
2. A document with very many partners is dealt to several partitions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.kernels import deciding
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import Bound

__all__ = ["scored"]

_PARTNERS = 20_000  # of one document, in one partition
_SCORES = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("num", pa.int64()), ("den", pa.int64())])


def scored(  # noqa: PLR0913  (who is compared, by what, and how it is dealt)
    verbs: Any, pairs: Any, lists: Any, bound: Bound, *, below: Bound | None = None, hot: bool = False
) -> tuple[Any, Work]:
    """The pairs that reach the bound (a, b, num, den), and what it took to compare them all.

    Args:
        verbs: the engine's.
        pairs: a, b: numbers of two documents, each pair once; the score is that of (b, a).
        lists: number, items.
        bound: the measure and the threshold.
        below: what pairs that do not reach it are scored by; None: they are left out.
        hot: whether some document may have very many partners.
    """
    parts = f"greatest(1L, cast(ceil(count(1) over (partition by a) / {_PARTNERS}) as bigint))"
    dealt = pairs.selectExpr("a", "b", f"{parts} as parts" if hot else "1L as parts")
    dealt = dealt.selectExpr("a", "b", "pmod(xxhash64(b), parts) as part")
    seconds = dealt.join(lists.toDF("b", "items"), "b").select("a", "part", "b", "items")
    firsts = dealt.select("a", "part").distinct().join(lists.toDF("a", "items"), "a")
    both = seconds.union(firsts.selectExpr("a", "part", "-1L as b", "items"))
    placed = both.repartition("a", "part").sortWithinPartitions("a", "part", "b")
    scores = verbs.map_batches(placed, _Scores((bound,) if below is None else (bound, below)), _SCORES)
    sums = (f"coalesce(sum(if(a < 0, {name}, 0)), 0)" for name in ("b", "num"))
    scores, (compared, passed) = verbs.told(scores, *sums)
    return scores.filter("a >= 0"), Work(0, int(compared), int(compared), int(passed))


@dataclass(frozen=True)
class _Scores:
    """Scores each document of a partition with the first one before it."""

    bounds: tuple[Bound, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first, compared, passed = np.zeros(0, np.uint64), 0, 0
        for batch in batches:
            lists = arrow.lists(batch.column("items"))
            a, b = (arrow.ints(batch.column(name)) for name in ("a", "b"))
            items = np.concatenate([first, lists.items[lists.starts[0] : lists.ends[-1]]]) if len(batch) else first
            offsets = np.concatenate([[0, first.size], first.size + np.cumsum(lists.sizes)])
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
            if len(batch):
                last = int(owner[-1])
                first = items[offsets[last] : offsets[last + 1]].copy()
        totals = [pa.array([value], pa.int64()) for value in (-1, compared, passed, 1)]  # for the sum of all partitions
        yield pa.RecordBatch.from_arrays(totals, schema=_SCORES)
