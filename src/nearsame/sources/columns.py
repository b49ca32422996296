"""Which columns a source is read for, and how their values become those of RECORDS.

1. Text: the named column, else `text`, else `content`, else the only string column (the id's and the
   order's excluded), else a ColumnError that lists the columns.
2. Ids of any scalar type become strings; items become strings, vectors float64; the order keeps its own type.
   What stands beside becomes strings, too; a source need not have it, and what is not a scalar there is null.
3. A text that is not UTF-8, a vector that holds something else than finite numbers, and a code of another length or
   form (codes.py) is skipped, never mended.
"""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import broken_at, not_utf8, numbers
from nearsame.errors import ColumnError
from nearsame.named import NamedTuple
from nearsame.schemas import BESIDE, CODES, ITEMS, ORDER, RECORDS, VECTORS
from nearsame.sources.base import BATCH_BYTES, NOT_UTF8, Columns, Skip, Skipped
from nearsame.sources.codes import Coding, code_lists
from nearsame.sources.limits import longest, why_too_long
from nearsame.sources.one_text import COLUMN, OF_TEXTS
from nearsame.sources.tables import without_removed_rows

__all__ = [
    "BATCH_ROWS",
    "CODE",
    "Chosen",
    "assemble",
    "bounded",
    "choose",
    "is_stringlike",
    "not_finite",
    "option_of",
    "pieces",
    "plain_values",
    "records",
    "strings",
    "why_not_utf8",
]

BATCH_ROWS = 65_536
CODE = "code"  # how the column is called, unless it is said
_CONTENT = 2  # behind position and id stands what a document is made of
_ITEMS_TYPE = ITEMS.field("items").type
_VECTOR_TYPE = VECTORS.field("vector").type
_NUMBER_BYTES = 8  # whatever they were


class Chosen(NamedTuple):
    """The columns of one source, by their names there; None: there is none, or it is not asked for."""

    text: str | None
    id: str | None
    order: tuple[str, ...] = ()
    items: str | None = None
    vectors: str | None = None
    beside: tuple[str, ...] = ()
    codes: Coding | None = None
    guessed: str | None = None  # the text, where nobody has named it

    @property
    def content(self) -> str | None:
        """What a document is made of."""
        return self.vectors or self.items or (self.codes and self.codes.name) or self.text

    def names(self) -> list[str]:
        """The distinct columns to read."""
        single = (self.content, self.id)
        return list(dict.fromkeys(name for name in (*single, *self.order, *self.beside) if name is not None))


def choose(columns: Columns, names: Sequence[str], strings: Collection[str], source: str) -> Chosen:
    """The columns of a source that has `names`, of which `strings` hold texts.

    Raises:
        ColumnError: A named column is missing or there twice, or the text cannot be guessed.
    """
    order = tuple(name for name in columns.order if name in names) if columns.may_lack else columns.order
    codes = columns.codes
    if codes == CODE and codes not in names and len(names) == 1:
        codes = names[0]  # the only one there is
    for option, name in (
        (option_of(columns, "text"), columns.text),
        ("--html-column", columns.html),
        (option_of(columns, "id"), columns.id),
        *(("--keep or --group-by", name) for name in order),
        ("--features-column", columns.items),
        ("--vector-column", columns.vectors),
        ("--codes-column", codes),
    ):
        if name is not None and names.count(name) != 1:
            problem = "has no column" if name not in names else "has more than one column"
            raise ColumnError(f"{source} {problem} {name!r}", hint=_hint(option, names))
    identity = columns.id or ("id" if names.count("id") == 1 else None)
    named = columns.text or columns.html
    guessed = None if columns.no_text or named else _guess(columns, names, strings, source)
    text = None if columns.no_text else named or guessed
    extras = tuple(name for name in columns.beside if names.count(name) == 1)
    coding = None if codes is None else Coding(codes, columns.bits, columns.decimal)
    return Chosen(text, identity, order, columns.items, columns.vectors, extras, coding, guessed)


