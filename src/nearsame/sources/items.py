"""Items of a benchmark: records with all of their texts, each by its column, as they stand.

1. A text is a string, or the strings of a list, which are its pieces. What is in an object is a column by its path
   (`choices.text`), in lists of objects, too, and in a map by its key. Numbers, bytes, and all else that is no string
   say nothing.
2. A record that cannot be read is reported, with its place.
3. No two items have one name: without an id, or with one that another has, an item is called by its place.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Any

import pyarrow as pa

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError, SourceError
from nearsame.sources.base import NOT_UTF8, Columns, Part, Skip, Skipped
from nearsame.sources.columns import is_stringlike

__all__ = ["Items", "plain_records", "read_items", "require_known", "require_single"]

_ROWS = 1_000  # become Python values at once


@dataclass
class Items:
    """The items of one benchmark; text i is the one of item owners[i] in the column columns[i]."""

    name: str
    ids: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    texts: list[tuple[str, ...]] = field(default_factory=list)
    known: dict[str, None] = field(default_factory=dict)  # the columns of its records, by path where such are asked for

    def add(self, identity: str, texts: Mapping[str, Sequence[str]]) -> None:
        """One more item, with the pieces of each of its texts."""
        self.ids.append(identity)
        for column, pieces in texts.items():
            self.owners.append(len(self.ids) - 1)
            self.columns.append(column)
            self.texts.append(tuple(pieces))


def read_items(name: str, parts: Sequence[Part], columns: Columns, wanted: Sequence[str], skip: Skip) -> Items:
    """The items of the parts of one benchmark, in order.

    Args:
        name: What the benchmark is called.
        parts: Where it is.
        columns: How they are read, and the column of ids: `id` if None; without a value, or where others have it,
            `source:position`.
        wanted: The columns that are read, or their beginnings (`choices`); none: all that hold strings but the id.
        skip: Who is told of what cannot be read.

    Raises:
        ColumnError: The benchmark has none of the wanted columns, or no such ids, or two columns of one name.
        SourceError: A part does not hold records.
    """
    items, by_path, id_column = Items(name), any("." in one for one in wanted), columns.id
    places: list[str] = []
    for part in parts:
        objects = getattr(part, "objects", None)
        if objects is None:
            hint = "Name files of records: JSON lines, CSV, Parquet, Arrow; or a folder of text files."
            raise SourceError(f"{part.name} does not hold items of a benchmark", hint=hint)
        for position, record in objects(columns, skip):
            items.known.update(dict.fromkeys(_paths(record) if by_path else record))
            texts: dict[str, list[str]] = {}
            for key, value in record.items():
                if key != (id_column or "id") or key in wanted:
                    _collect(key, value, texts)
            place = f"{part.name}:{position}"
            identity = _id(record.get(id_column or "id")) or place
            if not _is_unicode([identity, *texts, *chain.from_iterable(texts.values())]):
                skip(Skipped(part.name, position, None, "half of a surrogate pair in a text"))
                continue
            items.add(identity, {column: pieces for column, pieces in texts.items() if _is_wanted(column, wanted)})
            places.append(place)
    times = Counter(items.ids)
    items.ids = [place if times[one] > 1 else one for one, place in zip(items.ids, places, strict=True)]
    if items.ids:
        for names in filter(None, ([id_column] if id_column else [], [] if items.texts else wanted)):
            if not any(one in items.known for one in names):
                message = f"the benchmark {name} has no column {' or '.join(map(repr, names))}"
                raise ColumnError(message, hint=_instead(names[0], items.known))
    return items


def require_known(benchmarks: Sequence[Items], wanted: Sequence[str]) -> None:
    """Refuse a column that none of the benchmarks has: it would be left out without a word.

    Raises:
        ColumnError: There is one.
    """
    known = dict.fromkeys(chain.from_iterable(items.known for items in benchmarks))
    for name in wanted:
        if known and name not in known:
            raise ColumnError(f"no benchmark has a column {name!r}", hint=_instead(name, known))


def _instead(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {close[0]}? There are: {', '.join(known)}." if close else f"Choose of: {', '.join(known)}."


def _paths(value: Any, before: str = "") -> Iterator[str]:
    """The columns of a record, and those of objects in them, also in lists."""
    if isinstance(value, list):
        for element in value:
            yield from _paths(element, before)
    elif isinstance(value, (dict, tuple)):
        for key, inner in [value] if isinstance(value, tuple) else value.items():
            yield f"{before}{key}"
            yield from _paths(inner, f"{before}{key}.")


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _is_wanted(column: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(column == one or column.startswith(f"{one}.") for one in wanted)


def _is_unicode(texts: Sequence[str]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _collect(column: str, value: Any, texts: dict[str, list[str]]) -> None:
    """Add the strings of a value to their columns."""
    if isinstance(value, str):
        texts.setdefault(column, []).append(value)
    elif isinstance(value, (dict, tuple)):  # a tuple: an entry of a map, which is a list of them
        for key, inner in [value] if isinstance(value, tuple) else value.items():
            _collect(f"{column}.{key}", inner, texts)
    elif isinstance(value, list):
        for element in value:
            _collect(column, element, texts)


def plain_records(batch: pa.RecordBatch, positions: Rows, skip: Skip, source: str) -> Iterator[tuple[int, Any]]:
    """Rows as dicts, with their positions; one with a string that is not UTF-8 goes to `skip`.

    What holds no text (images, say) is there by name alone, so that it is not said to be missing.
    """
    names = [name for name, column in zip(batch.schema.names, batch.columns, strict=True) if _tells(column.type)]
    require_single(names, source)
    chosen, others = batch.select(names), dict.fromkeys(name for name in batch.schema.names if name not in names)
    for start in range(0, len(chosen), _ROWS):
        some, places = chosen.slice(start, _ROWS), positions[start : start + _ROWS].tolist()
        try:
            records = some.to_pylist()
        except UnicodeDecodeError:
            yield from _one_by_one(some, places, skip, source)
        else:
            yield from ((place, record | others) for place, record in zip(places, records, strict=True))


def require_single(names: Sequence[str], source: str) -> None:
    """Refuse two columns of one name: a record has room for one, and the texts of the other would not be looked for.

    Raises:
        ColumnError: There are two.
    """
    for name, times in Counter(names).items():
        if times > 1 and name:
            raise ColumnError(f"{source} has more than one column {name!r}", hint="Give each a name of its own.")


def _one_by_one(batch: pa.RecordBatch, places: list[int], skip: Skip, source: str) -> Iterator[tuple[int, Any]]:
    for row, position in enumerate(places):
        try:
            records = batch.slice(row, 1).to_pylist()
        except UnicodeDecodeError as error:
            skip(Skipped(source, position, None, f"{NOT_UTF8} at byte {error.start} of a text"))
        else:
            yield position, records[0]


def _tells(kind: pa.DataType) -> bool:
    """Whether there may be a text in it, or an id."""
    if pa.types.is_struct(kind):
        return any(_tells(kind.field(at).type) for at in range(kind.num_fields))
    if pa.types.is_map(kind):
        return _tells(kind.item_type)
    if pa.types.is_dictionary(kind) or (pa.types.is_nested(kind) and hasattr(kind, "value_type")):
        return _tells(kind.value_type)
    return is_stringlike(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
