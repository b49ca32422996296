"""How much text a source holds, told without reading it: for what has to be known before a run begins.

1. Parquet says it in its footer; of what is compressed as a whole it is a guess by a factor, stated here.
2. Whatever cannot be told counts as nothing: an estimate stops no run that it knows nothing about.
"""

import contextlib
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.arrow import held_bytes
from nearsame.errors import NearSameError
from nearsame.sources.base import Columns, Part
from nearsame.sources.columns import choose, is_stringlike
from nearsame.sources.files import is_url
from nearsame.sources.footers import why_not_readable
from nearsame.sources.memory import Memory
from nearsame.sources.parquet import Parquet
from nearsame.sources.streams import seekable

__all__ = ["FACTORS", "text_bytes"]

FACTORS = {"gzip": 3, "zstd": 4, "bz2": 4, "xz": 5}  # prose; markup and logs shrink more


def text_bytes(parts: Iterable[Part], columns: Columns) -> int:
    """About how many bytes of text (or ready items, or vectors) there are to read."""
    return sum(_of_part(part, columns) for part in parts)


def _of_part(part: Part, columns: Columns) -> int:
    with contextlib.suppress(NearSameError, pa.ArrowException, OSError, UnicodeDecodeError):  # reading will tell
        match part:
            case Memory():
                names, strings = part.table.column_names, _strings(part.table.schema)
                chosen = choose(columns, names, strings, part.name)
                return held_bytes(part.table.column(str(chosen.text or chosen.items or chosen.vectors)))
            case Parquet(compression=None) if not is_url(part.file.url):  # there a footer costs a round trip
                return _of_parquet(part, columns)
        factor = FACTORS.get(getattr(part, "compression", None) or "", 1)
        return factor * (part.size_bytes() or 0)
    return 0


def _of_parquet(part: Parquet, columns: Columns) -> int:
    """The uncompressed size of the column; of repeated texts that are stored once, an underestimate."""
    with seekable(part.file, None) as source:
        if why_not_readable(source):
            return 0
        file = pq.ParquetFile(source)
        chosen = choose(columns, file.schema_arrow.names, _strings(file.schema_arrow), part.name)
        groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
        found = (group.column(number) for group in groups for number in range(group.num_columns))
        wanted = {chosen.text, chosen.items, chosen.vectors}
        return sum(each.total_uncompressed_size for each in found if each.path_in_schema.split(".")[0] in wanted)


def _strings(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if is_stringlike(field.type)]