def _guess(columns: Columns, names: Sequence[str], strings: Collection[str], source: str) -> str:
    for name in OF_TEXTS:
        if names.count(name) == 1:
            return name
        if name in names:
            hint = f"Rename all but one of them. {_hint(option_of(columns, 'text'), names)}"
            raise ColumnError(f"{source} has several columns named {name!r}", hint=hint)
    if list(names) == [CODE] and not strings:
        hint = "Give texts, records such as {'id': 'a', 'text': '…'}, or these with method=Codes() (--codes-column)."
        raise ColumnError(f"{source} holds numbers or bytes, and no texts", hint=hint)
    others = [name for name in strings if name not in {columns.id or "id", *columns.order}]
    if len(others) == 1 and names.count(others[0]) == 1:
        return others[0]
    problem = "several string columns" if others else "no string column"
    hint = _hint(option_of(columns, "text"), names)
    raise ColumnError(f"{source} has {problem} and none named 'text' or 'content'", hint=hint)


def option_of(columns: Columns, what: str) -> str:
    """What names the column of text or id: on the `against` side (`Columns.of_side`) that of this side alone."""
    of_against = columns.against_text if what == "text" else columns.against_id
    return f"--{what}-column" if of_against is None else f"--against-{what}-column"


def _hint(option: str, names: Sequence[str]) -> str:
    return f"Choose one of its columns with {option}: {', '.join(map(str, names)) or '(it has none)'}."


def _value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values, however they are encoded."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return kind.value_type
    return kind


def is_stringlike(kind: pa.DataType) -> bool:
    """Whether a column holds strings."""
    kind = _value_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def records(  # noqa: PLR0913, PLR0917  (what is read, from where, as what)
    batch: pa.RecordBatch,
    chosen: Chosen,
    places: npt.NDArray[np.int64],
    skip: Skip,
    source: str,
    columns: Columns,
) -> Iterator[pa.RecordBatch]:
    """A batch of any source's columns, whose rows have the positions `places`, as RECORDS in bounded batches."""
    start = 0
    for whole in pieces(batch, chosen):
        all_places = places[start : start + len(whole)]
        start += len(whole)
        piece, positions = _not_too_long(whole, chosen, all_places, skip, source, columns)
        column = {name: plain_values(piece.column(name)) for name in chosen.names()}
        texts = None if chosen.text is None else _texts(column[chosen.text], chosen.text, source, columns)
        option = option_of(columns, "id")
        ids = None if chosen.id is None else _ids(column[chosen.id], chosen.id, source, option)
        orders = {name: column[name] for name in chosen.order}
        items = None if chosen.items is None else _items(column[chosen.items], chosen.items, source)
        vectors = None if chosen.vectors is None else _vectors(column[chosen.vectors], chosen.vectors, source)
        codes, bad = None, dict[int, str]()
        if chosen.codes is not None:
            codes, bad = code_lists(column[chosen.codes.name], chosen.codes, source, is_first=0 in all_places[:1])
        extras = {name: strings(column[name]) for name in chosen.beside}
        record_batch = assemble(
            positions, ids, texts, orders=orders, items=items, vectors=vectors, codes=codes, beside=extras,
            guessed=chosen.guessed,
        )  # fmt: skip
        if bad := _not_utf8(texts) if texts is not None else not_finite(vectors) if vectors is not None else bad:
            for row, reason in bad.items():
                skip(Skipped(source, int(positions[row]), None, reason))
            record_batch = computing.filter_(
                record_batch, pa.array(np.isin(np.arange(len(record_batch)), list(bad), invert=True))
            )
        if len(record_batch):
            yield record_batch


def _not_too_long(  # noqa: PLR0913, PLR0917  (as above)
    piece: pa.RecordBatch,
    chosen: Chosen,
    positions: npt.NDArray[np.int64],
    skip: Skip,
    source: str,
    columns: Columns,
) -> tuple[pa.RecordBatch, npt.NDArray[np.int64]]:
    """The records that are not too long, and their positions; the others go to `skip`."""
    name = chosen.content
    sizes = np.zeros(len(piece), np.int64) if name is None else _lengths(piece.column(name))
    if sizes.max(initial=0) <= longest(columns):
        return piece, positions
    gone = np.flatnonzero(sizes > longest(columns))
    for row in gone.tolist():
        position = int(positions[row])
        skip(Skipped(source, position, None, why_too_long(int(sizes[row]), columns, f"{source}, record {position}")))
    table = without_removed_rows(pa.Table.from_batches([piece]), gone, 0).combine_chunks()
    return (table.to_batches() or [piece.slice(0, 0)])[0], np.delete(positions, gone)


