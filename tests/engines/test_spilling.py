"""What does not fit in memory is answered just the same."""

import gc

import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.engines import space
from nearsame.flow import steps

from .made import documents

METHODS = {
    "exact": ns.Jaccard(),
    "cosine": ns.Cosine(),
    "containment": ns.Containment(),
    "minhash": ns.MinHash(),
    "estimate": ns.MinHash(verify="estimate"),
    "simhash": ns.SimHash(),
    "modp": ns.ModP(),
    "digest": ns.Digest(),
}
TIGHT, TINY = 200_000, 20_000  # bytes to give, where the features have 400,000


@pytest.fixture
def budget(monkeypatch):
    """Sets how many bytes there are to give."""

    def set_budget(size):
        for name in ("_BASE_BYTES", "_THREAD_BYTES", "_BATCH_BYTES", "_DOCUMENT_BYTES"):
            monkeypatch.setattr(space, name, 0)
        monkeypatch.setattr(space, "CHUNK_BYTES", 30_000)
        return size

    return set_budget


def answers(method, **how):
    """All that a caller can ask for, apart from seconds; and how the room was used."""
    table = pa.table({"text": documents(400)})
    found = ns.dedup(table, method=method, batch_rows=50, **how)
    pairs = ns.pairs(table, method=method, batch_rows=50, **how)
    return (found.removals, found.clusters, pairs.table), found.stats.room


@pytest.mark.parametrize("size", [TIGHT, TINY])
@pytest.mark.parametrize("method", METHODS)
def test_a_tight_memory_changes_no_answer(method, size, budget):
    """Features, keys and large arrays in files."""
    expected, plain = answers(METHODS[method])
    actual, room = answers(METHODS[method], memory=budget(size))
    assert all(a.equals(b) for a, b in zip(expected, actual, strict=True))
    small = method in ("simhash", "digest")  # 20 KB of features
    assert ("memory", "memory" if small and size == TIGHT else "files") == (plain["features"], room["features"])


def test_a_count_table_that_does_not_fit_is_filled_in_passes(budget, monkeypatch):
    """And the run says so."""
    texts = documents(2000)
    expected = ns.pairs(texts)
    monkeypatch.setattr(ns.engines.local.Local, "table_bytes", 1 << 15)
    actual = ns.pairs(texts, memory=budget(TINY))
    assert expected.table.equals(actual.table)
    assert {"slots": 1 << 16, "slot_bits": 4, "passes": 2} == actual.stats.room["count_table"]


def test_what_spilled_is_gone_with_the_result(budget, tmp_path, monkeypatch):
    """A folder of its own in the system's folder for temporary files."""
    monkeypatch.setattr(space.tempfile, "tempdir", str(tmp_path))
    found = ns.dedup(documents(400), memory=budget(TINY), batch_rows=50)
    during = len(list(tmp_path.iterdir()))
    del found
    gc.collect()
    assert (1, []) == (during, list(tmp_path.iterdir()))


def test_what_spilled_is_gone_after_an_error(budget, tmp_path, monkeypatch):
    """Also when it comes in the midst of it."""

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(space.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(steps, "plan_counting", fail)
    with pytest.raises(KeyboardInterrupt):
        ns.dedup(documents(400), memory=budget(TINY), batch_rows=50)
    gc.collect()
    assert [] == list(tmp_path.iterdir())
