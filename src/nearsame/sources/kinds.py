"""What can be given in place of a file: one table of kinds. The first row that fits is what a thing is.

1. A kind is recognised by the names of its classes: no library is imported for it.
2. Whatever comes is one Arrow table. What is read piece by piece, and only once, is spooled (spool.py).
3. A table of another library can be given back as one: some of its rows, by their numbers.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.arrow import Rows
from nearsame.errors import ConfigError, NearSameError, SourceError
from nearsame.named import NamedTuple
from nearsame.sources import conversions
from nearsame.sources.conversions import HINT
from nearsame.sources.elements import Form, described, table_of_elements
from nearsame.sources.spool import spooled
from nearsame.sources.tables import require_sound, without_views

__all__ = ["KINDS", "HeldTable", "Kind", "is_of", "require_distinct", "splits_of", "table_of", "taken"]

_MATRIX = 2  # dimensions
_COLUMN = "Give the column one type that Arrow has, as by astype(str), or leave it out."
_BY_ITSELF = "That is what it raised when it was read: mend it, or read it by itself to see where that comes from."
_OF_PYTHON = ". Detail: Python exception"  # which Arrow adds where it has called some
_PIECE_ROWS = 10_000
_PIECE_CHARS = 16 << 20


class Kind(NamedTuple):
    """A kind of things that hold documents.

    Attributes:
        name: What docs call it.
        fits: Whether a thing is one.
        table: Its documents.
        pick: Some of its rows as the same kind; None: an Arrow table takes its place.
        hold: What stays as it is, whatever becomes of the thing.
    """

    name: str
    fits: Callable[[Any], bool]
    table: Callable[[Any], pa.Table]
    pick: Callable[[Any, Rows], Any] | None = None
    hold: Callable[[Any], Any] = lambda thing: thing


class HeldTable(NamedTuple):
    """Documents in memory, and what gives some of them back as what they were."""

    table: pa.Table
    pick: Callable[[Rows], Any] | None


def taken(thing: Any) -> HeldTable:
    """The documents of what is in memory, or comes out of it.

    Raises:
        SourceError: Nothing can be made of it.
    """
    try:
        kind = _kind_of(thing)
        table = kind.table(thing)
        require_sound(table, described(thing))
        return HeldTable(without_views(table), kind.pick and partial(kind.pick, kind.hold(thing)))
    except UnicodeEncodeError as error:
        message = f"{described(thing)} has half of a surrogate pair, {error.object[error.start]!a}"
        raise SourceError(message, hint="Fix the text, or the name of a column, that has it.") from error
    except NearSameError:
        raise
    except Exception as error:  # whatever the library of a foreign object raises
        said = "; ".join(map(str, error.args)) or str(error)  # Arrow says in a second one which column it is
        reason = said.partition("\n")[0].partition(_OF_PYTHON)[0]
        message = f"documents cannot be read from {described(thing)}: {reason}"
        is_type = isinstance(error, pa.ArrowException | TypeError) and "column" in said
        raise SourceError(message, hint=_COLUMN if is_type else _BY_ITSELF) from error


def table_of(thing: Any) -> pa.Table:
    """The same, of what nothing is to be given back.

    Raises:
        SourceError: Nothing can be made of it.
    """
    return taken(thing).table


def splits_of(thing: Any) -> Mapping[str, Any] | None:
    """The splits of a data set that has several, by their names; None for anything else."""
    return thing if is_of("datasets", "DatasetDict", "IterableDatasetDict")(thing) else None


def _kind_of(thing: Any) -> Kind:
    for kind in KINDS:
        if kind.fits(thing):
            return kind
    hint = next((hint for fits, hint in _NEAREST if fits(thing)), HINT)
    raise SourceError(f"documents cannot be read from {described(thing)}", hint=hint)


def is_of(package: str, *names: str) -> Callable[[Any], bool]:
    """What recognises the things of a package by the names of their classes."""

    def fits(thing: Any) -> bool:
        return any(
            cls.__name__ in names and cls.__module__.partition(".")[0].lstrip("_") == package
            for cls in type(thing).__mro__
        )

    return fits


def _array(*, dimensions: int, kinds: str) -> Callable[[Any], bool]:
    return lambda thing: isinstance(thing, np.ndarray) and thing.ndim == dimensions and thing.dtype.kind in kinds


def _is(*classes: type) -> Callable[[Any], bool]:
    return lambda thing: isinstance(thing, classes)


def _has(name: str) -> Callable[[Any], bool]:
    return lambda thing: hasattr(thing, name)


def _is_iterable(thing: Any) -> bool:
    """Whether it gives elements that are documents: what has columns or keys gives their names."""
    names = any(hasattr(thing, name) for name in ("columns", "keys"))
    return hasattr(thing, "__iter__") and not names and not any(fits(thing) for fits, _ in _NEAREST)


def _is_table(thing: Any) -> bool:
    return any(kind.fits(thing) for kind in _TABLES)


def _rows(thing: Any, rows: Rows) -> Any:
    return thing[rows]


def _clone(thing: Any) -> Any:
    return thing.clone()


def _rows_of_pandas(thing: Any, rows: Rows) -> Any:
    return thing.iloc[rows]


def _frozen_pandas(thing: Any) -> Any:
    return thing.copy(deep=False)


def _selected(dataset: Any, rows: Rows) -> Any:
    return dataset.select(rows)


def require_distinct(sources: Iterable[Any]) -> None:
    """Refuse standard input, or an iterator, that is named twice.

    Raises:
        ConfigError: Standard input is.
        SourceError: An iterator is.
    """
    iterators: dict[int, Any] = {}
    has_stdin = False
    for source in sources:
        if isinstance(source, str) and source == "-":
            if has_stdin:
                message = "- is named twice, and standard input can be read only once"
                raise ConfigError(message, hint="Name a file for one of them.")
            has_stdin = True
        elif isinstance(source, Iterator):
            if id(source) in iterators:
                message = f"{described(source)} is named twice, and can be read only once"
                raise SourceError(message, hint="Make a list of it, or name it once.")
            iterators[id(source)] = source


def _elements(elements: Iterable[Any]) -> pa.Table:
    """Texts, records or pairs; or tables, whose rows follow each other."""
    what = described(elements)
    coming = _told(elements, what)
    start = list(islice(coming, 1))
    coming = chain(start, coming)
    if start and _is_table(start[0]):
        return spooled(map(table_of, coming), what)
    if isinstance(elements, (list, tuple)):
        return table_of_elements(elements)[0]
    return spooled(_pieces(coming), what)


def _streamed(dataset: Any) -> pa.Table:
    """What comes of a data set; of one that does not know its types, record by record."""
    return _elements(dataset) if dataset.features is None else conversions.of_streamed_dataset(dataset)


def _told(elements: Iterable[Any], what: str) -> Iterator[Any]:
    """The elements; what goes wrong on the way to one is reported with its number."""
    count = 0
    iterator = iter(elements)
    while True:
        try:
            element = next(iterator)
        except StopIteration:
            return
        except Exception as error:  # whatever the caller's code raises
            message = f"{what} raised {type(error).__name__} after {count:,} elements: {error}"
            raise SourceError(message, hint="Fix what yields the documents.") from error
        yield element
        count += 1


def _pieces(elements: Iterator[Any]) -> Iterator[pa.Table]:
    """Elements as tables of bounded length and size."""
    form: Form = ""
    count = 0
    for piece in _cut(elements):
        table, form = table_of_elements(piece, form, count)
        count += len(piece)
        yield table
    if not count:
        yield table_of_elements([])[0]


def _cut(elements: Iterator[Any]) -> Iterator[list[Any]]:
    piece: list[Any] = []
    size = 0
    for element in elements:
        piece.append(element)
        size += _num_chars(element)
        if len(piece) >= _PIECE_ROWS or size >= _PIECE_CHARS:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _num_chars(element: Any) -> int:
    if isinstance(element, (str, bytes, bytearray)):
        return len(element)
    values = element.values() if isinstance(element, Mapping) else element if isinstance(element, tuple) else ()
    return sum(len(value) for value in values if isinstance(value, (str, bytes, bytearray)))


_TABLES = (
    Kind("Arrow table", _is(pa.Table), lambda thing: thing),
    Kind("Arrow record batch", _is(pa.RecordBatch), lambda thing: pa.Table.from_batches([thing])),
    Kind("Arrow RecordBatchReader", _is(pa.RecordBatchReader), conversions.of_reader),
    Kind("pyarrow.dataset", is_of("pyarrow", "Dataset", "Scanner"), conversions.of_arrow_dataset),
    Kind("pandas DataFrame", is_of("pandas", "DataFrame"), conversions.of_pandas, _rows_of_pandas, _frozen_pandas),
    Kind("polars DataFrame", is_of("polars", "DataFrame"), conversions.of_stream, _rows, _clone),
    Kind("polars LazyFrame", is_of("polars", "LazyFrame"), conversions.of_lazy_frame),
    Kind("DuckDB relation", is_of("duckdb", "DuckDBPyRelation"), conversions.of_relation),
    Kind("Delta Lake table", is_of("deltalake", "DeltaTable"), conversions.of_delta_table),
    Kind("Iceberg table", is_of("pyiceberg", "Table", "DataScan"), conversions.of_iceberg_table),
    Kind("Hugging Face Dataset", is_of("datasets", "Dataset"), conversions.of_dataset, _selected),
    Kind("Hugging Face IterableDataset", is_of("datasets", "IterableDataset"), _streamed),
)

KINDS = (
    *_TABLES,
    Kind("pandas Series", is_of("pandas", "Series"), conversions.of_pandas, _rows_of_pandas, _frozen_pandas),
    Kind("polars Series", is_of("polars", "Series"), conversions.of_stream, _rows, _clone),
    Kind("anything else with `__arrow_c_stream__`", _has("__arrow_c_stream__"), conversions.of_stream),
    Kind("anything else with `__arrow_c_array__`", _has("__arrow_c_array__"), conversions.of_array),
    Kind("NumPy array of texts", _array(dimensions=1, kinds="OUST"), lambda array: _elements(array.tolist())),
    Kind("NumPy array of codes", _array(dimensions=1, kinds="iu"), conversions.of_numbers),
    Kind("NumPy matrix of numbers", _array(dimensions=_MATRIX, kinds="fiu"), conversions.of_matrix),
    Kind("dict", _is(Mapping), conversions.of_mapping),
    Kind("list", _is(list, tuple), _elements),
    Kind("iterator", _is_iterable, _elements),
)

_NEAREST: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_is(bytes, bytearray, memoryview), "Decode it, and give the texts as a list."),
    (_is(str, PathLike), "Give paths as sources of their own: in a tuple."),
    (_has("readline"), "Give its path; or where each line is a document, the list of its lines."),
    (_is(set, frozenset), "Sort it into a list, as in sorted(texts): a set has another order in each process."),
    (_is(np.ndarray), "Give an array of texts with one dimension, or of numbers with two."),
    (is_of("pyspark", "DataFrame"), "Give engine=nearsame.Spark(session), too; or its toPandas()."),
    (is_of("dask", "DataFrame", "Series", "Bag"), "Compute it first: documents.compute()."),
    (is_of("duckdb", "DuckDBPyConnection"), 'Give a relation: connection.sql("select …").'),
    (_has("__aiter__"), "Collect it first: [text async for text in it]."),
    (inspect.isroutine, "Call it, and give what it returns."),
)
