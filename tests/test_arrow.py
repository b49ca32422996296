"""Views of Arrow columns: the values and nothing else, of whole columns and of slices, and nobody writes to them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow

HASHES = st.integers(0, 2**64 - 1)
ROWS = st.lists(st.lists(HASHES, max_size=4), max_size=8)


def _cut(data, size):
    return sorted(data.draw(st.integers(0, size)) for _ in range(2))


def _column(rows):
    items = np.array([item for row in rows for item in row], np.uint64)
    return arrow.items(items, np.cumsum([0, *map(len, rows)]))


def _is_safe(*arrays):
    return all(array.flags.c_contiguous and not array.flags.writeable for array in arrays)


@given(
    st.lists(st.none() | st.text(max_size=9), max_size=8), st.sampled_from(["large_string", "large_binary"]), st.data()
)
def test_strings_are_the_bytes_of_each_row(texts, kind, data):
    """Of any slice; a null is empty, and said to be one."""
    low, high = _cut(data, len(texts))
    values = [text if text is None or kind == "large_string" else text.encode() for text in texts]
    found = arrow.strings(pa.array(values, getattr(pa, kind)()).slice(low, high - low))
    cut = [found.data[a:b].tobytes().decode() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    assert [text or "" for text in texts[low:high]] == cut
    assert [text is None for text in texts[low:high]] == found.is_null.tolist()
    assert _is_safe(*found)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.large_binary()])
def test_bytes_under_a_null_are_not_seen(kind):
    """Arrow does not say what lies there; the nulls stay nulls."""
    _, offsets, data = pa.array(["abc", "de", "f"], kind).buffers()
    column = pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\x05"), offsets, data])
    for start, expected in ((0, [b"abc", b"", b"f"]), (1, [b"", b"f"])):
        found = arrow.strings(column.slice(start))
        assert expected == [
            found.data[a:b].tobytes() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)
        ]
        assert [not value for value in expected] == found.is_null.tolist()
        assert _is_safe(*found)


@given(ROWS, st.data())
def test_lists_are_the_items_of_each_row(rows, data):
    """Of any slice of a list column, and of any choice from one, which copies nothing."""
    low, high = _cut(data, len(rows))
    column = _column(rows).slice(low, high - low)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=high - low, max_size=high - low)), np.bool_)
    narrowed = arrow.some_lists(column, chosen)
    kept = [row for row, keep in zip(rows[low:high], chosen, strict=True) if keep]
    first = data.draw(st.integers(0, len(kept)))
    for view, expected in ((column, rows[low:high]), (narrowed, kept), (narrowed.slice(first), kept[first:])):
        found = arrow.lists(view)
        assert expected == [found.items[a:b].tolist() for a, b in zip(found.starts, found.ends, strict=True)]
        assert [len(row) for row in expected] == found.sizes.tolist()
        assert _is_safe(*found)
    assert not arrow.lists(narrowed).items.size or np.shares_memory(
        arrow.lists(column).items, arrow.lists(narrowed).items
    )


@given(ROWS, st.data())
def test_list_offsets_count_from_the_whole_column(rows, data):
    """A slice has those of its rows, into values that are not sliced."""
    low, high = _cut(data, len(rows))
    column = _column(rows)
    ends = np.cumsum([0, *map(len, rows)]).tolist()
    assert ends[low : high + 1] == arrow.list_offsets(column.slice(low, high - low)).tolist()


@given(ROWS)
def test_items_are_the_inverse_of_lists(rows):
    """Hashes of the upper half are negative in tables, and the same again in kernels."""
    column = _column(rows)
    found = arrow.lists(column)
    assert column.equals(arrow.items(found.items, np.append(found.starts, found.ends[-1:] if rows else [0])))
    assert column.to_pylist() == [[h - 2**64 * (h >> 63) for h in row] for row in rows]


def test_items_take_over_the_memory():
    """No copy is made of what a kernel has filled."""
    items = np.arange(1000, dtype=np.uint64)
    assert np.shares_memory(items, arrow.lists(arrow.items(items, np.array([0, 1000]))).items)


@given(st.lists(HASHES, max_size=9))
def test_signed_and_unsigned_are_the_same_bits(hashes):
    """There and back."""
    values = np.array(hashes, np.uint64)
    assert hashes == arrow.unsigned(arrow.signed(values)).tolist()
    assert _is_safe(arrow.signed(values), arrow.unsigned(values.view(np.int64)))
    assert np.shares_memory(values, arrow.signed(values)) or not hashes


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=9), st.sampled_from([pa.int32(), pa.int64()]), st.data())
def test_ints_are_viewed(values, kind, data):
    """Of a slice too; nulls have no number, so they are refused."""
    low, high = _cut(data, len(values))
    found = arrow.ints(pa.array(values, kind).slice(low, high - low))
    assert values[low:high] == found.tolist()
    assert _is_safe(found)
    with pytest.raises(pa.ArrowInvalid):
        arrow.ints(pa.array([1, None]))


@pytest.mark.parametrize("size", [0, 1])
def test_columns_without_rows_or_bytes_have_views(size):
    """Their buffers may be missing altogether."""
    texts = pa.nulls(size, pa.large_string())
    assert [True] * size == arrow.strings(texts).is_null.tolist()
    assert [0] * (size + 1) == arrow.strings(texts).offsets.tolist()
    assert [] == arrow.lists(_column([[]] * size)).items.tolist()
    assert [0] == arrow.strings(pa.array([], pa.large_string())).offsets.tolist()


def test_frozen_leaves_its_argument_as_it_is():
    """A view is read-only, the array that it views is not; what is not contiguous is copied."""
    array = np.arange(6)
    assert _is_safe(arrow.frozen(array), arrow.frozen(array[::2]))
    array[0] = 9
    assert 9 == arrow.frozen(array)[0]
    assert array.flags.writeable


def test_the_size_of_list_views_is_known_whatever_the_version():
    """Before pyarrow 24 their `nbytes` raised; other columns beside them count as always."""
    column = arrow.items(arrow.frozen(np.arange(6, dtype=np.uint64)), arrow.frozen(np.array([0, 2, 6])))
    views = arrow.some_lists(column, np.array([True, True]))
    texts = pa.array(["a", "bc"], pa.large_string())
    batch = pa.record_batch([views, texts], ["items", "text"])
    assert 6 * 8 <= arrow.held_bytes(views) == arrow.held_bytes(batch) - texts.nbytes
    assert arrow.held_bytes(batch) == arrow.held_bytes(pa.table(batch))


@given(st.lists(st.integers(-3, 3)), st.sampled_from(["int64", "uint8", "float64"]))
def test_distinct_numbers_are_those_of_numpy(values, kind):
    """Of each kind, none included."""
    numbers = np.array(values, float).astype(kind)
    assert np.unique(numbers).tolist() == arrow.distinct(numbers).tolist()
    assert kind == arrow.distinct(numbers).dtype


@given(
    st.lists(st.integers(0, 1), max_size=20), st.sampled_from(["bool", "int32", "uint64", "float64"]), st.integers(1, 3)
)
def test_numbers_are_the_columns_that_arrow_makes_of_them(values, kind, step):
    """Also of arrays with gaps, and of those that may not be written to."""
    numbers = np.array(values, kind)[::step]
    numbers.flags.writeable = False
    assert pa.array(numbers).equals(arrow.numbers(numbers))
