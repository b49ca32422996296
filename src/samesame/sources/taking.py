"""Some records of a part, whole, as a table."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.sources.base import Columns, Part
from samesame.sources.memory import Memory

__all__ = ["take"]


def take(part: Part, positions: npt.NDArray[np.int64], columns: Columns) -> pa.Table:
    """The records at these positions (ascending): a table's own columns, or a file's id and text."""
    if isinstance(part, Memory):
        return part.table.take(pa.array(positions))
    found = []
    for batch in part.read(columns, lambda _: None):
        found.append(batch.filter(pa.array(np.isin(batch.column("position").to_numpy(), positions))))
    return pa.Table.from_batches(found) if found else pa.table({})
