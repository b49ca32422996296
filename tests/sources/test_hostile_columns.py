"""Columns of any type, in any place, whole or not: a run works, or says which column of which source is the matter."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ColumnError, NearSameError, OutputError, SourceError

from .damaging import write_encrypted

TEXTS = ["a rose is a rose is a rose", "A rose is a rose is a rose.", "a daisy"]
_TWO = pa.array([1, 2])
COLUMNS: dict[str, pa.Array] = {
    "struct": pa.array([{"a": 1}, {"a": 2}, None]),
    "list": pa.array([[1], [2], None]),
    "fixed list": pa.array([[1, 2], [2, 3], None], pa.list_(pa.int64(), 2)),
    "list view": pa.array([[1, 2], [2, 3], None], pa.list_view(pa.int64())),
    "map": pa.array([[("a", 1)], [("b", 2)], None], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([b"a", b"b\xff", None]),
    "fixed binary": pa.array([b"ab", b"bc", None], pa.binary(2)),
    "string view": pa.array(["a", "b", None], pa.string_view()),
    "binary view": pa.array([b"a", b"b\xff", None], pa.binary_view()),
    "dictionary": pa.array(["a", "b", None]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2, None]).dictionary_encode(),
    "dictionary of structs": pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([{"a": 1}, {"a": 2}])),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array([1, 2, None])),
    "runs of texts": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["a", "b", None])),
    "decimal": pa.array([Decimal("1.2"), Decimal(3), None], pa.decimal256(76, 70)),
    "duration": pa.array([1, 2, None], pa.duration("s")),
    "interval": pa.array([(1, 2, 3), (2, 3, 4), None], pa.month_day_nano_interval()),
    "null": pa.nulls(3),
    "boolean": pa.array([True, False, None]),
    "half": pa.array([1, 2, None], pa.float16()),
    "not a number": pa.array([float("nan"), 2, None]),
    "unsigned": pa.array([1, 2**64 - 1, None], pa.uint64()),
    "date": pa.array([1, 2, None], pa.date32()),
    "time": pa.array([1, 2, None], pa.time32("s")),
    "moment": pa.array([2**62, 2, None], pa.timestamp("ns")),
    "unknown zone": pa.array([1, 2, None], pa.timestamp("s", "Nowhere/None")),
    "sparse union": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(TEXTS)]),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [_TWO, pa.array(["a"])]
    ),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16, None], pa.binary(16))),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "2", None])),
}
USES: dict[str, dict[str, Any]] = {
    "keep": {"keep": "max:c"},
    "newest": {"keep": "newest:c"},
    "order": {"order_column": "c"},
    "text": {"text_column": "c"},
    "id": {"id_column": "c"},
    "url": {"url_column": "c"},
    "features": {"features_column": "c"},
    "vectors": {"vector_column": "c", "method": "hyperplane"},
    "pages": {"html_column": "c"},
}

_NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001  (it is about times without a zone)


def _in_a_file(table: pa.Table, path: Path) -> str:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write(table)
    return str(path)


def test_columns_of_all_types_are_carried_along(tmp_path: Path) -> None:
    """In the output of a file all stay as they were; in that of a table, as far as Parquet has their type."""
    table = pa.table({"text": TEXTS, **COLUMNS})
    found = ns.dedup(_in_a_file(table, tmp_path / "a.arrow"), threads=1)
    assert (1, 2, 1) == (found.stats.removed, found.kept().num_rows, found.removed().num_rows)
    found.write(tmp_path / "out")
    with pa.ipc.open_file(tmp_path / "out/kept/a.arrow") as written:
        kept = written.read_all()
    assert table.schema.equals(kept.schema)
    for name in COLUMNS:
        sides = zip((table[name][0], table[name][2]), kept[name], strict=True)
        assert all(one.equals(other) or str(one) == str(other) for one, other in sides), name  # a NaN is not itself
    refused = [name for name in COLUMNS if not _is_written(table.select(["text", name]), tmp_path / name)]
    assert ["dictionary of structs", "runs", "runs of texts", "interval", "sparse union", "dense union"] == refused


def _is_written(table: pa.Table, folder: Path) -> bool:
    try:
        ns.dedup(table).write(folder)
    except OutputError as error:
        assert f"column {table.column_names[1]!r} is " in error.message  # noqa: PT017  (what it is when it is)
        assert not folder.exists()
        return False
    return True


@pytest.mark.parametrize("use", USES)
def test_a_column_of_any_type_works_or_is_refused_by_us(tmp_path: Path, use: str) -> None:
    """In memory and in a file, with its tables; where its values stand in the output, with that."""
    answered = 0
    for name, column in COLUMNS.items():
        table = pa.table({"text": TEXTS, "c": column})
        for source in (table, _in_a_file(table, tmp_path / "a.arrow")):
            try:
                found = ns.dedup(source, **USES[use], threads=1)
            except NearSameError as error:
                assert error.message, name  # noqa: PT017  (others are fine without an error)
                continue
            answered += 1
            assert (found.stats.kept, found.stats.removed) == (found.kept().num_rows, found.removed().num_rows), name
            if use == "id" and isinstance(source, str):
                found.write(tmp_path / "out", overwrite=True)
    assert answered


@pytest.mark.parametrize("value", ['{"a": 1}', "[1]"])
def test_json_objects_have_no_order(tmp_path: Path, value: str) -> None:
    """As a struct of Parquet has none."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "a", "c": {value}}}\n' * 2)
    with pytest.raises(ColumnError, match="'c' is of lists or objects, which have no order"):
        ns.dedup(str(path), keep="max:c")


