"""Every kind of input: what it is read as, and what comes out again; and the table of them in the docs."""

import math
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

import nearsame as ns
from nearsame.sources import kinds
from nearsame.sources.spool import spooled

TEXTS = ["a rose is a rose is a rose", "a rose is a rose is a rose", "a daisy is no rose at all"]
IDS = ["a", "b", "c"]
COLUMNS = {"id": IDS, "text": TEXTS}
RECORDS = [{"id": name, "text": text} for name, text in zip(IDS, TEXTS, strict=True)]
TABLE = pa.table(COLUMNS)
HOME = tempfile.TemporaryDirectory(prefix="nearsame-kinds-")  # deleted when this process ends
MATRIX = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def _dataset() -> datasets.Dataset:
    return datasets.Dataset.from_dict(COLUMNS)


def _delta_table() -> DeltaTable:
    folder = tempfile.mkdtemp(dir=HOME.name)
    write_deltalake(folder, TABLE)
    return DeltaTable(folder)


def _iceberg_table() -> Any:
    folder = tempfile.mkdtemp(dir=HOME.name)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("mydb")
    table = catalog.create_table("mydb.crawl", schema=TABLE.schema)
    table.append(TABLE)
    return table


class _Column:
    """What speaks Arrow's array protocol, and nothing else."""

    def __arrow_c_array__(self, schema: object = None) -> Any:
        return pa.array(TEXTS).__arrow_c_array__(schema)


class _Stream:
    """What speaks Arrow's stream protocol, and nothing else."""

    def __arrow_c_stream__(self, schema: object = None) -> Any:
        return TABLE.__arrow_c_stream__(schema)


# By the kind's name: how one is made, and what `kept()` is of it.
MADE: dict[str, tuple[Callable[[], Any], type]] = {
    "Arrow table": (lambda: TABLE, pa.Table),
    "Arrow record batch": (lambda: TABLE.to_batches()[0], pa.Table),
    "Arrow RecordBatchReader": (TABLE.to_reader, pa.Table),
    "pyarrow.dataset": (lambda: pads.dataset(TABLE), pa.Table),
    "pandas DataFrame": (lambda: pd.DataFrame(COLUMNS), pd.DataFrame),
    "pandas Series": (lambda: pd.Series(TEXTS), pd.Series),
    "polars DataFrame": (lambda: pl.DataFrame(COLUMNS), pl.DataFrame),
    "polars Series": (lambda: pl.Series(TEXTS), pl.Series),
    "polars LazyFrame": (lambda: pl.LazyFrame(COLUMNS), pa.Table),
    "DuckDB relation": (lambda: duckdb.connect().from_arrow(TABLE), pa.Table),
    "Delta Lake table": (_delta_table, pa.Table),
    "Iceberg table": (_iceberg_table, pa.Table),
    "Hugging Face Dataset": (_dataset, datasets.Dataset),
    "Hugging Face IterableDataset": (lambda: _dataset().to_iterable_dataset(), pa.Table),
    "anything else with `__arrow_c_stream__`": (_Stream, pa.Table),
    "anything else with `__arrow_c_array__`": (_Column, pa.Table),
    "NumPy array of texts": (lambda: np.array(TEXTS, object), pa.Table),
    "NumPy array of codes": (lambda: np.array([0, 1, 255], np.uint64), pa.Table),
    "NumPy matrix of numbers": (lambda: MATRIX, pa.Table),
    "dict": (lambda: dict(zip(IDS, TEXTS, strict=True)), pa.Table),
    "list": (lambda: list(TEXTS), pa.Table),
    "iterator": (lambda: iter(TEXTS), pa.Table),
}


def _texts(table: Any) -> list[str]:
    if isinstance(table, (pd.Series, pl.Series)):
        return list(table)
    return list(table["text"].to_pylist() if isinstance(table, pa.Table) else table["text"])


