"""What a run holds is bounded, what does not fit goes to files, and nothing of it stays."""

import errno
import gc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.engines import space
from nearsame.engines.space import Space, num_bytes
from nearsame.errors import ConfigError, OutputError

LEAST = space._BASE_BYTES + space._THREAD_BYTES + int(space.GROWTH * space._BATCH_BYTES)


def roomy(budget: int, folder: Path | None = None) -> Space:
    """A space for one thread with so many bytes to give."""
    return Space(LEAST + budget, 1, folder)


def batch(start: int, size: int = 100) -> pa.RecordBatch:
    """Numbers, 8 bytes each."""
    return pa.record_batch({"row": np.arange(start, start + size)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("4096", 4096),
        (4096, 4096),
        ("1.5GB", 3 << 29),
        ("512 MiB", 512 << 20),
        ("1g", 1 << 30),
        (" 2 T ", 2 << 40),
        ("3kb", 3072),
        ("7B", 7),
    ],
)
def test_a_number_of_bytes_is_read_as_people_write_it(text, expected):
    """With a unit or without; units are powers of 1024."""
    assert expected == num_bytes(text)


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "4 G B", "4XB", "1e9", "4.GB", "٤GB x"])
def test_what_is_no_number_of_bytes_is_named(text):
    """The message shows what was given."""
    with pytest.raises(ConfigError, match="is not a number of bytes"):
        num_bytes(text)


@pytest.mark.parametrize("text", ["9" * 309, "9" * 5000, "1" + "0" * 308 + "T", "4194305T", "9" * 309 + ".5kb"])
def test_more_bytes_than_there_can_be_are_refused(text):
    """However many digits it takes to write them."""
    with pytest.raises(ConfigError, match="more bytes than any machine has"):
        num_bytes(text)


def test_memory_below_what_threads_need_names_both_numbers():
    """What was given, and what it takes."""
    with pytest.raises(ConfigError, match=f"memory=1,000 bytes is below the {LEAST:,} that it needs"):
        Space(1000, 1)


def test_half_of_what_is_free_is_the_default(monkeypatch):
    """Not all: others live here, too."""
    monkeypatch.setattr(space, "free_memory", lambda: 10 << 30)
    assert 5 << 30 == Space(None, 2).memory


@pytest.mark.parametrize(
    ("free", "memory"), [(3 * LEAST, 2 * LEAST), (2 * LEAST, LEAST * 3 // 2), (LEAST, LEAST), (0, LEAST)]
)
def test_where_little_is_free_it_is_more_than_half(monkeypatch, free, memory):
    """In a container nobody else lives; and nothing is refused for memory that nobody has bounded."""
    monkeypatch.setattr(space, "free_memory", lambda: free)
    assert memory == Space(None, 1).memory


def test_threads_that_nobody_has_asked_for_are_as_many_as_fit(monkeypatch):
    """One in any case; and who asks for more than fit is told, before there are any."""
    each = space.least_memory(2) - space.least_memory(1)
    for free, threads in ((100 * LEAST, 64), (4 * space.least_memory(5) // 3 + 4, 5), (LEAST, 1), (0, 1)):
        monkeypatch.setattr(space, "free_memory", lambda free=free: free)
        assert threads == space.fitting_threads(64)
        assert each * (threads - 1) + LEAST <= Space(None, threads).memory
    monkeypatch.setattr(space, "free_memory", lambda: 10 << 30)
    with pytest.raises(ConfigError, match="1000000 threads need"):
        Space(None, 1_000_000)


def test_documents_beyond_the_budget_are_an_error_with_the_numbers():
    """What is known of each cannot go to a file."""
    many = roomy(1000 * space._DOCUMENT_BYTES)
    many.number(space._FREE_DOCUMENTS + 1000)
    with pytest.raises(ConfigError, match=f"too little for more than {space._FREE_DOCUMENTS + 1000:,} documents"):
        many.number(1)


@given(st.lists(st.integers(0, 2000), max_size=20), st.integers(0, 4000))
def test_arrays_never_hold_more_than_the_budget(sizes, budget):
    """In memory or in files they are all as good as memory, and what is dropped is given back."""
    room = roomy(budget)
    arrays = [room.array(size, np.int64) for size in sizes]
    for number, array in enumerate(arrays):
        array[:] = number
    assert room.held_bytes <= budget
    assert sizes == [array.size for array in arrays]
    assert all((array == number).all() and type(array) is np.ndarray for number, array in enumerate(arrays))
    del arrays
    array = None
    assert 0 == room.held_bytes


def test_an_array_in_a_file_has_no_name(tmp_path):
    """Not even SIGKILL leaves it behind."""
    room = roomy(0, tmp_path)
    array = room.array(1000, np.int32)
    array[:] = 7
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (7000, 4000) == (int(array.sum()), room.spilled_bytes)


def test_a_view_keeps_its_array_counted():
    """The budget is free again when the last part of the array is gone."""
    room = roomy(1 << 20)
    part = room.array(1000, np.int64)[10:20]
    gc.collect()
    held = room.held_bytes
    del part
    gc.collect()
    assert (8000, 0) == (held, room.held_bytes)


@given(st.lists(st.integers(0, 300), max_size=12), st.integers(0, 8000), st.integers(1, 3000))
def test_a_shelf_gives_back_what_was_put(sizes, budget, chunk):
    """Whatever the budget and the size of files; any number of times, and the files go with the shelf."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "CHUNK_BYTES", chunk)
        room = roomy(budget)
        shelf = room.shelf()
        batches = [batch(1000 * number, size) for number, size in enumerate(sizes)]
        for each in batches:
            shelf.put(each)
        shelf.close()
        assert batches == list(shelf) == list(shelf)
        assert room.held_bytes <= budget // 2
        assert shelf.on_disk == (8 * sum(sizes) > budget // 2)
        files = list(shelf._files)
        del shelf
        assert (0, []) == (room.held_bytes, [path for path in files if path.exists()])


def test_batches_outlive_the_reading_of_their_file():
    """A batch is mapped as long as somebody has it."""
    shelf = roomy(0).shelf()
    shelf.put(batch(5))
    kept = list(shelf.close())
    del shelf
    gc.collect()
    assert [batch(5)] == kept


def test_the_folder_goes_with_the_space(tmp_path):
    """And it is made only when something spills."""
    room = roomy(0, tmp_path)
    before = list(tmp_path.iterdir())
    shelf = room.shelf()
    shelf.put(batch(0))
    during = len(list(tmp_path.iterdir()))
    del shelf, room
    gc.collect()
    assert ([], 1, []) == (before, during, list(tmp_path.iterdir()))


@pytest.mark.parametrize("what", ["array", "shelf"])
def test_a_full_disk_is_an_error_that_names_what_is_free(what, tmp_path, monkeypatch):
    """Not a signal later, when the array is written to."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    room = roomy(0, tmp_path)
    shelf = room.shelf()
    monkeypatch.setattr(space.os, "posix_fallocate", full)
    monkeypatch.setattr(space._Writer, "_write", full)
    with pytest.raises(OutputError, match=r"No space left on device \([\d,]+ bytes free\)") as told:
        room.array(10, np.int64) if what == "array" else shelf.put(batch(0))
    assert "--workdir" in told.value.hint


def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    """The same error, at the first thing that spills."""
    with pytest.raises(OutputError, match=r"absent: No such file or directory$"):
        roomy(0, tmp_path / "absent" / "deeper").array(10, np.int64)
