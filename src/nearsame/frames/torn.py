"""Packed files that break off: Spark only says which one it met first, so all of them are looked at, once it has.

1. Each file is unpacked by one task, by the reader of one machine, and nothing is kept of it.
2. A run without such files does nothing here.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from nearsame.engines.spark.failures import is_of_a_file
from nearsame.engines.spark.mapping import ddl
from nearsame.engines.spark.reading import packed_files
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.systems import BrokenStreamError, File
from nearsame.frames.archives import at_hand
from nearsame.sources.streams import chunks

__all__ = ["torn_files"]

_TORN = pa.schema([("file", pa.string()), ("why", pa.string())])


def torn_files(session: Any, sources: Sequence[Any], error: SourceError) -> dict[str, str]:
    """The addresses of packed files that break off, and why; none where the error is about something else."""
    addresses, frame = packed_files(session, sources) if is_of_a_file(error) else ([], None)
    if not addresses:
        return {}
    found = Verbs.map_batches(frame, _torn, ddl(_TORN)).collect()
    reasons = {row.file: row.why for row in found}
    plain = {address: re.sub("^file:/+", "/", address) for address in addresses}
    return {address: reasons[path] for address, path in plain.items() if path in reasons}


def _torn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for name, _, path in at_hand(batches):
        compression = COMPRESSIONS.get(PurePosixPath(name).suffix.lower())
        try:
            for _ in chunks(File(path), compression):
                pass
        except BrokenStreamError as error:
            yield pa.RecordBatch.from_pylist([{"file": name, "why": f"it breaks off: {error}"}], schema=_TORN)
