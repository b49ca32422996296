"""What an index has, for somebody else: one document, all of them as a file; of a damaged one what is whole."""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.answers.matches import Entry
from nearsame.errors import ConfigError
from nearsame.files.inputs import Inputs
from nearsame.index.codes import CodeFacet
from nearsame.index.columns import unpacked
from nearsame.index.facet import Facets
from nearsame.index.facets import DigestFacet
from nearsame.index.salvaging import whole_rows
from nearsame.index.sets import SetFacet
from nearsame.index.shelves import BlobShelf
from nearsame.outputs.folder import appearing, require_place
from nearsame.sources import Skipped
from nearsame.stores.base import Reader, Row

__all__ = ["entry", "export", "exported"]

_AT_ONCE = 1000

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
                digest = values[1:].tobytes()[: int(values[0])].hex()
                fields["digests"][f"{facet.recipe.algorithm} of {facet.name}"] = digest
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
        return write(made, (exported(facets, kept, row) for rows in batches for row in rows))


def exported(facets: Facets, kept: Sequence[str], row: Row) -> dict[str, Any]:
    """A row as a record of a file: the columns that are kept are its columns, too."""
    record = entry(facets, row).record()
    digests, columns = record.pop("digests"), record.pop("columns")
    del record["leader"]
    digests = {name.replace(" of ", "_of_"): value for name, value in digests.items()}
    return {**record, **digests, **{name: columns.get(name) for name in kept}}


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> int:
    number = 0
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as out:
        for record in records:
            given = {key: value for key, value in record.items() if value is not None}
            out.write(json.dumps(given, ensure_ascii=False) + "\n")
            number += 1
    return number


def _write_parquet(path: Path, records: Iterator[dict[str, Any]]) -> int:
    import pyarrow.parquet as pq  # noqa: PLC0415  (seldom needed, and slow to import)

    names = {"sketch": pa.list_(pa.uint64()), "num_features": pa.int64()}
    first = list(islice(records, 1))
    columns = dict.fromkeys(["id", "url", "code", "num_features", "sketch", "text", *(first[0] if first else ())])
    schema = pa.schema([(name, names.get(name, pa.large_string())) for name in columns])
    number, left = 0, chain(first, records)
    with pa.OSFile(os.fsencode(path), "wb") as out, pq.ParquetWriter(out, schema) as writer:
        while waiting := list(islice(left, _AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(waiting, schema=schema))
            number += len(waiting)
    return number
