"""Files of every format, and what befalls them: seeded, so that a number names a damaged file.

1. The same number gives the same bytes, on every machine.
2. `records_of` says how many records a damaged file of lines still has; of other formats each must be accounted for.
"""

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .archive import gzipped, response
from .corpora import compressed, encoded

__all__ = ["NAMES", "NUM_RECORDS", "damage_to", "damaged", "records_of", "whole", "write_encrypted"]

NUM_RECORDS = 24
_GROUPS = 8  # rows in a batch or row group

_WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "ledge"]


def _text(number: int) -> str:
    """One text in three is that of its neighbour."""
    chance = random.Random(number - (number % 3 == 1))
    return " ".join(chance.choices(_WORDS, k=14))


_ROWS = [{"id": f"i{number}", "text": _text(number), "n": number} for number in range(NUM_RECORDS)]


def _wide() -> pa.Table:
    """The records with a column of each type that somebody may carry along."""
    table = pa.Table.from_pylist(_ROWS)
    numbers = range(NUM_RECORDS)
    texts = table.column("text").combine_chunks()
    more: dict[str, Any] = {
        "list": pa.array([[f"a{n}", None, "b"][: n % 4] for n in numbers]),
        "large_list": pa.array([[n, n] for n in numbers], pa.large_list(pa.int64())),
        "fixed_list": pa.array([[n, 2.0] for n in numbers], pa.list_(pa.float64(), 2)),
        "struct": pa.array([{"a": n, "b": {"c": [str(n)]}} if n % 5 else None for n in numbers]),
        "map": pa.array([[(str(n), n)] for n in numbers], pa.map_(pa.string(), pa.int64())),
        "dictionary": texts.dictionary_encode(),
        "bytes": pa.array([b"\xff" * n for n in numbers], pa.large_binary()),
        "fixed_bytes": pa.array([b"abcd" if n % 2 else None for n in numbers], pa.binary(4)),
        "flag": pa.array([bool(n % 2) for n in numbers]),
        "decimal": pa.array([Decimal(n) for n in numbers], pa.decimal128(10, 2)),
        "moment": pa.array(list(numbers), pa.timestamp("us", "UTC")),
        "none": pa.nulls(NUM_RECORDS),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


def _only_arrow() -> pa.Table:
    """And of those types that Parquet does not know."""
    table, numbers = _wide(), range(NUM_RECORDS)
    texts = table.column("text").combine_chunks()
    ends = pa.array(range(1, NUM_RECORDS + 1), pa.int32())
    kinds = pa.array([n % 2 for n in numbers], pa.int8())
    more: dict[str, Any] = {
        "list_of_dictionary": pa.ListArray.from_arrays(list(range(NUM_RECORDS + 1)), texts.dictionary_encode()),
        "view": texts.cast(pa.string_view()),
        "bytes_view": texts.cast(pa.binary()).cast(pa.binary_view()),
        "list_view": pa.array([[n] * (n % 3) for n in numbers], pa.list_view(pa.int64())),
        "runs": pa.RunEndEncodedArray.from_arrays(ends, texts),
        "union": pa.UnionArray.from_sparse(kinds, [pa.array(numbers), texts]),
        "dense": pa.UnionArray.from_dense(kinds, pa.array(numbers, pa.int32()), [pa.array(numbers), texts]),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array([str(n) for n in numbers])),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


def _ipc(table: pa.Table, *, file: bool, codec: str | None = None, text: pa.DataType | None = None) -> bytes:
    if text is not None:
        at = table.schema.get_field_index("text")
        table = table.set_column(at, "text", table.column("text").cast(text))
    out = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=codec, unify_dictionaries=True)
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=_GROUPS)
    return bytes(out.getvalue())


def _parquet(table: pa.Table, **settings: Any) -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(table, out, row_group_size=_GROUPS, **settings)
    return bytes(out.getvalue())


def _pages(*, packed: bool) -> bytes:
    records = [response(row["n"], row["text"]) for row in _ROWS]
    return gzipped(*records) if packed else b"".join(records)