def test_every_kind_has_an_example() -> None:
    """A kind that nobody tries is none."""
    assert {kind.name for kind in kinds.KINDS} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_each_kind_is_read_as_what_it_is_and_comes_back(name: str) -> None:
    """As itself where it is a table of a library, else as an Arrow table."""
    make, expected = MADE[name]
    thing = make()
    assert name == kinds._kind_of(thing).name
    method = {"NumPy matrix of numbers": "hyperplane", "NumPy array of codes": "codes"}.get(name)
    found = ns.dedup(thing, method=method)
    assert (3, 1) == (found.stats.documents, found.stats.removed)
    kept, removed = found.kept(), found.removed()
    assert (expected, expected) == (type(kept), type(removed))
    assert (2, 1) == (len(kept), len(removed))
    if method is None:
        assert ([TEXTS[0], TEXTS[2]], [TEXTS[1]]) == (_texts(kept), _texts(removed))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_a_vector_with_a_masked_number_is_missing(kind: type) -> None:
    """Of a matrix, and of rows of one in records or a dict: as one with a null is."""
    matrix = np.ma.array([[1, 2], [2, 4], [1, 2]], kind, mask=[[0, 0], [0, 1], [0, 0]])
    for given in (matrix, [{"vector": row} for row in matrix], {"vector": list(matrix)}, matrix.T.copy().T):
        found = ns.pairs(given, method="hyperplane")
        assert (1, [1]) == (found.num_pairs, found.skipped.column("position").to_pylist())


def test_a_masked_value_in_a_column_is_missing() -> None:
    """Of texts and of numbers, in a dict of columns."""
    texts = np.ma.array(["a rose", "b", "a rose"], object, mask=[0, 1, 0])
    found = ns.dedup({"text": texts, "size": np.ma.array([1, 2, 3], mask=[0, 0, 1])}, keep="max:size")
    assert [{"text": "a rose", "size": 1}, {"text": None, "size": 2}] == found.kept().to_pylist()


def test_the_docs_list_every_kind_and_what_comes_out_of_it() -> None:
    """The first and the last column of docs/inputs.md are those of the code and of the examples above."""
    lines = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    listed = {row[0]: row[-1] for row in cells}
    words = {pa.Table: "Arrow table"}
    for name, (_, expected) in MADE.items():
        assert words.get(expected, name) == listed[name], name
    assert "Hugging Face DatasetDict" == listed["Hugging Face DatasetDict"]


@pytest.mark.parametrize(
    "thing",
    [
        np.array(TEXTS),
        np.array(TEXTS, np.dtypes.StringDType()),
        np.array([*TEXTS], object)[::1],
        tuple,
        deque(TEXTS),
        dict(zip(IDS, TEXTS, strict=True)).values(),
        [text.encode() for text in TEXTS],
        list(zip(IDS, TEXTS, strict=True)),
        RECORDS,
        iter(RECORDS),
        zip(IDS, TEXTS, strict=True),
        COLUMNS,
        {"text": np.array(TEXTS), "n": [1, 2, 3]},
        (text for text in TEXTS),
        _dataset()["text"],
        pads.dataset(TABLE).scanner(columns=["text"]),
        [TABLE.slice(0, 2), TABLE.slice(2)],
        (pl.DataFrame([record]) for record in RECORDS),
        TABLE.to_batches(1),
    ],
)
def test_many_forms_of_texts_are_read(thing: Any) -> None:
    """Pairs and records have ids; tables one after the other are one."""
    found = ns.dedup(list(TEXTS) if thing is tuple else thing)
    assert [TEXTS[0], TEXTS[2]] == found.kept()["text"].to_pylist()


@pytest.mark.parametrize(
    "thing", [dict(zip(IDS, TEXTS, strict=True)), list(zip(IDS, TEXTS, strict=True)), zip(IDS, TEXTS, strict=True)]
)
def test_ids_of_dicts_and_pairs_are_the_ids(thing: Any) -> None:
    """They stand in the tables."""
    assert [("b", "a")] == [(row["id"], row["witness_id"]) for row in ns.dedup(thing).removals.to_pylist()]


