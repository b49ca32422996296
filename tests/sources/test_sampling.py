"""Samples are repeatable, in order, of the size asked for, and fair."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import DocumentSample, sample


def drawn(num: int, most: int | None, *, batch_rows: int | None = None, seed: int = 0) -> DocumentSample:
    """A sample of `num` documents called d0, d1 and so on."""
    table = pa.table({"id": [f"d{i}" for i in range(num)], "text": pa.array([f"text {i}" for i in range(num)])})
    reading = Reading(open_parts([table], columns=Columns()), Columns(), batch_rows=batch_rows)
    return sample(reading, most, seed=seed)


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([1, 7, 1000]), st.integers(0, 5))
def test_a_sample_depends_on_the_seed_and_not_on_batches(num, most, batch_rows, seed):
    """As many documents as asked for, or all of them, in the order of reading, each with its text."""
    found = drawn(num, most, batch_rows=batch_rows, seed=seed)
    numbers = [int(name[1:]) for name in found.table.column("id").to_pylist()]
    assert (min(num, most), num) == (len(numbers), found.num_documents)
    assert sorted(numbers) == numbers
    assert [f"text {i}" for i in numbers] == found.table.column("text").to_pylist()
    assert found.table == drawn(num, most, seed=seed).table
    assert (most >= num) == found.is_whole


def test_all_documents_are_drawn_alike():
    """Of ten, each one about as often as any other, over many seeds."""
    times = Counter(
        name for seed in range(400) for name in drawn(10, 3, batch_rows=4, seed=seed).table["id"].to_pylist()
    )
    assert [f"d{i}" for i in range(10)] == sorted(times)
    assert all(120 == pytest.approx(count, abs=40) for count in times.values())


def test_a_sample_of_all_is_the_source():
    """None leaves nothing out; documents without an id are called by their place."""
    reading = Reading(open_parts([["a", "b"]], columns=Columns()), Columns())
    assert {"id": ["memory:0", "memory:1"], "text": ["a", "b"]} == sample(reading, None).table.to_pydict()


def test_a_source_without_documents_gives_an_empty_sample():
    """Nothing is nothing."""
    assert 0 == len(drawn(0, 5).table)
