"""A saved table of document frequencies, read whole: the only file that a recipe may name."""

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.sources.files import File
from nearsame.sources.parts import damage
from nearsame.sources.streams import seekable

__all__ = ["read_frequencies"]


def read_frequencies(path: str) -> pa.Table:
    """The table as it was written, its recipe among its metadata."""
    with seekable(File(path), None) as source, damage(path):
        return pq.read_table(source)
