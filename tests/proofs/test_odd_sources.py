"""Outputs of odd sources hold as they were written."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns

A = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
EDITED = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda"


def _told(home: Path) -> list[str]:
    return [f"{problem.place}: {problem.what}" for problem in ns.verify(home).problems]


def _table(path: Path, table: pa.Table) -> str:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    return str(path)


def _written(home: Path, source: Any, **how: Any) -> list[str]:
    settings = {name: how.pop(name) for name in ("keep", "columns") if name in how}
    home.mkdir(exist_ok=True)
    ns.dedup(source, method=ns.Jaccard(threshold="0.5", shingle_size=2), **settings).write(home / "out", **how)
    return _told(home / "out")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_texts_in_columns_of_bytes_are_read_as_texts(tmp_path: Path, name: str, kind: pa.DataType) -> None:
    """Bytes that are no UTF-8 are passed over by the run."""
    texts = [A.encode(), EDITED.encode(), A.encode(), b"\xff", None]
    table = pa.table({"text": pa.array(texts, pa.binary()).cast(kind)})
    assert [] == _written(tmp_path, _table(tmp_path / name, table), pairs=True)


MOMENTS = {
    "seconds": pa.array([2**62, 2**62 + 1, 5], pa.timestamp("s")),
    "days": pa.array([2**31 - 1, 3, 4], pa.int32()).view(pa.date32()),
    "duration": pa.array([2**62, 2**62 + 1, 4], pa.int64()).view(pa.duration("s")),
    "odd zone": pa.array([1, 3, 2], pa.timestamp("ns", "Foo/Bar")),
    "nanoseconds": pa.array([1, 3, 2], pa.timestamp("ns")),
    "month of years": pa.array([[2**62], None, [3]], pa.list_(pa.timestamp("s"))),
    "record": pa.array([{"at": 2**62}, None, {"at": 1}], pa.struct([("at", pa.timestamp("s", "Foo/Bar"))])),
}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("kind", MOMENTS)
def test_moments_that_python_cannot_hold_are_compared_as_they_are_stored(tmp_path: Path, name: str, kind: str) -> None:
    """As an id, as an order, and as a column that nobody asks for."""
    if name == "a.parquet" and kind in ("seconds", "month of years", "record"):
        pytest.skip("Parquet has no seconds: such moments cannot be written")
    source = _table(tmp_path / name, pa.table({"when": MOMENTS[kind], "text": [A, EDITED, A]}))
    assert [] == _written(tmp_path / "plain", source)
    if not pa.types.is_nested(MOMENTS[kind].type):
        assert [] == _written(tmp_path / "ordered", source, keep="max:when", pairs=True)
        assert [] == _written(tmp_path / "least", source, keep="min:when", annotate=True)
