"""Records for the tests of sources, and files of every format that hold them."""

import bz2
import csv
import gzip
import io
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from pyarrow import orc

from nearsame.files.compressions import COMPRESSIONS as SUFFIXES
from nearsame.files.systems import File
from nearsame.sources import Columns, Part, Skipped, open_parts
from nearsame.sources.base import into
from nearsame.sources.streams import chunks

Rows = list[dict[str, Any]]

COMPRESSIONS = ["", ".gz", ".zst", ".bz2", ".xz"]
FORMATS = ["jsonl", "csv", "tsv", "parquet", "orc", "arrow", "feather"]

_CHARACTERS = st.one_of(
    st.sampled_from([*'",\n\r\t{}[]\\: \0\u2028\ufeff', "\r\n", "é", "漢", "\U0001f600", "\U0010ffff", "e\u0301"]),
    st.characters(codec="utf-8"),
)
TEXTS = st.lists(_CHARACTERS, max_size=12).map("".join)
_ROW = {"id": TEXTS.map("i".__add__), "text": st.none() | TEXTS, "n": st.integers(0, 9)}
ROWS = st.lists(st.fixed_dictionaries(_ROW), max_size=12)


def write(folder: Path, rows: Rows, kind: str, compression: str = "") -> Path:
    """A file of some format with the records."""
    path = folder / f"records.{kind}{compression}"
    path.write_bytes(compressed(encoded(rows, kind), compression))
    return path


def encoded(rows: Rows, kind: str) -> bytes:
    """The bytes of a file with the records."""
    match kind:
        case "jsonl":
            return b"".join(orjson.dumps(row) + b"\n" for row in rows)
        case "csv" | "tsv":
            return _delimited(rows, "," if kind == "csv" else "\t")
        case _:
            return _columnar(table_of(rows), kind)


def compressed(data: bytes, compression: str) -> bytes:
    """The bytes, compressed as the suffix says."""
    match compression:
        case ".gz":
            return gzip.compress(data)
        case ".bz2":
            return bz2.compress(data, 1)  # small blocks: a break loses one
        case ".xz":
            return lzma.compress(data)
        case ".zst":
            out = pa.BufferOutputStream()
            with pa.CompressedOutputStream(out, "zstd") as stream:
                stream.write(data)
            return bytes(out.getvalue())
        case _:
            return data


def decompressed(path: Path) -> bytes:
    """The contents of a file."""
    return b"".join(chunks(File(str(path)), SUFFIXES.get(path.suffix)))


def table_of(rows: Rows) -> pa.Table:
    """The records as a table, with metadata that copies have to keep."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("n", pa.int64())], {"made": "by hand"})
    return pa.Table.from_pylist(rows, schema)


def _delimited(rows: Rows, delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    # pyarrow ends a field at a lone CR too, so everything is quoted
    writer = csv.DictWriter(out, ["id", "text", "n"], delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _columnar(table: pa.Table, kind: str) -> bytes:
    out = pa.BufferOutputStream()
    rows = max(5, len(table) // 100)  # in a piece: several pieces, and not thousands
    if kind == "parquet":
        pq.write_table(table, out, row_group_size=rows)
    elif kind == "orc":
        orc.write_table(table, out, stripe_size=1)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, out, chunksize=rows)
    else:
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    return bytes(out.getvalue())


def read(part: Part, columns: Columns | None = None) -> tuple[Rows, list[Skipped]]:
    """The records of a part, and what was skipped."""
    skipped: list[Skipped] = []
    batches = list(part.read(columns or Columns(), into(skipped)))
    return [row for batch in batches for row in batch.to_pylist()], skipped


def only(source: Any, columns: Columns | None = None, **settings: Any) -> Part:
    """The one part of a source."""
    (part,) = open_parts([source], columns=columns or Columns(), **settings)
    return part


def copied(part: Part, folder: Path, removed: Sequence[int] = ()) -> Path:
    """Where the part was copied to."""
    target = folder / "kept" / part.target
    part.copy(target, np.array(sorted(removed), np.int64))
    return target
