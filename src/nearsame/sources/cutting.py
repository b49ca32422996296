"""Records copied without some passages of their texts: all else of them stays as it was.

1. In a line of JSON and in a record of CSV the text alone is written anew, by the rules by which it was written.
2. In a table the column keeps its type; one whose values are encoded (in a dictionary, by runs) becomes plain.
3. Web pages and archives have no text of their own, from which something could be cut.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.formats import FORMATS
from nearsame.passages import Span, without
from nearsame.sources.base import Columns, Part
from nearsame.sources.columns import choose, is_stringlike, plain_values

__all__ = ["Cuts", "require_cuttable"]

_JSON = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)
_ARCHIVES = frozenset(form.name for form in FORMATS if form.is_archive or form.name == "cdx")


@dataclass(frozen=True)
class Cuts:
    """What is cut out of the texts of one part: spans of characters, by position."""

    columns: Columns
    spans: Mapping[int, Sequence[Span]]

    @cached_property
    def _positions(self) -> Rows:
        return np.array(sorted(self.spans), np.int64)

    def within(self, start: int, count: int) -> list[int]:
        """Those of these positions whose texts are cut."""
        low, high = np.searchsorted(self._positions, [start, start + count])
        found: list[int] = self._positions[low:high].tolist()
        return found

    def among(self, positions: Rows) -> "Cuts":
        """The same of records that stand at these positions, and are alone in a table."""
        own = self._positions[np.isin(self._positions, positions)].tolist()
        places = np.searchsorted(positions, own).tolist()
        return Cuts(self.columns, dict(zip(places, map(self.spans.__getitem__, own), strict=True)))

    def text(self, position: int, text: str) -> str:
        """The text at a position, without its passages."""
        return without(text, self.spans.get(position, ())).text

    def line(self, position: int, line: bytes, key: str) -> bytes:
        """A line of JSON with the string of a key cut; where the key is there twice, the last one counts."""
        if position not in self.spans:
            return line
        places = list(_strings(line, key))
        text = self.text(position, orjson.loads(line[slice(*places[-1])]))
        written = json.dumps(text).encode() if line.isascii() else orjson.dumps(text)
        for start, end in reversed(places):
            line = line[:start] + written + line[end:]
        return line

    def record(self, position: int, record: bytes, number: int, delimiter: str) -> bytes:
        """A record of CSV with its field of this number cut; a quoted field stays one."""
        if position not in self.spans:
            return record
        start, opened, inner, rest = list(_fields(record, delimiter))[number]
        text = self.text(position, (inner.replace(b'""', b'"') + rest).decode())
        needs = opened or text.startswith('"') or any(char in text for char in (delimiter, "\n", "\r"))
        written = '"' + text.replace('"', '""') + '"' if needs else text
        end = start + len(opened) + len(inner) + len(opened) + len(rest)
        return record[:start] + written.encode() + record[end:]

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what `table` returns."""
        at = self._place(schema)
        return schema.set(at, schema.field(at).with_type(_plain(schema.field(at).type)))

    def table(self, table: pa.Table, start: int) -> pa.Table:
        """A table, whose first row has the position `start`, with its texts cut."""
        at, kind = self._place(table.schema), self.schema(table.schema)
        rows = [position - start for position in self.within(start, len(table))]
        if not rows and kind == table.schema:
            return table
        column = pa.chunked_array([plain_values(chunk) for chunk in table.column(at).chunks])
        texts = (column[row].as_py() for row in rows)
        given = (text.decode() if isinstance(text, bytes) else text for text in texts)
        cut = {row: self.text(start + row, text) for row, text in zip(rows, given, strict=True)}
        return table.set_column(at, kind.field(at), _typed(_replaced(column, cut), kind.field(at).type))

    def _place(self, schema: pa.Schema) -> int:
        strings = [field.name for field in schema if is_stringlike(field.type)]
        return int(schema.get_field_index(choose(self.columns, schema.names, strings, "").text))


def require_cuttable(parts: Iterable[Part], columns: Columns) -> None:
    """Refuse parts whose texts are not written down in them.

    Raises:
        ConfigError: There is one.
    """
    for part in parts:
        if part.pages or part.format in _ARCHIVES or columns.html is not None:
            message = f"remove=spans: {part.name} holds web pages, and passages are cut out of plain texts only"
            raise ConfigError(message, hint="Choose to remove documents.")


def _strings(line: bytes, wanted: str) -> Iterator[Span]:
    """Where the strings of a key stand in a line that is an object."""
    depth, key = 0, None
    for token in _JSON.finditer(line):
        what = token[0]
        if what in (b"{", b"["):
            depth += 1
        elif what in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and what == b",":
            key = None
        elif depth == 1 and key is None:
            key = orjson.loads(what)
        elif depth == 1 and key == wanted:
            yield token.span()


def _fields(record: bytes, delimiter: str) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """The fields of a record: where one begins, its quote, what is in quotes, and what is behind them or in none."""
    field = re.compile(rb'(?:(")((?:[^"]|"")*+)")?([^%s\r\n]*+)' % re.escape(delimiter.encode()))
    at = 0
    while found := field.match(record, at):
        yield at, found[1] or b"", found[2] or b"", found[3]
        at = found.end() + 1
        if record[found.end() : at] != delimiter.encode():
            return


def _plain(kind: pa.DataType) -> pa.DataType:
    encoded = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return kind.value_type if encoded else kind


def _replaced(column: pa.ChunkedArray, texts: Mapping[int, str]) -> pa.ChunkedArray:
    """The column, of strings or bytes, as bytes with other texts in some rows."""
    mask = np.zeros(len(column), np.bool_)
    mask[list(texts)] = True
    values = pa.array([text.encode() for text in texts.values()], pa.large_binary())
    return pc.replace_with_mask(column.cast(pa.large_binary()), mask, values)


def _typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column of bytes with a type; strings that are not UTF-8 stay what they are."""
    storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    chunks = (chunk.view(pa.large_string()) if is_stringlike(storage) else chunk for chunk in column.chunks)
    typed = [chunk.cast(storage) for chunk in chunks]
    return pa.chunked_array(
        [pa.ExtensionArray.from_storage(kind, chunk) for chunk in typed] if storage != kind else typed, kind
    )