@pytest.mark.parametrize("missing", [None, math.nan, np.nan, pd.NA])
def test_a_missing_text_is_a_document_without_one(missing: Any) -> None:
    """Among texts, in pairs, in dicts and in columns; it is no duplicate of anything."""
    for thing in (
        ["a rose", missing, missing],
        iter([missing, "a rose", missing]),
        [("a", "a rose"), ("b", missing), ("c", missing)],
        {"a": "a rose", "b": missing, "c": missing},
        [{"text": "a rose"}, {"text": missing}, {"text": missing}],
        np.array(["a rose", missing, missing], object),
        pd.Series(["a rose", missing, missing], dtype=object),
    ):
        stats = ns.dedup(thing).stats
        assert (3, 2, 0) == (stats.documents, stats.empty, stats.removed)


def test_bytes_that_are_no_utf8_are_skipped_where_they_stand() -> None:
    """As in a column of bytes."""
    found = ns.dedup([b"a rose", b"\xff", b"a rose"])
    assert [(1, "invalid UTF-8 at byte 0 of the text")] == [
        (row["position"], row["reason"]) for row in found.skipped.to_pylist()
    ]
    assert ["a rose"] == found.kept()["text"].to_pylist()


def test_indices_of_a_dataset_are_obeyed() -> None:
    """After `shuffle` and `select` rows are those that are seen; features and other columns come back."""
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["no", "yes"]),
            "n": datasets.Value("int32"),
        }
    )
    data = {"text": [f"text number {n // 2}" for n in range(20)], "label": [0, 1] * 10, "n": list(range(20))}
    dataset = datasets.Dataset.from_dict(data, features=features)
    for chosen in (dataset.shuffle(seed=3), dataset.select([5, 4, 19, 1, 0]), dataset.shuffle(seed=5).select(range(7))):
        seen = [(row["text"], row["n"]) for row in chosen]
        first = dict(reversed(seen))
        kept = ns.dedup(chosen).kept()
        assert [(text, n) for text, n in seen if first[text] == n] == [(row["text"], row["n"]) for row in kept]
        assert features == kept.features


def test_columns_that_a_format_hides_are_there_all_the_same() -> None:
    """How a data set shows itself is not what it is."""
    dataset = _dataset().with_format("numpy", columns=["id"])
    kept = ns.dedup(dataset).kept()
    assert {"id", "text"} == set(kept.column_names)


def test_the_splits_of_a_dataset_dict_are_sources_of_their_own() -> None:
    """Their names are in those of the parts; what stays of each comes back under its name."""
    splits = datasets.DatasetDict(train=_dataset(), test=_dataset().select([2, 0]))
    found = ns.dedup(splits)
    assert [("memory/train", 1), ("memory/test", 0), ("memory/test", 1)] == [
        (row["source"], row["row"]) for row in found.removals.to_pylist()
    ]
    kept, removed = found.kept(), found.removed()
    assert isinstance(kept, datasets.DatasetDict)
    assert isinstance(removed, datasets.DatasetDict)
    assert {"train": 2, "test": 0} == kept.num_rows
    assert {"train": 1, "test": 2} == removed.num_rows


def test_a_dataset_dict_is_written_split_by_split_and_verified(tmp_path: Path) -> None:
    """`kept/` has a file for each; a name that is none of a file stays inside."""
    splits = datasets.DatasetDict({"train": _dataset(), "../test": _dataset().select([2])})
    ns.dedup(splits).write(tmp_path / "clean")
    assert {"train.parquet", "documents.parquet"} == {path.name for path in (tmp_path / "clean" / "kept").iterdir()}
    assert ns.verify(tmp_path / "clean", source=splits).holds


def test_an_iterable_dataset_without_known_features_is_read() -> None:
    """A generator of records; its dict of splits comes as one Arrow table."""
    streamed = datasets.IterableDataset.from_generator(lambda: iter(RECORDS))
    assert ["a", "c"] == ns.dedup(streamed).kept()["id"].to_pylist()
    both = datasets.IterableDatasetDict(train=streamed, test=streamed)
    assert ["a", "c"] == ns.dedup(both).kept()["id"].to_pylist()
    odd = [{"id": "x", "text": "a rose", "lang": None}, {"id": "y", "text": "a daisy", "lang": "en", "n": 1}]
    for given in (
        datasets.IterableDataset.from_generator(lambda: iter(odd)),
        datasets.IterableDataset.from_generator(lambda: iter(odd)).map(dict),
    ):
        assert [None, "en"] == ns.dedup(given).kept()["lang"].to_pylist()


