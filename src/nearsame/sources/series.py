"""A column of values as it is given, and another of the same kind back: Arrow, polars, pandas, NumPy, lists.

1. No library is imported for it: what comes back is made by the class of what was given.
2. A text by itself is no column: it is the one value.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.sources.base import Columns
from nearsame.sources.elements import described
from nearsame.sources.kinds import is_of
from nearsame.sources.memory import in_memory

__all__ = ["as_given", "is_column", "text_batches", "values_of"]

_ALL = 1 << 62  # bytes: a text of any length is read
_IS_LAZY = is_of("polars", "LazyFrame")  # which warns when it is asked for its columns
_IS_PANDAS, _IS_POLARS = is_of("pandas", "Series", "Index"), is_of("polars", "Series")
_HINT = "Give one value, a list of values, or one column of Arrow, polars, pandas or NumPy."


def is_column(thing: Any) -> bool:
    """Whether it holds many values.

    Raises:
        SourceError: It is neither one text (or number, or null) nor a column of them.
    """
    if thing is None or isinstance(thing, (str, int, np.integer)):
        return False
    is_table = isinstance(thing, (Mapping, pa.Table, pa.RecordBatch)) or _IS_LAZY(thing) or hasattr(thing, "columns")
    if is_table or not (hasattr(thing, "__iter__") or hasattr(thing, "__arrow_c_array__")):
        raise SourceError(f"{described(thing)} is not a column of values", hint=_HINT)
    if isinstance(thing, (bytes, bytearray, memoryview, AbstractSet, Iterator)):
        raise SourceError(f"{described(thing)} is not a column of values", hint=_HINT)
    return True


def text_batches(thing: Any) -> Iterator[pa.Array]:
    """The texts of a column, as large_string, in bounded pieces.

    Raises:
        SourceError: Something in it is not a text.
    """
    (part,) = in_memory(thing, None, strict=True)
    for batch in part.read(Columns(max_record=_ALL), lambda _: None):
        yield batch.column("text")


def values_of(thing: Any) -> pa.Array:
    """The values of a column, whatever they are.

    Raises:
        SourceError: They are not of one type.
    """
    try:
        is_stream = hasattr(thing, "__arrow_c_stream__")
        values = pa.chunked_array(thing) if is_stream else pa.array(thing)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        message = f"{described(thing)} is not a column of one type: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint="Give values of one type.") from None
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def as_given(thing: Any, values: pa.ChunkedArray) -> Any:
    """Values as a column of the kind that was given; of nothing known as an Arrow array."""
    if isinstance(thing, pa.ChunkedArray):
        return values
    array = values.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no chunk, in older versions
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], values.type)
    if isinstance(thing, (list, tuple)):
        return array.to_pylist()
    if _IS_POLARS(thing):
        return type(thing)(thing.name, array)
    if _IS_PANDAS(thing):
        index = {"index": thing.index} if hasattr(thing, "index") else {}
        return type(thing)(array.to_pylist(), name=thing.name, dtype=_pandas_type(array), **index)
    return _numpy(array) if isinstance(thing, np.ndarray) else array


def _pandas_type(array: pa.Array) -> str:
    """One that holds whole numbers exactly, with nulls among them or not."""
    name = str(array.type).replace("double", "float64")
    if pa.types.is_integer(array.type) and array.null_count:
        return name.replace("int", "Int").replace("uI", "UI")
    return name if pa.types.is_integer(array.type) or pa.types.is_floating(array.type) else "object"


def _numpy(array: pa.Array) -> Any:
    """Numbers as such, lists of one length as rows; with nulls, or of several lengths, an array of objects."""
    if pa.types.is_large_list(array.type) and not array.null_count and len(array):
        sizes = np.diff(array.offsets.to_numpy())
        if (sizes == sizes[0]).all() and pa.types.is_integer(array.type.value_type):
            return array.flatten().to_numpy().reshape(len(array), -1)
    is_number = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if is_number and not array.null_count:
        return array.to_numpy(zero_copy_only=False)
    values = np.empty(len(array), object)
    values[:] = array.to_pylist()
    return values