def assemble(  # noqa: PLR0913  (a column each)
    positions: npt.NDArray[np.int64],
    ids: pa.Array | None,
    texts: pa.Array | None,
    *,
    orders: Mapping[str, pa.Array] | None = None,
    items: pa.Array | None = None,
    vectors: pa.Array | None = None,
    codes: pa.Array | None = None,
    beside: Mapping[str, pa.Array] | None = None,
    guessed: str | None = None,
) -> pa.RecordBatch:
    """A RECORDS batch from its columns; one that holds texts by a guess says which it was."""
    fields = [RECORDS.field("position"), RECORDS.field("id")]
    values = [numbers(positions), pa.nulls(len(positions), pa.string()) if ids is None else ids]
    content = (
        (VECTORS.field("vector"), vectors), (CODES.field("code"), codes), (ITEMS.field("items"), items),
        (RECORDS.field("text"), texts),
    )  # fmt: skip
    field, column = next((pair for pair in content if pair[1] is not None), content[-1])
    fields.append(field if guessed is None else field.with_metadata({COLUMN: guessed}))
    values.append(column)
    for mark, others in ((ORDER, orders or {}), (BESIDE, beside or {})):
        fields += [pa.field(name, column.type, metadata=mark) for name, column in others.items()]
        values += others.values()
    return pa.RecordBatch.from_arrays(values, schema=pa.schema(fields))


def pieces(batch: pa.RecordBatch, chosen: Chosen) -> Iterator[pa.RecordBatch]:
    """The batch in zero-copy slices of at most BATCH_ROWS rows and about BATCH_BYTES of text or numbers."""
    name = chosen.vectors or chosen.text
    return _slices(batch, None if name is None else batch.column(name))


def _slices(batch: pa.RecordBatch, content: pa.Array | None) -> Iterator[pa.RecordBatch]:
    if content is None:
        yield from (batch.slice(at, BATCH_ROWS) for at in range(0, len(batch), BATCH_ROWS))
        return
    ends = np.cumsum(_lengths(content))
    yield from (batch.slice(at, end - at) for at, end in _cuts(ends))