def test_the_splits_of_a_dataset_are_no_document(tmp_path: Path) -> None:
    """Though they are a dict: an index takes what `dedup` takes."""
    splits = datasets.DatasetDict(
        text=datasets.Dataset.from_list(RECORDS[:1]), test=datasets.Dataset.from_list(RECORDS[1:])
    )
    with ns.Index.create(tmp_path / "seen.ns") as index:
        assert len(RECORDS) == len(index.add(splits))
        assert len(RECORDS) == len(index.query(splits))


def test_an_index_of_pandas_comes_back_too() -> None:
    """And what becomes of the frame after the run changes nothing."""
    frame = pd.DataFrame({"text": TEXTS, "n": [1, 2, 3]}, index=["x", "y", "z"])
    found = ns.dedup(frame)
    frame["text"] = "another"
    frame.loc["new"] = ["a new row", 4]
    kept = found.kept()
    assert (["x", "z"], [TEXTS[0], TEXTS[2]]) == (kept.index.tolist(), kept["text"].tolist())


def test_several_sources_come_as_one_arrow_table() -> None:
    """One in a tuple is one."""
    frame = pl.DataFrame(COLUMNS)
    assert isinstance(ns.dedup((frame, pd.DataFrame(COLUMNS))).kept(), pa.Table)
    assert isinstance(ns.dedup((frame,)).kept(), pl.DataFrame)
    assert isinstance(ns.dedup(frame, against=pd.DataFrame(COLUMNS)).removed(), pl.DataFrame)


@pytest.mark.parametrize("sides", [(("-", "-"), None), ("-", "-")])
def test_standard_input_that_is_named_twice_is_refused(sides: tuple[Any, Any]) -> None:
    """The second time it would be empty, and all of it would stay."""
    with pytest.raises(ns.ConfigError, match="- is named twice, and standard input can be read only once"):
        ns.dedup(sides[0], against=sides[1])


def test_an_iterator_that_is_named_twice_is_refused() -> None:
    """The second time it would be empty, without a word; a list may be named as often as one likes."""
    texts = iter(TEXTS)
    for call in (lambda: ns.dedup((texts, texts)), lambda: ns.dedup(texts, against=texts)):
        with pytest.raises(ns.SourceError, match="is named twice, and can be read only once"):
            call()
    assert 3 == ns.dedup(texts).stats.documents
    assert 3 == ns.dedup(TEXTS, against=TEXTS).stats.removed


def test_a_generator_is_gone_through_once() -> None:
    """Whatever is asked of the answer."""
    asked = []

    def documents() -> Iterator[str]:
        for text in TEXTS:
            asked.append(text)
            yield text

    found = ns.dedup(documents(), use="digest,text")
    assert 2 == found.kept().num_rows
    assert 1 == found.examples().num_rows
    assert TEXTS == asked


