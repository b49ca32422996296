"""Dense numbers in a total order of a frame's rows: what Spark sorts, counted partition by partition.

1. The order is by content, and total, so that a task that runs again gives the same numbers.
2. Each row says where it was sorted, by partition and place: the task that numbers it may have another number, where it
   runs again as a part of something else.
3. Counts of partitions are all that comes to the driver.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from nearsame.engines.spark.verbs import Verbs

__all__ = ["numbered", "placed"]

_PLACE, _BITS = "nearsame_place", 33  # of Spark's own numbers, that count the rows of a partition


def placed(frame: Any, order: Sequence[tuple[str, bool]]) -> Any:
    """The frame in an order of (column, ascending), each row with its partition and its place in that."""
    columns, ascending = zip(*order, strict=True)
    place = f"monotonically_increasing_id() as {_PLACE}"
    return frame.sort(*columns, ascending=list(ascending)).selectExpr("*", place)


def numbered(frame: Any, name: str) -> Any:
    """What is `placed`, and kept, with its rows' places in the whole order in a new column."""
    part = f"int(shiftright({_PLACE}, {_BITS}))"
    counted = Verbs.aggregated(frame.selectExpr(f"{part} as part"), ["part"], ["count(1) as count"]).collect()
    sizes = {row["part"]: row["count"] for row in counted}
    starts = accumulate((sizes.get(before, 0) for before in range(max(sizes, default=0))), initial=0)
    start = f"array({', '.join(f'{start}L' for start in starts)})[{part}]"
    return frame.selectExpr("*", f"{start} + ({_PLACE} & {(1 << _BITS) - 1}L) as {name}").drop(_PLACE)
