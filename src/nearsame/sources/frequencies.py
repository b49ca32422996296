"""A saved table of document frequencies, read whole: the only file that a recipe may name."""

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.files.systems import File
from nearsame.sources.footers import why_not_readable
from nearsame.sources.parts import damage
from nearsame.sources.streams import seekable
from nearsame.sources.tables import require_sound

__all__ = ["read_frequencies"]


def read_frequencies(path: str) -> pa.Table:
    """The table as it was written, its recipe among its metadata.

    Raises:
        SourceError: It cannot be read, is encrypted, or is damaged.
    """
    with seekable(File(path), None) as source, damage(path):
        if reason := why_not_readable(source):
            raise pa.ArrowInvalid(reason)
        source.seek(0)
        table = pq.ParquetFile(source).read(use_threads=False)  # which would let go of it later, perhaps too late
    require_sound(table, path)
    return table
