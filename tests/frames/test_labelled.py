"""Mirrors, learnt rules and canonical URLs of what Spark reads: those of one machine on the same pages in order."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.frames import labelled
from nearsame.web.dust import learn_urls
from tests.sources.archive import PAGE, gzipped, html, http, record
from tests.web.test_dust import site as stories
from tests.web.test_mirrors import WEB

pytestmark = pytest.mark.few


def ordered(pages):
    """Pages as Spark has them: by their URLs, by which they are called, too."""
    known = [{**page, "id": page["url"], "ms": str(len(page["url"]) * 7 % 11)} for page in pages]
    return pa.Table.from_pylist(sorted(known, key=lambda page: page["url"].encode()))


@pytest.fixture(params=["driver", "cluster"])
def engine(spark, request):
    """Where documents are compared."""
    return ns.Spark(spark) if request.param == "driver" else ns.Spark(spark, driver_bytes=0)


def same_mirrors(source, engine, there=None, **settings):
    """Mirrors of both engines, which are the same."""
    here = ns.mirrors(source, **settings)
    found = ns.mirrors(source if there is None else there, engine=engine, **settings)
    assert here.stats == found.stats
    assert here.table.equals(found.table)
    assert here.map.equals(found.map)
    assert here.alternatives.equals(found.alternatives)
    return found


def test_mirrors_are_those_of_one_machine(engine, spark, tmp_path):
    """Of files, and of a DataFrame; whatever is kept, and by whatever pages are compared."""
    table, place = ordered(WEB), tmp_path / "pages.parquet"
    pq.write_table(table, place)
    found = same_mirrors(str(place), engine)
    assert found.stats.groups == 2
    assert "engine" in found._call  # what a folder keeps
    frame = spark.createDataFrame(table).repartition(3)
    same_mirrors(table, engine, frame, prefer="fastest:ms", method="minhash")


@pytest.mark.parametrize("source", ["home", pytest.param("others", marks=pytest.mark.long)])
def test_rules_are_those_of_one_machine(source, engine, tmp_path):
    """With what speaks for them and against them, and what was counted."""
    pages = stories() if source == "home" else [*stories("one.example", 12), *stories("two.example", 12)]
    place = tmp_path / "pages.jsonl"
    place.write_text("".join(f"{json.dumps(page)}\n" for page in ordered(pages).to_pylist()))
    here, there = learn_urls(str(place)), learn_urls(str(place), engine=engine)
    assert here.rules
    assert (here.rules, here.rejected, here.stats) == (there.rules, there.rejected, there.stats)


def test_who_says_what_is_alike_needs_no_comparing(spark, tmp_path, monkeypatch):
    """A column of any type; of a folder of an earlier run Spark knows no places; in as many jobs as it takes."""
    pages = ordered(stories())
    numbers = pa.array([hash(content) % 1000 * 1e15 for content in pages.column("content").to_pylist()])
    pages = pages.append_column("Cluster", numbers).append_column("cluster ", pages.column("content"))
    monkeypatch.setattr(labelled, "at_once", lambda _: 20_000)
    engine = ns.Spark(spark)
    for name in ("Cluster", "cluster "):
        here, there = (
            learn_urls(pages, cluster_column=name),
            learn_urls(pages, cluster_column=name, engine=engine),
        )
        assert here.rules
        assert (here.rules, here.stats) == (there.rules, there.stats)
    with pytest.raises(ns.ConfigError, match="does nothing where clusters are given"):
        learn_urls(pages, cluster_column="Cluster", method="minhash", engine=engine)
    with pytest.raises(ns.ConfigError, match=r"clusters=.* is about one machine"):
        learn_urls(pages, clusters=tmp_path, engine=engine)


def test_what_has_no_url_or_cannot_be_read_is_counted(engine, tmp_path):
    """As on one machine, but by files."""
    pages = [*ordered(WEB).to_pylist(), *({"url": url, "id": "x", "text": "one two"} for url in (None, ""))]
    lines = [json.dumps(page) for page in pages]
    draw = random.Random(5)
    lines += [lines[draw.randrange(len(WEB))] for _ in range(9)]  # read twice
    place = tmp_path / "pages.jsonl"
    place.write_text("\n".join([*lines, "no JSON", '{"url": "http://a.example/", "text": ', ""]))
    here, there = ns.mirrors(str(place)), ns.mirrors(str(place), engine=engine)
    assert (2, 2) == (here.stats.unread, here.stats.without_url)
    assert here.stats == there.stats
    assert [(str(place), "2 records are not readable")] == [
        (row["source"], row["reason"]) for row in there.skipped.to_pylist()
    ]
    urls = [ns.urls(str(place), engine=one) for one in (None, engine)]
    assert urls[0].stats == urls[1].stats
    assert sorted(urls[0].table.to_pylist(), key=repr) == sorted(urls[1].table.to_pylist(), key=repr)


def test_what_is_missing_is_said_before_anything_is_compared(spark, tmp_path, monkeypatch):
    """A column; room on the driver."""
    place, engine = tmp_path / "pages.parquet", ns.Spark(spark)
    pq.write_table(ordered(WEB), place)
    with monkeypatch.context() as patch:
        patch.setattr("nearsame.api.dedup", None)
        with pytest.raises(ns.ColumnError, match="no column 'link'") as caught:
            ns.mirrors(str(place), url_column="link", engine=engine)
        assert "--url-column" in caught.value.hint
        with pytest.raises(ns.ColumnError, match="no column 'MS'"):
            ns.mirrors(str(place), prefer="fastest:MS", engine=engine)
        with pytest.raises(ns.ColumnError, match="no column 'link'"):
            ns.urls(str(place), url_column="link", engine=engine)
    listed = tmp_path / "urls.txt.gz"
    for law, said in ((ns.urls, "which one machine reads"), (ns.mirrors, "the pages behind them are not known")):
        with pytest.raises(ns.ConfigError, match=f"is a list of URLs.*{said}"):
            law(str(listed), engine=engine)
    monkeypatch.setattr(labelled, "free_memory", lambda: 100_000)
    monkeypatch.setattr("nearsame.api.dedup", None)
    for asked in ({}, {"cluster_column": "text"}):
        with pytest.raises(ns.ConfigError, match=r"206 pages come to the driver, where they take about"):
            ns.mirrors(str(place), engine=engine, **asked)


def test_pages_of_archives(engine, tmp_path):
    """Their URLs are in their headers."""
    pytest.importorskip("fastwarc")
    place, texts = tmp_path / "a.warc.gz", [f"{PAGE.format(number)} It is page {number}." for number in range(8)]
    parts = [
        record(http(html(text)), number=number, url=f"http://{host}.example/docs/{number}.html")
        for host in ("a", "b")
        for number, text in enumerate(texts)
    ]
    place.write_bytes(gzipped(*parts, record(b"software: test\r\n", kind="warcinfo", number=900)))
    here, there = ns.mirrors(str(place)), ns.mirrors(str(place), engine=engine)
    assert here.stats.pages == 16
    assert here.stats == there.stats
    assert here.table.equals(there.table)


@pytest.mark.parametrize("column", ["text", "binary"])
def test_urls_that_are_not_utf8_are_not_read(column, engine, tmp_path):
    """As on one machine: their pages are in nothing, and counted; in CSV Spark has U+FFFD there."""
    urls = [f"http://{host}.example/{n:02}".encode() + b"\xe9" * (n % 4 == 0) for host in "ab" for n in range(12)]
    texts = [f"page {at % 12} " * 9 for at in range(24)]
    if column == "text":
        place = tmp_path / "a.csv"
        rows = (b"%b,%b,%b\n" % (url, text.encode(), url) for url, text in zip(urls, texts, strict=True))
        place.write_bytes(b"".join([b"url,text,id\n", *rows]))
    else:
        place = tmp_path / "a.parquet"
        pq.write_table(pa.table({"url": pa.array(urls, pa.binary()), "text": texts, "id": list(map(str, urls))}), place)
    for asked in ({}, {"cluster_column": "text"}):
        here, there = (ns.mirrors(str(place), engine=one, **asked) for one in (None, engine))
        assert 6 == here.stats.unread
        assert here.stats == there.stats
        assert here.map.equals(there.map)
    assert "6 URLs are not UTF-8" in there.skipped.column("reason").to_pylist()
    assert ns.urls(str(place)).stats == ns.urls(str(place), engine=engine).stats


def test_tables_by_their_names(spark):
    """They have no endings, as lists of URLs may have none."""
    pages = ordered(WEB)
    spark.createDataFrame(pages).createOrReplaceTempView("pages_by_name")
    engine = ns.Spark(spark)
    assert ns.mirrors(pages).stats == ns.mirrors("pages_by_name", engine=engine).stats
    assert ns.urls(pages).stats == ns.urls("pages_by_name", engine=engine).stats
    spark.catalog.dropTempView("pages_by_name")
