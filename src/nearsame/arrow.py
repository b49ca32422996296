"""Arrow columns to read-only NumPy views and back: the only buffer arithmetic in the package.

1. A view honours the array's offset, so sliced batches are as good as whole ones.
2. Every view that leaves this file is read-only and contiguous: one kernel specialisation serves
   memory-mapped and owned buffers alike.
3. A null is an empty text: what may lie under it in the buffer (Arrow allows anything) is never seen.
4. `numbers` and `distinct` do what `pa.array` and `np.unique` do, which load NumPy's masked arrays to ask for them.
5. Hashes are int64 outside kernels; `unsigned` and `signed` reinterpret, never convert.
"""

import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.named import NamedTuple

__all__ = [
    "NO_HASHES",
    "Bytes",
    "Int32s",
    "Int64s",
    "Lists",
    "Mask",
    "Rows",
    "Strings",
    "UInt64s",
    "broken_at",
    "deeply",
    "distinct",
    "frozen",
    "held_bytes",
    "held_room",
    "ints",
    "items",
    "list_offsets",
    "lists",
    "not_utf8",
    "numbers",
    "packed",
    "room",
    "signed",
    "some_lists",
    "strings",
    "unsigned",
]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Rows = Int64s  # numbers of documents or records
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

NO_HASHES: UInt64s = np.zeros(0, np.uint64)
NO_HASHES.flags.writeable = False

_PADDING = 64  # bytes: as much as Arrow leaves behind its own buffers
_ITEM = pa.field("item", pa.int64(), nullable=False)
_T = TypeVar("_T", bound=np.generic)


class Strings(NamedTuple):
    """A column of texts as kernels read it: the bytes of row i are data[offsets[i]:offsets[i + 1]]."""

    data: Bytes
    offsets: Int64s  # one more than there are rows
    is_null: Mask


def frozen(array: "npt.NDArray[_T]") -> "npt.NDArray[_T]":
    """The same values, read-only and contiguous."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


class _Held(threading.local):
    """The room that a thread has once."""

    items = np.empty(0, np.uint64)


_HELD = _Held()
_MOST_HELD = 1 << 25  # numbers: twice the bytes of a batch


def room(most: int) -> UInt64s:
    """Room for so many numbers, which nobody else has."""
    return np.empty(most, np.uint64)


def held_room(most: int) -> UInt64s:
    """Room for so many, until the thread asks for some again: fresh memory is cleared by the system, page by page."""
    if most > _MOST_HELD:
        return room(most)
    if _HELD.items.size < most:
        _HELD.items = room(1 << (most - 1).bit_length())
    return _HELD.items


def unsigned(array: Int64s) -> UInt64s:
    """Hashes as kernels want them: the same bits as uint64."""
    return frozen(array.view(np.uint64))


def signed(array: UInt64s) -> Int64s:
    """Hashes as tables want them: the same bits as int64."""
    return frozen(array.view(np.int64))


def numbers(values: "npt.NDArray[Any]") -> pa.Array:
    """Numbers or truth values as a column, over the same memory where they are without gaps.

    Example:
        >>> numbers(np.array([True, False])).to_pylist()
        [True, False]
    """
    held = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(held)])


def distinct(values: "npt.NDArray[_T]") -> "npt.NDArray[_T]":
    """Each number once, ascending.

    Example:
        >>> distinct(np.array([2, 1, 2])).tolist()
        [1, 2]
    """
    ordered = np.sort(values)
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    return ordered.compress(is_first[: ordered.size])


def ints(column: pa.Array) -> Any:
    """A null-free column of int64 (or int32), viewed."""
    return frozen(column.to_numpy(zero_copy_only=True))


def strings(column: pa.Array) -> Strings:
    """A large_string or large_binary column, viewed; copied only if bytes lie under a null."""
    is_null = frozen(
        column.is_null().to_numpy(zero_copy_only=False) if column.null_count else np.zeros(len(column), np.bool_)
    )
    _, buffer, data = column.buffers()
    offsets = _values(buffer, np.int64, column.offset, len(column) + 1)
    if is_null.any() and np.diff(offsets)[is_null].any():
        return strings(column.fill_null(pa.scalar(b"", column.type)))._replace(is_null=is_null)
    return Strings(_values(data, np.uint8, 0, None), offsets, is_null)


def broken_at(text: bytes | None) -> int | None:
    """Where bytes cease to be UTF-8; None where they do not.

    Example:
        >>> broken_at(bytes([99, 233])), broken_at(b"cafe")
        (1, None)
    """
    try:
        (text or b"").decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def not_utf8(texts: pa.Array) -> dict[int, int]:
    """The rows of a column of strings whose bytes are not UTF-8, and where each ceases to be."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        kind = pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()
        places = ((row, broken_at(value.as_py())) for row, value in enumerate(texts.view(kind)))
        return {row: at for row, at in places if at is not None}
    return {}