def bounded(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A RECORDS batch in slices of bounded rows and bytes."""
    content = batch.column(_CONTENT)  # by its place, as what stands beside may have its name
    return _slices(batch, content if batch.schema.names[_CONTENT] != "items" else None)


def _cuts(ends: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(ends):
        before = int(ends[at - 1]) if at else 0
        fits = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        end = min(max(fits, at + 1), at + BATCH_ROWS, len(ends))
        yield at, end
        at = end


def _lengths(column: pa.Array) -> npt.NDArray[np.int64]:
    if pa.types.is_dictionary(column.type):
        lengths = computing.take(pa.array(_lengths(column.dictionary)), column.indices)
    elif pa.types.is_run_end_encoded(column.type):
        return _lengths(computing.run_end_decode(column))
    elif is_stringlike(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        lengths = computing.binary_length(_castable(column))
    elif _is_list(column.type):
        lengths = computing.multiply(computing.cast(computing.list_value_length(column), pa.int64()), _NUMBER_BYTES)
    else:
        return np.zeros(len(column), np.int64)
    return np.asarray(computing.cast(computing.fill_null(lengths, 0), pa.int64()))


def _castable(column: pa.Array) -> pa.Array:
    """View types as plain ones: few kernels know them."""
    if pa.types.is_string_view(column.type):
        return computing.cast(column, pa.large_string())
    if pa.types.is_binary_view(column.type):
        return computing.cast(column, pa.large_binary())
    return column


def plain_values(column: pa.Array) -> pa.Array:
    """The values of a column without what encodes them, and of no type that few kernels know."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        return plain_values(column.dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return plain_values(computing.run_end_decode(column))
    return _castable(column)


def _texts(column: pa.Array, name: str, source: str, columns: Columns) -> pa.Array:
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return computing.cast(column, pa.large_binary()).view(pa.large_string())  # checked by `_not_utf8`
    if is_stringlike(kind):
        return computing.cast(column, pa.large_string())
    if column.null_count == len(column):  # of any type: a column without a value says nothing
        return pa.nulls(len(column), pa.large_string())
    message = f"{source}: column {name!r} is {kind}, not text"
    raise ColumnError(message, hint=f"Choose a string column with {option_of(columns, 'text')}.")


def _ids(column: pa.Array, name: str, source: str, option: str = "") -> pa.Array:
    kind = column.type
    if pa.types.is_nested(kind):
        raise ColumnError(f"{source}: column {name!r} is {kind}, not a scalar", hint=f"Choose another {option}.")
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    try:
        ids = (
            computing.cast(column, pa.large_binary()).view(pa.large_string())
            if is_bytes
            else computing.cast(column, pa.large_string())
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # intervals, a zone that nobody knows
        message = f"{source}: column {name!r} of type {kind} gives no ids: {str(error).partition(chr(10))[0]}"
        raise ColumnError(message, hint=f"Choose another {option}.") from None
    if not not_utf8(ids):
        return computing.cast(ids, pa.string())
    # bytes that may not be UTF-8: an id only has to be tellable from others
    values = (
        value and value.decode("utf-8", "backslashreplace")
        for value in computing.cast(column, pa.large_binary()).to_pylist()
    )
    return pa.array(list(values), pa.string())


def strings(column: pa.Array) -> pa.Array:
    """What is known besides the content, as strings that are UTF-8; what has none, as lists and records, is null."""
    with contextlib.suppress(ColumnError):
        return _ids(column, "", "")
    return pa.nulls(len(column), pa.string())


def _items(column: pa.Array, name: str, source: str) -> pa.Array:
    kind = column.type
    if pa.types.is_null(kind):  # documents without features, all of them
        return pa.nulls(len(column), _ITEMS_TYPE)
    value = _value_type(kind.value_type) if _is_list(kind) else None
    if value is None or not (is_stringlike(value) or pa.types.is_integer(value) or pa.types.is_null(value)):
        raise ColumnError(
            f"{source}: column {name!r} is {kind}, not a list of strings or integers",
            hint="Choose a list column with --features-column.",
        )
    items = _numbers(column, value) or computing.cast(column, _ITEMS_TYPE)
    if items.flatten().null_count:  # an item that is null says nothing about its document
        rows = items.to_pylist()
        return pa.array([row and [item for item in row if item is not None] for row in rows], _ITEMS_TYPE)
    return items


def _numbers(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Lists of whole numbers as lists of texts, where none is null."""
    if not pa.types.is_integer(kind) or kind == pa.uint64() or pa.types.is_fixed_size_list(column.type):
        return None
    if column.null_count or column.flatten().null_count:
        return None
    from nearsame.forms.decimals import spelt  # noqa: PLC0415  (where there are any)

    offsets = np.asarray(column.offsets).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets - offsets[0]), spelt(column.flatten()), type=_ITEMS_TYPE)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _vectors(column: pa.Array, name: str, source: str) -> pa.Array:
    kind = column.type
    value = kind.value_type if _is_list(kind) else pa.null()
    if not (pa.types.is_floating(value) or pa.types.is_integer(value)) and not pa.types.is_null(kind):
        raise ColumnError(
            f"{source}: column {name!r} is {kind}, not a list of numbers",
            hint="Choose a list column with --vector-column.",
        )
    return computing.cast(column, _VECTOR_TYPE, nearest=True)  # whole numbers beyond 2 ** 53 have none


def not_finite(vectors: pa.Array) -> dict[int, str]:
    """The rows of VECTORS that hold something else than finite numbers, with the reason."""
    numbers = vectors.flatten()
    values = computing.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False)
    if np.isfinite(values).all():
        return {}
    sizes = computing.fill_null(computing.list_value_length(vectors), 0).to_numpy()
    rows = np.repeat(np.arange(sizes.size), sizes)  # what Arrow calls the parents counts null rows in, too
    reasons: dict[int, str] = {}
    for at in np.flatnonzero(~np.isfinite(values)).tolist():
        place = at - int(np.searchsorted(rows, rows[at]))
        what = "null" if not numbers[at].is_valid else "NaN" if np.isnan(values[at]) else "infinity"
        reasons.setdefault(int(rows[at]), f"{what} at place {place} of the vector")
    return reasons


def _not_utf8(texts: pa.Array) -> dict[int, str]:
    """The rows whose bytes are not UTF-8, with the reason."""
    return {row: _broken(at) for row, at in not_utf8(texts).items()}


def why_not_utf8(value: bytes | None) -> str:
    """Why bytes are not a text, or nothing when they are."""
    at = broken_at(value)
    return "" if at is None else _broken(at)


def _broken(at: int) -> str:
    return f"{NOT_UTF8} at byte {at} of the text"
