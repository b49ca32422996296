"""Folders that Spark writes: whole or not at all, and over nothing that nearsame did not write."""

import json

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import OutputError
from nearsame.frames.writing import DONE, STATS, check_target, format_of, write_folder, write_frame


@pytest.fixture(params=["a path", "a URL"])
def target(request, tmp_path):
    """A place as a local path, and as a URL, where folders cannot be renamed."""
    return str(tmp_path / "out.parquet") if request.param == "a path" else (tmp_path / "out.parquet").as_uri()


def written(session, target, **settings):
    """A folder with ten numbers."""
    frames = {"numbers": session.range(10, numPartitions=2)}
    write_folder(session, target, frames, [], lambda _: {"kept": 10}, overwrite=settings.get("overwrite", False))


def test_a_folder_has_its_tables_and_the_statistics(spark, target, tmp_path):
    """And nothing else is left."""
    written(spark, target)
    folder = tmp_path / "out.parquet"
    assert {"kept": 10} == json.loads((folder / STATS).read_bytes())
    assert list(range(10)) == sorted(pyarrow.dataset.dataset(folder / "numbers").to_table().column("id").to_pylist())
    assert ["out.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_a_folder_of_an_earlier_run_is_replaced_when_asked(spark, target, tmp_path):
    """Else it is refused, and stays."""
    written(spark, target)
    with pytest.raises(OutputError, match="exists"):
        written(spark, target)
    (tmp_path / "out.parquet" / "old").touch()
    written(spark, target, overwrite=True)
    assert not (tmp_path / "out.parquet" / "old").exists()
    assert (tmp_path / "out.parquet" / STATS).exists()


def test_what_nearsame_did_not_write_is_not_replaced(spark, target, tmp_path):
    """A folder without the mark."""
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "precious").touch()
    for mark in (STATS, DONE):
        with pytest.raises(OutputError, match=f"nothing that nearsame wrote: it has no {mark}"):
            check_target(spark, target, [], mark, overwrite=True)
    assert (tmp_path / "out.parquet" / "precious").exists()


def test_a_place_in_a_source_is_refused(spark, tmp_path):
    """Or over one; as paths and as URLs."""
    for home in (str(tmp_path), tmp_path.as_uri()):
        with pytest.raises(OutputError):
            check_target(spark, f"{home}/in", [home], STATS, overwrite=False)
        with pytest.raises(OutputError):
            check_target(spark, home, [f"{home}/in"], STATS, overwrite=True)
    check_target(spark, tmp_path.as_uri() + "-beside", [tmp_path.as_uri()], STATS, overwrite=False)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
def test_a_frame_is_written_in_the_format_of_its_name(suffix, spark, tmp_path):
    """Parts that others read back."""
    target = tmp_path / f"numbers.{suffix}"
    write_frame(spark, target, spark.range(10), [], overwrite=False)
    reader = spark.read.option("header", True).option("inferSchema", True).format(format_of(target))
    assert 45 == reader.load(str(target)).agg({"id": "sum"}).first()[0]
    with pytest.raises(OutputError, match="exists"):
        write_frame(spark, target, spark.range(10), [], overwrite=False)


def test_what_fails_leaves_nothing(spark, tmp_path):
    """Neither the folder nor a part of it."""
    with pytest.raises(ZeroDivisionError):
        write_folder(spark, tmp_path / "out", {"n": spark.range(3)}, [], lambda _: {"kept": 1 // 0}, overwrite=False)
    assert [] == list(tmp_path.iterdir())


def test_another_ending_is_refused():
    """The formats are named."""
    with pytest.raises(OutputError, match=r"pairs\.xml is of no known format") as told:
        format_of("s3a://bucket/pairs.xml")
    assert ".parquet .jsonl .csv" in told.value.hint


@pytest.mark.slow
def test_a_source_that_changes_is_not_written(spark, tmp_path):
    """What is read the second time is not what was decided about: an error, and no folder."""
    pq.write_table(pa.table({"id": ["a", "b"], "text": ["one two", "one two"]}), tmp_path / "in.parquet")
    found = ns.dedup(tmp_path / "in.parquet", engine=ns.Spark(spark))
    pq.write_table(pa.table({"id": ["c", "d"], "text": ["three four", "five six"]}), tmp_path / "in.parquet")
    with pytest.raises(ns.SourceError, match="the source changed: 1 documents were to stay, and 2 were read again"):
        found.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