@pytest.mark.parametrize(
    ("thing", "said", "hint"),
    [
        (b"a rose", "a bytes", "Decode it"),
        ({"a rose"}, "a set", "Sort it into a list"),
        (np.array([1, 2]), "numbers or bytes, and no texts", "Give texts, .* method=Codes"),
        (np.array([["a"]], object), "a ndarray", "one dimension"),
        (lambda: TEXTS, "a function", "Call it"),
        ([1, 2], "numbers or bytes, and no texts", "Give texts, records"),
        ([1.5, 2], "elements of type float", "Give texts, records"),
        ([["a", "b"]], "elements of type list", "a pair .id, text. in a tuple"),
        ([("a", "b", "c")], "elements of type tuple", "pairs .id, text."),
        ([("a", 1)], "elements of type tuple", "pairs .id, text."),
        (["a rose", {"text": "b"}], "element 1 is a record", "all elements of one form"),
        ([{"text": "a"}, None], "element 1 is None", "all elements of one form"),
        (["a rose", b"a rose"], "element 1 is bytes", "all elements of one form"),
        (iter(["a rose", 5]), "element 1 is a whole number", "all elements of one form"),
        ({"id": "a", "text": "a rose"}, "the key 'id' reads like one record", "in a list"),
        ({"a": {"text": "a rose"}}, "a dict of dict", "a list of records"),
        ({"text": ["a"], "n": [1, 2]}, "not of one length: 'text' 1, 'n' 2", "for each document"),
        ([{"n": 1}, {"n": "a"}], "the values of 'n' are not of one type", "the same type"),
        ([{1: "a rose"}], "the key 1 of a record", "strings"),
        (datasets.DatasetDict(), "the DatasetDict has no splits", "some"),
        (pd.DataFrame(COLUMNS).groupby("id"), "a DataFrameGroupBy", "Give a path"),
        (SimpleNamespace(columns=["text"], __iter__=lambda: iter(["text"])), "a SimpleNamespace", "Give a path"),
        (5, "a int", "Give a path"),
    ],
)
def test_what_is_no_source_names_the_nearest_that_is(thing: Any, said: str, hint: str) -> None:
    """By the hint."""
    with pytest.raises(ns.SourceError) as caught:
        ns.dedup(thing)
    assert said in caught.value.message
    assert re.search(hint, caught.value.hint)


def test_a_connection_is_no_relation() -> None:
    """It has many; the hint has how one is asked for."""
    with duckdb.connect() as connection, pytest.raises(ns.SourceError, match="DuckDBPyConnection") as caught:
        ns.dedup(connection)
    assert "connection.sql" in caught.value.hint


def test_an_open_file_is_no_list_of_lines(tmp_path: Path) -> None:
    """Its lines would be compared, with their ends: JSON lines as texts."""
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with (tmp_path / "a.jsonl").open() as file, pytest.raises(ns.SourceError, match="a TextIOWrapper") as caught:
        ns.dedup(file)
    assert "Give its path" in caught.value.hint


def test_no_library_is_loaded_to_recognise_a_thing() -> None:
    """Who has a list does not wait for them; pandas is loaded by pyarrow, where it is installed."""
    code = """if True:
        import sys, nearsame
        nearsame.dedup(iter(["a rose"])).kept()
        print(sorted({"polars", "duckdb", "datasets", "pyarrow.dataset"} & set(sys.modules)))"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "[]\n" == out


def test_a_column_that_arrow_cannot_hold_is_named() -> None:
    """Of a frame all columns are taken, as they come back."""
    for values in ([1, "a"], pd.arrays.SparseArray([0, 1])):
        with pytest.raises(ns.SourceError, match=r"read from a DataFrame: [^(].*column x\b") as caught:
            ns.dedup(pd.DataFrame({"text": ["a b", "c"], "x": values}))
        assert "Give the column one type" in caught.value.hint


def test_what_a_thing_raises_while_it_is_read_is_told_with_no_word_of_another_form() -> None:
    """It is a source; and what Arrow adds of the frames of Python is left out."""
    schema = pa.schema([("text", pa.string())])

    def breaking() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array(["a rose"])], schema=schema)
        raise ValueError("boom")

    with pytest.raises(ns.SourceError, match=r"boom$") as raised:
        ns.dedup(pa.RecordBatchReader.from_batches(schema, breaking()))
    assert "read it by itself" in raised.value.hint
    frame = pd.DataFrame([["a rose", 1, 2]], columns=["text", "n", "n"])
    with pytest.raises(ns.SourceError, match="Duplicate column names") as raised:
        ns.dedup(frame)
    assert "astype" not in raised.value.hint


def test_two_columns_of_one_name_in_pieces_are_named() -> None:
    """Not as a change of types."""
    batch = pa.RecordBatch.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["text", "n", "n"])
    with pytest.raises(ns.SourceError, match="several columns that are called 'n'"):
        spooled(iter([pa.Table.from_batches([batch])] * 2), "a reader")