def test_documents_may_all_be_without_features(tmp_path: Path) -> None:
    """A column of nulls is a column of features."""
    table = pa.table({"f": pa.nulls(3)})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (table, str(tmp_path / "a.parquet")):
        assert (3, 3, 0) == (
            (stats := ns.dedup(source, features_column="f").stats).documents,
            stats.empty,
            stats.removed,
        )


def test_kept_brings_files_of_different_types_together_or_names_what_is_apart(tmp_path: Path) -> None:
    """Numbers take the wider type; numbers and texts stay apart, and the output keeps both."""
    for name, value in (("a", 1), ("b", 2.5), ("c", "x")):
        pq.write_table(pa.table({"text": [f"text {name}"], "n": [value]}), tmp_path / f"{name}.parquet")
    paths = tuple(str(tmp_path / f"{name}.parquet") for name in "abc")
    assert [1.0, 2.5] == ns.dedup(paths[:2]).kept().column("n").to_pylist()
    found = ns.dedup(paths)
    with pytest.raises(ColumnError) as caught:
        found.kept()
    assert f"column 'n' is int64 in {paths[0]} and string in {paths[2]}" == caught.value.message
    assert 3 == found.write(tmp_path / "out").kept


def _broken(kind: pa.DataType, *buffers: bytes | None, length: int = 2, children: Any = None) -> pa.Array:
    held = [None if each is None else pa.py_buffer(each) for each in buffers]
    return pa.Array.from_buffers(kind, length, held, children=children)


def _offsets(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little", signed=True) for value in values)


BROKEN: dict[str, Callable[[], pa.Array]] = {
    "offsets that go back": lambda: _broken(pa.string(), None, _offsets(0, 900_000, 3), b"abc"),
    "an index beyond the dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1_000_000], pa.int32()), pa.array(["a"]), safe=False
    ),
    "a list that goes back": lambda: _broken(
        pa.list_(pa.int64()), None, _offsets(0, 900_000, 1), children=[pa.array([1])]
    ),
    "a view beyond its buffer": lambda: _broken(
        pa.string_view(), None, (_offsets(50) + b"abcd" + _offsets(0, 90_000_000)) * 2, b"abc"
    ),
    "text deep inside": lambda: pa.StructArray.from_arrays(
        [_broken(pa.string(), None, _offsets(0, 900_000, 3), b"abc")], ["a"]
    ),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("use", ["", "keep", "order", "text", "id", "url", "features", "pages"])
def test_a_column_whose_buffers_lie_is_refused_before_it_is_touched(name: str, use: str) -> None:
    """Reading it would end the process."""
    table = pa.table({"text": TEXTS[:2], "c": BROKEN[name]()})
    with pytest.raises(SourceError, match="is damaged: column 'c'"):
        ns.dedup(table, **USES.get(use, {}))


def test_an_encrypted_column_makes_a_file_unreadable_and_nothing_else(tmp_path: Path) -> None:
    """Beside good files it is counted with its reason, and copied as it is; named alone, or with strict, it stops."""
    table, folder = pa.table({"id": ["a", "b"], "text": TEXTS[:2]}), tmp_path / "in"
    folder.mkdir()
    pq.write_table(table, folder / "good.parquet")
    sealed = folder / "sealed.parquet"
    write_encrypted(sealed, table, "text")
    found = ns.dedup(str(folder))
    assert (2, 1) == (found.stats.documents, found.stats.skipped)
    assert "not a readable Parquet file: column 'text' is encrypted" == found.skipped.column("reason")[0].as_py()
    found.write(tmp_path / "out")
    assert sealed.read_bytes() == (tmp_path / "out/kept/sealed.parquet").read_bytes()
    for source, settings in ((str(sealed), {}), (str(folder), {"strict": True})):
        with pytest.raises(SourceError, match="column 'text' is encrypted"):
            ns.dedup(source, **settings)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([date(2024, 5, 1), _NOON], "a date and a time without a zone"),
        ([_NOON, _NOON.replace(tzinfo=UTC)], "a time of a zone and a time without a zone"),
        ([1.5, True], "a number and a truth value"),
    ],
)
def test_values_that_arrow_would_make_one_type_of_in_silence_are_refused(values, said):
    """The time of a date would be lost, and another document stay; in whichever order they come."""
    for some in (values, values[::-1]):
        records = [{"text": "a rose", "when": value} for value in some]
        with pytest.raises(ns.SourceError, match=f"the values of 'when' are not of one type: {said}"):
            ns.dedup(records, keep="newest:when")
