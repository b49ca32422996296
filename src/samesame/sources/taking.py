"""Some records of a part: whole, as a table, or their texts alone."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.sources.base import Columns, Part
from samesame.sources.memory import Memory

__all__ = ["take", "texts"]


def take(part: Part, positions: npt.NDArray[np.int64], columns: Columns) -> pa.Table:
    """The records at these positions (ascending): a table's own columns, or a file's id and text."""
    if isinstance(part, Memory):
        return part.table.take(pa.array(positions))
    batches = part.read(columns, lambda _: None)
    found = [batch.filter(pa.array(np.isin(batch.column("position").to_numpy(), positions))) for batch in batches]
    return pa.Table.from_batches(found) if found else pa.table({})


def texts(part: Part, positions: npt.NDArray[np.int64], columns: Columns) -> dict[int, str]:
    """The texts (or the items, joined) at these positions; reads no further than the last of them."""
    found: dict[int, str] = {}
    wanted = np.unique(positions)
    for batch in part.read(columns, lambda _: None):
        chosen = batch.filter(pa.array(np.isin(batch.column("position").to_numpy(), wanted)))
        values = chosen.column("items" if columns.items else "text").to_pylist()
        for position, value in zip(chosen.column("position").to_pylist(), values, strict=True):
            found[position] = " ".join(value) if isinstance(value, list) else value or ""
        if len(found) == len(wanted):
            break
    return found
