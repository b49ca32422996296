"""What an index has, for somebody else: one document, all of them as a file; of a damaged one what is whole."""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.answers.matches import Entry
from nearsame.errors import ConfigError
from nearsame.files.inputs import Inputs
from nearsame.index.codes import CodeFacet
from nearsame.index.columns import unpacked
from nearsame.index.facet import Facets
from nearsame.index.facets import DigestFacet, digest_column, digest_columns
from nearsame.index.salvaging import whole_rows
from nearsame.index.sets import SetFacet
from nearsame.index.shelves import BlobShelf
from nearsame.outputs.folder import appearing, require_place
from nearsame.recipes.arguments import shown
from nearsame.sources import Skipped
from nearsame.stores.base import Reader, Row

__all__ = ["entry", "export", "exported"]

_AT_ONCE = 1000
_FIELDS = {
    "id": pa.large_string(),
    "url": pa.large_string(),
    "code": pa.large_string(),
    "num_features": pa.int64(),
    "sketch": pa.list_(pa.uint64()),
    "text": pa.large_string(),
}

Reading = Callable[[], AbstractContextManager[Reader]]


def entry(facets: Facets, row: Row, leader: str | None = None) -> Entry:
    """A row as a caller sees it."""
    fields: dict[str, Any] = {"digests": {}}
    shelf = BlobShelf(facets, [row.items])
    for number, facet in enumerate(facets):
        items = shelf.items(number)
        values = items.items[items.starts[0] : items.ends[0]]
        match facet:
            case SetFacet():
                key, value = ("sketch", tuple(values.tolist())) if facet.sketched else ("num_features", values.size)
                fields[key] = value
            case CodeFacet() if values.size and not facet.is_bare(items)[0]:
                words = values[: facet.num_words].tolist()
                code = sum(word << 64 * place for place, word in enumerate(words))
                fields["code"] = f"{code:0{facet.recipe.bits // 4}x}"
            case DigestFacet() if values.size:
                fields["digests"][facet.label] = values[1:].tobytes()[: int(values[0])].hex()
            case _:
                pass
    return Entry(row.id, row.url, text=_text(row), leader=leader, columns=unpacked(facets, row.items), **fields)


def _text(row: Row) -> str | None:
    return None if row.text is None else zlib.decompress(row.text).decode("utf-8", "surrogatepass")


def export(  # noqa: PLR0913  (as a caller gives it)
    reading: Reading,
    facets: Facets,
    path: str,
    *,
    index: str,
    kept: Sequence[str],
    overwrite: bool,
    skipped: list[Skipped],
) -> int:
    """Write all documents to a file that are whole; `skipped` gets the others. Returns their number.

    Raises:
        ConfigError: The file's name says no known format.
        OutputError: It is there, or cannot be written.
        StoreDamagedError: Nothing can be read.
    """
    write = {".jsonl": _write_lines, ".parquet": _write_parquet}.get(Path(path).suffix)
    if write is None:
        raise ConfigError(f"{path} has an unknown format", hint="Name it .jsonl or .parquet.")
    place = require_place(path, Inputs.index(index), folder=False, overwrite=overwrite)
    with appearing(place) as made, reading() as reader:
        batches = whole_rows(reader, lambda what: skipped.append(Skipped(index, None, None, what)))
        records = (exported(facets, kept, row) for rows in batches for row in rows)
        return write(made, records, [*_FIELDS, *digest_columns(facets), *kept])


def exported(facets: Facets, kept: Sequence[str], row: Row) -> dict[str, Any]:
    """A row as a record of a file: the columns that are kept are its columns, too."""
    record = entry(facets, row).record()
    digests, columns = record.pop("digests"), record.pop("columns")
    del record["leader"]
    digests = {digest_column(name): value for name, value in digests.items()}
    return {**record, **digests, **{name: columns.get(name) for name in kept}}


def _write_lines(path: Path, records: Iterator[dict[str, Any]], _: list[str]) -> int:
    number = 0
    with path.open("wb") as out:
        for record in records:
            given = {key: value for key, value in record.items() if value is not None}
            try:
                line = json.dumps(given, ensure_ascii=False).encode()
            except UnicodeEncodeError:  # half a pair, which only an escape can say
                line = json.dumps(given).encode()
            out.write(line + b"\n")
            number += 1
    return number


def _write_parquet(path: Path, records: Iterator[dict[str, Any]], columns: list[str]) -> int:
    import pyarrow.parquet as pq  # noqa: PLC0415  (seldom needed, and slow to import)

    schema = pa.schema([(name, _FIELDS.get(name, pa.large_string())) for name in columns])
    number = 0
    with pa.OSFile(os.fsencode(path), "wb") as out, pq.ParquetWriter(out, schema) as writer:
        while waiting := list(islice(records, _AT_ONCE)):
            try:
                table = pa.Table.from_pylist(waiting, schema=schema)
            except UnicodeEncodeError as error:
                message = f"a document has half of a pair of surrogates ({shown(error.object[error.start])})"
                raise ConfigError(f"{message}, which Parquet cannot hold", hint="Name it .jsonl.") from None
            writer.write_table(table)
            number += len(waiting)
    return number
