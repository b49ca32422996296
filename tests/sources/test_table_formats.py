"""Tables of Delta Lake, Iceberg and Hudi: what is in them is read, never the files that lie in their folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, convert_to_deltalake, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

import nearsame as ns

LOGS = {
    "Delta Lake": "_delta_log/00000000000000000000.json",
    "Iceberg": "metadata/00000-701c291e-5c18-43fa-ba25-44d516bffec5.metadata.json",
    "Iceberg, by numbers": "metadata/v1.metadata.json",
    "Iceberg, packed": "metadata/v12.gz.metadata.json",
    "Hudi": ".hoodie/hoodie.properties",
}
BEFORE = pa.table({"id": ["a", "b", "c"], "text": ["a rose is a rose", "a rose is a rose", "no rose at all"]})
NOW = BEFORE.slice(1)


def _catalog(folder: Path) -> SqlCatalog:
    (folder / "lake").mkdir()
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/lake")
    catalog.create_namespace("mydb")
    return catalog


def _delta(folder: Path) -> Any:
    write_deltalake(folder / "crawl", BEFORE)
    write_deltalake(folder / "crawl", NOW, mode="overwrite")
    return DeltaTable(folder / "crawl"), folder / "crawl"


def _iceberg(folder: Path) -> Any:
    table = _catalog(folder).create_table("mydb.crawl", schema=BEFORE.schema)
    table.append(BEFORE)
    table.overwrite(NOW)
    return table, folder / "lake" / "mydb" / "crawl"


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("home", ["", "memory://"])
def test_the_folder_of_a_table_is_refused(log: str, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Itself, among other folders, at an address; but not where nothing of it would be read."""
    monkeypatch.chdir(tmp_path)
    home += f"{tmp_path.name}/"
    filled: tuple[tuple[str, Any], ...] = (
        (LOGS[log], b"{}"), ("part-0.jsonl", b'{"text": "a rose"}\n'), ("../b/c.jsonl", b'{"text": "a daisy"}\n'),
    )  # fmt: skip
    for path, content in filled:
        place = f"{home}crawls/{log}/{path}".replace(f"{log}/../", "")
        with fsspec.open(place, "wb", auto_mkdir=True) as file:
            file.write(content)
    table, name = f"{home}crawls/{log}", log.partition(",")[0]
    for source, given in ((table, {}), (f"{home}crawls", {}), (table, {"include": "*.jsonl"})):
        with pytest.raises(ns.SourceError, match=f"{table} is a table of {name}, and its files") as caught:
            ns.dedup(source, **given)
        assert "name the files that count" in str(caught.value.hint)
    assert 1 == ns.dedup(f"{home}crawls", exclude=f"{log}/**").stats.documents
    assert 1 == ns.dedup(f"{table}/part-0.jsonl").stats.documents


@pytest.mark.parametrize("make", [_delta, _iceberg])
def test_a_table_has_the_rows_of_its_last_version(make: Callable[[Path], Any], tmp_path: Path) -> None:
    """Not those that were written over; its folder is refused."""
    table, folder = make(tmp_path)
    found = ns.dedup(table)
    assert (2, ["b", "c"]) == (found.stats.documents, found.kept()["id"].to_pylist())
    with pytest.raises(ns.SourceError, match="hold rows that are no longer in it"):
        ns.dedup(folder)


def test_a_version_a_scan_and_files_that_count_can_be_given(tmp_path: Path) -> None:
    """As the packages name them."""
    delta, _ = _delta(tmp_path)
    assert 2 == ns.dedup(tuple(delta.file_uris())).stats.documents
    assert 3 == ns.dedup(DeltaTable(delta.table_uri, version=0)).stats.documents
    iceberg, _ = _iceberg(tmp_path)
    assert 1 == ns.dedup(iceberg.scan(row_filter="id = 'c'")).stats.documents
    files = iceberg.inspect.files()["file_path"].to_pylist()
    assert 2 == ns.dedup(tuple(files)).stats.documents


def _as_delta(kept: Path) -> pa.Table:
    convert_to_deltalake(kept)
    return DeltaTable(kept).to_pyarrow_table()


def _as_iceberg(kept: Path) -> pa.Table:
    files = sorted(kept.glob("*.parquet"))
    table = _catalog(kept.parent.parent).create_table("mydb.clean", schema=pq.read_schema(files[0]))
    table.add_files([f"file://{file}" for file in files])
    return table.scan().to_arrow()


def _becomes_a_table(as_table: Any, folder: Path, given: dict[str, Any]) -> None:
    pq.write_table(BEFORE, folder / "crawl.parquet")
    ns.dedup(folder / "crawl.parquet", **given).write(folder / "clean")
    table = as_table(folder / "clean" / "kept")
    stays = [(row["id"], row["text"]) for row in BEFORE.to_pylist() if row["id"] != "b"]
    assert stays == sorted(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    if as_table is _as_delta:
        with pytest.raises(ns.SourceError, match="is a table of Delta Lake"):
            ns.dedup(folder / "clean" / "kept", **given)


@pytest.mark.parametrize("as_table", [_as_delta, _as_iceberg])
def test_what_stays_becomes_a_table_where_it_lies(as_table: Any, tmp_path: Path) -> None:
    """No row is copied; the folder of Delta Lake's is refused as a source from then on."""
    _becomes_a_table(as_table, tmp_path, {})


@pytest.mark.few
@pytest.mark.parametrize("as_table", [_as_delta, _as_iceberg])
def test_what_spark_wrote_becomes_a_table_where_it_lies(spark: Any, as_table: Any, tmp_path: Path) -> None:
    """As on one machine."""
    _becomes_a_table(as_table, tmp_path, {"engine": ns.Spark(spark)})


@pytest.mark.few
@pytest.mark.parametrize("make", [_delta, _iceberg])
def test_spark_refuses_the_folder_and_takes_the_table(spark: Any, make: Any, tmp_path: Path) -> None:
    """Spark itself passes over Delta's log, and would have read what was deleted."""
    table, folder = make(tmp_path)
    engine = ns.Spark(spark)
    for source in (folder, folder.parent):
        with pytest.raises(ns.SourceError, match=f"{folder} is a table of .* hold rows that are no longer in it"):
            ns.dedup(source, engine=engine)
    assert 2 == ns.dedup(table, engine=engine).stats.documents


@pytest.mark.few
def test_spark_refuses_what_a_run_wrote(spark: Any, tmp_path: Path) -> None:
    """As one machine does: its tables are no documents."""
    engine = ns.Spark(spark)
    ns.dedup(BEFORE, engine=engine).write(tmp_path / "clean")
    for source in (tmp_path / "clean", tmp_path):
        with pytest.raises(ns.SourceError, match=f"{tmp_path}/clean is what nearsame wrote"):
            ns.dedup(source, engine=engine)
    assert 2 == ns.dedup(tmp_path / "clean" / "kept", engine=engine).stats.documents
