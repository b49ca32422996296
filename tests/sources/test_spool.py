"""Tables that come once: kept in memory, or in files that nobody has to take away."""

import errno
import gc
import os
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.errors import SourceError
from nearsame.sources import spool
from nearsame.sources.spool import spooled

_Usage = namedtuple("_Usage", "total used free")  # noqa: PYI024  (as shutil has it)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Hardly anything stays in memory; temporary files are made in a folder of the test."""
    monkeypatch.setattr(spool, "HELD_BYTES", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def _tables(count: int) -> Iterator[pa.Table]:
    for number in range(count):
        yield pa.table({"text": [f"text {number}"] * 10, "n": [number] * 10})


def test_what_is_spooled_is_what_came(small: Path) -> None:
    """In order, in memory or not, and no file is left in the folder."""
    expected = pa.concat_tables(_tables(50))
    assert expected.equals(spooled(_tables(50), "a generator").combine_chunks())
    assert [] == list(small.iterdir())


def test_what_is_spooled_does_not_stay_in_memory(small: Path) -> None:
    """Arrow's own memory does not grow with what comes."""
    gc.collect()
    before = pa.total_allocated_bytes()
    table = spooled((pa.table({"text": ["x" * 1000] * 100}) for _ in range(100)), "a generator")
    assert pa.total_allocated_bytes() - before < 1_000_000 < table.nbytes


def test_columns_widen_as_new_records_come(small: Path) -> None:
    """A null becomes a string, an integer a number, and a column that comes later is null before."""
    rows = [{"text": None, "n": 1}] * 20 + [{"text": "a", "n": 1.5}] * 20 + [{"text": "b", "m": "x"}] * 20
    tables = [pa.Table.from_pylist(rows[at : at + 10]) for at in range(0, 60, 10)]
    table = spooled(iter(tables), "a generator")
    assert [{"text": None, "n": None, "m": None} | row for row in rows] == table.to_pylist()


def test_a_column_that_changes_its_type_is_an_error(small: Path) -> None:
    """It names the types, and nothing is left."""
    tables = [pa.table({"n": ["a"] * 20}), pa.table({"n": [1] * 20})]
    with pytest.raises(SourceError, match="a column of a generator changes its type"):
        spooled(iter(tables), "a generator")
    assert [] == list(small.iterdir())


def test_what_has_no_end_is_stopped_by_the_disk(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of it stays free for others; the message says how far it came."""
    free = iter(range(spool.SPARE_BYTES + 500_000, 0, -100_000))
    monkeypatch.setattr(spool.shutil, "disk_usage", lambda place: _Usage(0, 0, next(free)))

    def endless() -> Iterator[str]:
        while True:
            yield "a rose is a rose"

    with pytest.raises(
        SourceError, match=r"a generator does not fit .* after [\d,]+ documents .* bytes free"
    ) as caught:
        ns.dedup(endless())
    assert "TMPDIR" in caught.value.hint
    assert [] == list(small.iterdir())


def test_a_full_disk_is_told_as_one(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may fill it meanwhile."""

    def full(self: object, table: pa.Table) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(spool._File, "write", full)
    with pytest.raises(SourceError, match="No space left on device"):
        spooled(_tables(50), "a generator")


def test_a_generator_that_fails_midway_leaves_nothing(small: Path) -> None:
    """The error says after how many elements, and has the cause."""

    def failing() -> Iterator[str]:
        yield from ["a rose is a rose"] * 25_000
        raise KeyError("nobody")

    with pytest.raises(SourceError, match="a generator raised KeyError after 25,000 elements: 'nobody'") as caught:
        ns.dedup(failing())
    assert isinstance(caught.value.__cause__, KeyError)
    assert [] == list(small.iterdir())