_PLAIN = pa.Table.from_pylist(_ROWS)
_MAKERS: dict[str, Callable[[], bytes]] = {
    "plain-file.arrow": lambda: _ipc(_PLAIN, file=True),
    "plain-stream.arrow": lambda: _ipc(_PLAIN, file=False),
    "wide-file.arrow": lambda: _ipc(_only_arrow(), file=True),
    "wide-stream.arrow": lambda: _ipc(_only_arrow(), file=False),
    "lz4.feather": lambda: _ipc(_wide(), file=True, codec="lz4"),
    "zstd-stream.arrow": lambda: _ipc(_only_arrow(), file=False, codec="zstd"),
    "view-file.arrow": lambda: _ipc(_PLAIN, file=True, text=pa.string_view()),
    "dictionary-file.arrow": lambda: _ipc(_PLAIN, file=True, text=pa.dictionary(pa.int32(), pa.string())),
    "plain.parquet": lambda: _parquet(_PLAIN),
    "wide.parquet": lambda: _parquet(_wide()),
    "zstd.parquet": lambda: _parquet(_wide(), compression="zstd", use_dictionary=False, data_page_version="2.0"),
    "delta.parquet": lambda: _parquet(
        _PLAIN, compression="none", use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"},
        write_page_index=True,
    ),
    "plain.csv": lambda: b"".join(_line(row) for row in [dict.fromkeys(_ROWS[0]), *_ROWS]),
    "quoted.tsv": lambda: encoded(_ROWS, "tsv"),
    "plain.jsonl": lambda: encoded(_ROWS, "jsonl"),
    "members.jsonl.gz": lambda: gzip.compress(encoded(_ROWS[:9], "jsonl")) + gzip.compress(encoded(_ROWS[9:], "jsonl")),
    "frame.csv.zst": lambda: compressed(encoded(_ROWS, "csv"), ".zst"),
    "blocks.jsonl.bz2": lambda: bz2.compress(encoded(_ROWS, "jsonl")),
    "stream.jsonl.xz": lambda: lzma.compress(encoded(_ROWS, "jsonl")),
    "packed.parquet.gz": lambda: gzip.compress(_parquet(_PLAIN)),
    "packed.arrow.zst": lambda: compressed(_ipc(_PLAIN, file=True), ".zst"),
    "plain.warc": lambda: _pages(packed=False),
    "members.warc.gz": lambda: _pages(packed=True),
}  # fmt: skip
NAMES = tuple(_MAKERS)


def _line(row: dict[str, Any]) -> bytes:
    return ",".join(str(name if value is None else value) for name, value in row.items()).encode() + b"\n"


@cache
def whole(name: str) -> bytes:
    """A sound file."""
    return _MAKERS[name]()


def damaged(name: str, number: int) -> bytes:
    """The file with damage number so and so: half of it near the ends, where formats say what is where."""
    return damage_to(whole(name), f"{name} {number}")


def damage_to(sound: bytes, seed: str) -> bytes:
    """The same bytes with some damage."""
    chance = random.Random(seed)
    data = bytearray(sound)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = _place(chance, len(data))
        length = min(chance.choice((1, 1, 2, 4, 8, 64, 1024)), len(data) - at)
        match chance.choice(("bit", "bit", "byte", "byte", "word", "cut", "zeros", "insert", "delete", "repeat")):
            case "bit":
                data[at] ^= 1 << chance.randrange(8)
            case "byte":
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            case "word":
                word = chance.choice((-1, 1, 0x7FFFFFFF, -(2**31), chance.randrange(2**31)))
                data[at & ~3 : (at & ~3) + 4] = (word & 0xFFFFFFFF).to_bytes(4, "little")
            case "cut":
                del data[max(at, 1) :]
            case "zeros":
                data[at : at + length] = bytes(length)
            case "insert":
                data[at:at] = chance.randbytes(length)
            case "delete":
                del data[at : at + length]
            case _:
                data[at:at] = data[at : at + length]
        if not data:
            break
    return bytes(data)


def _place(chance: random.Random, size: int) -> int:
    near = min(size, 2048)
    match chance.randrange(4):
        case 0:
            return chance.randrange(near)
        case 1:
            return size - 1 - chance.randrange(near)
        case _:
            return chance.randrange(size)


def records_of(name: str, data: bytes) -> int:
    """How many records must be accounted for: all, or of lines those that are there, where counting tells."""
    kind = name.partition(".")[2]
    if kind == "jsonl":
        return min(NUM_RECORDS, sum(1 for line in io.BytesIO(data) if line.strip(b" \t\r\n")))
    if kind == "csv.zst":
        lines, whole = _decompressed(data)
        return 0 if b'"' in lines else records_of("a.csv", lines) if whole else NUM_RECORDS
    if kind in ("csv", "tsv"):
        return 0 if b'"' in data else min(NUM_RECORDS, len([line for line in data.splitlines() if line]) - 1)
    return NUM_RECORDS


def _decompressed(data: bytes) -> tuple[bytes, bool]:
    """(what can be read of a Zstandard file, whether that is all of it)."""
    found = b""
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            while piece := stream.read(64):
                found += piece
    except (OSError, pa.ArrowException):
        return found, False
    return found, True


def write_encrypted(path: Path, table: pa.Table, column: str) -> None:
    """A Parquet file with one encrypted column, and a footer that everybody can read."""
    from pyarrow.parquet import encryption  # not in every build

    class Keys(encryption.KmsClient):  # type: ignore[misc, name-defined]  (pyarrow has no types)
        def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> bytes:
            return key_bytes.hex().encode()

        def unwrap_key(self, wrapped_key: bytes, master_key_identifier: str) -> bytes:
            return bytes.fromhex(wrapped_key.decode())

    factory = encryption.CryptoFactory(lambda _: Keys())
    settings = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": [column]}, plaintext_footer=True)
    sealing = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    with pq.ParquetWriter(path, table.schema, encryption_properties=sealing) as writer:
        writer.write_table(table)
