"""Some removals with the texts of both sides, and the files that these stand in."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.frames.inputs import SOURCE, with_source

_TEXT = "the council met on monday to talk about the new bridge and its cost over many years to come"


@pytest.fixture
def crawl(tmp_path):
    """Two files with the same ids; one row is the same in both."""
    home = tmp_path / "a crawl"
    home.mkdir()
    for name, texts in {"one": [_TEXT, "another text"], "two": [f"{_TEXT} again", "another text"]}.items():
        pq.write_table(pa.table({"id": ["a", "b"], "text": texts}), home / f"{name}.parquet")
    return home


@pytest.mark.few
@pytest.mark.parametrize("driver_bytes", ["64MB", 0], ids=["few", "many"])
def test_examples_say_which_files_documents_stand_in(driver_bytes, spark, crawl):
    """Ids do not tell them apart; of rows that are the same one stands in the first file, the other in the last."""
    found = ns.dedup(crawl, engine=ns.Spark(spark, driver_bytes=driver_bytes), method=ns.Jaccard(threshold=0.7))
    here = ns.dedup(crawl, ties="content", method=ns.Jaccard(threshold=0.7))
    names = ["id", "source", "text", "witness_id", "witness_source", "witness_text"]
    one, two = (str(crawl / f"{name}.parquet") for name in ("one", "two"))
    shown = {tuple(row.values()) for row in found.examples().select(names).to_pylist()}
    assert {("b", two, "another text", "b", one, "another text")} < shown
    assert {tuple(row.values()) for row in here.examples().select(names).to_pylist()} == shown
    found.release()
    if driver_bytes:
        pairs = ns.pairs(crawl, engine=ns.Spark(spark)).examples()
        ends = zip(*(pairs.column(name).to_pylist() for name in ("a_source", "b_source")), strict=True)
        assert {frozenset((one, two))} == {*map(frozenset, ends)}


def test_where_spark_does_not_tell_there_is_no_source(spark, crawl):
    """Behind a union, or in memory; a column that is called as Spark calls what it knows is nobody's."""
    frame = spark.read.parquet(str(crawl))
    told = with_source(frame.selectExpr("id as _metadata", "text").filter("text > ''"), is_archive=False)
    assert {"one", "two"} == {row[SOURCE].rpartition("/")[2].removesuffix(".parquet") for row in told.collect()}
    for given in (frame.union(frame), spark.createDataFrame([("a",)], "text string")):
        assert {None} == {row[SOURCE] for row in with_source(given, is_archive=False).collect()}
