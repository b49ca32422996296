"""How much of a run a page has room for: 3 MB, whatever its documents are called and say.

1. What is listed is spread evenly over the order of similarity, so that less of it still shows the whole range.
2. Names are cut where they are longer than a page can use, and it is said by how much.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.answers.reports import SeenDocument
from nearsame.arrow import Int64s
from nearsame.outputs.examples import spread
from nearsame.outputs.page_data import printed_bytes
from nearsame.printable import shortened

__all__ = ["DATA_BYTES", "LONGEST_NAME", "costs", "evenly", "fitting", "seen_document", "spread_within"]

DATA_BYTES = (
    2_450_000  # of a page's data, of 3 MB: tables and drawings repeat some of it, and there are style and script
)
LONGEST_NAME = 1_000  # characters of ids and sources
_NAMES = ["a_id", "a_source", "b_id", "b_source"]
_SPARED = 0.9  # of the pairs that would fit if all names were as long as those at hand


def costs(pairs: pa.Table, rows: Int64s) -> Int64s:
    """Bytes of a page that the names of some pairs take."""
    some = pairs.select(_NAMES).take(pa.array(rows))
    columns = [pc.utf8_slice_codeunits(column, 0, LONGEST_NAME).to_pylist() for column in some.columns]
    return np.array([sum(map(printed_bytes, row)) for row in zip(*columns, strict=True)], np.int64)


def spread_within(
    similarity: npt.NDArray[np.float64], most: int, costs_of: Callable[[Int64s], Int64s], room: int
) -> Int64s:
    """At most so many pairs, evenly over the order of similarity, the least similar first; one at least.

    Args:
        similarity: Of all.
        most: How many.
        costs_of: Bytes of a page that some of them take.
        room: Bytes for all that are chosen.
    """
    same = similarity >= 1
    chosen = spread(similarity, same, most)
    while chosen.size > 1 and (size := int(costs_of(chosen).sum())) > room:
        fewer = int(chosen.size * room * _SPARED / size)
        chosen = spread(similarity, same, max(1, min(chosen.size - 1, fewer)))
    return chosen[np.argsort(similarity[chosen], kind="stable")]


def fitting(sizes: Sequence[int] | Int64s, room: int) -> int:
    """How many of the first have room; one at least, where there is one.

    >>> fitting([5, 5, 5], 12), fitting([20], 12), fitting([], 12)
    (2, 1, 0)
    """
    return max(min(1, len(sizes)), int((np.cumsum(sizes) <= room).sum()))


def evenly(number: int) -> list[int]:
    """The numbers below it in an order of which each beginning is spread evenly.

    >>> evenly(6)
    [0, 4, 2, 1, 5, 3]
    """
    bits = max(1, (number - 1).bit_length())
    return sorted(range(number), key=lambda one: int(f"{one:0{bits}b}"[::-1], 2))


def seen_document(said: Mapping[str, Any], side: str) -> SeenDocument:
    """One of the two of a row of pairs, by names that a page has room for."""
    id, source, row = (said[f"{side}_{name}"] for name in ("id", "source", "row"))
    names = shortened(id, LONGEST_NAME), shortened(source, LONGEST_NAME)
    return SeenDocument(*names, row, is_cut=len(id) > LONGEST_NAME)