def deeply(kind: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The type with what a change makes of each type that is no list and no record, however deep it stands.

    >>> deeply(pa.list_(pa.int8()), lambda _: pa.int64())
    ListType(list<item: int64>)
    """
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(deeply(kind.value_type, change)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(deeply(field.type, change)) for field in kind])
    return change(kind)


def packed(texts: Sequence[bytes]) -> Strings:
    """Some texts, as UTF-8, one after the other; behind them is room for a kernel to read past the last."""
    offsets, is_null = np.array([0, *accumulate(map(len, texts))], np.int64), np.zeros(len(texts), np.bool_)
    offsets.flags.writeable = is_null.flags.writeable = False
    data = np.frombuffer(b"".join((*texts, bytes(_PADDING))), np.uint8)
    return Strings(data[: data.size - _PADDING], offsets, is_null)


class Lists(NamedTuple):
    """A column of lists of hashes as kernels read it: row i is items[starts[i]:ends[i]]."""

    items: UInt64s
    starts: Int64s
    ends: Int64s

    @property
    def sizes(self) -> Int64s:
        """The number of items of each row."""
        return self.ends - self.starts


def lists(column: pa.Array) -> Lists:
    """A null-free large_list<int64> or large_list_view<int64> column, viewed."""
    hashes = unsigned(ints(column.values))
    if pa.types.is_large_list(column.type):
        offsets = list_offsets(column)
        return Lists(hashes, offsets[:-1], offsets[1:])
    starts = _values(column.buffers()[1], np.int64, column.offset, len(column))
    sizes = _values(column.buffers()[2], np.int64, column.offset, len(column))
    return Lists(hashes, starts, frozen(starts + sizes))


def list_offsets(column: pa.Array) -> Int64s:
    """The offsets of a large_list column: row i is column.values[offsets[i]:offsets[i + 1]]."""
    return _values(column.buffers()[1], np.int64, column.offset, len(column) + 1)


def items(values: UInt64s, offsets: Int64s) -> pa.Array:
    """The inverse of `lists`: a large_list<int64> column over the same memory."""
    kind = pa.large_list(_ITEM)
    return pa.LargeListArray.from_arrays(numbers(offsets), numbers(values.view(np.int64)), type=kind)


def some_lists(column: pa.Array, chosen: npt.NDArray[np.bool_]) -> pa.Array:
    """The chosen rows of a large_list<int64> column, as views into the same items: nothing is copied."""
    rows = lists(column)
    starts, sizes = numbers(rows.starts[chosen]), numbers(rows.sizes[chosen])
    return pa.LargeListViewArray.from_arrays(starts, sizes, column.values, type=pa.large_list_view(_ITEM))


def held_bytes(data: pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table) -> int:
    """What `nbytes` says; before pyarrow 24 that raised for list views, which count here with all that they look at."""
    try:
        return int(data.nbytes)
    except pa.ArrowTypeError:
        columns = getattr(data, "columns", None)
        return int(data.get_total_buffer_size()) if columns is None else sum(map(held_bytes, columns))


def _values(buffer: pa.Buffer | None, dtype: type[_T], start: int, count: int | None) -> "npt.NDArray[_T]":
    if buffer is None or buffer.size == 0:
        return frozen(np.zeros(count or 0, dtype))
    width = np.dtype(dtype).itemsize
    length = buffer.size // width - start if count is None else count
    return frozen(np.frombuffer(buffer, dtype, length, start * width))
