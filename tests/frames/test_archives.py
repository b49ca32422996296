"""Web archives on Spark: what one machine finds in them, by the places of their records."""

import bz2
import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.sources.archives import WARC, walk
from tests.sources.archive import PAGE, gzipped, html, http, record, response, wacz
from tests.sparks import jobs_since, newest_job

pytest.importorskip("fastwarc")
pytestmark = pytest.mark.few

_LONG = " ".join(f"{PAGE.format(number)} It was said in {number * 7} places." for number in range(9))


def _archives(home: Path) -> list[str]:
    """A file with members, a plain one that is damaged, and one that is packed as a whole."""
    first = gzipped(
        record(b"software: test\r\n", kind="warcinfo", number=900), response(1, _LONG),
        record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=2), response(2, f"{_LONG} And more."),
        record(http(html("gone"), status="404 Not Found"), number=3), response(4),
    )  # fmt: skip
    broken = record(http(html(PAGE.format(5))), number=5, length=40)
    second = (
        response(6, _LONG)
        + broken
        + response(7, _LONG[:400])
        + record(
            http(
                "gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n ".encode("latin-1") * 40, kind="text/plain; charset=latin-1"
            ),
            number=8,
        )
    )
    third = (
        response(9, f"Well. {_LONG}")
        + response(10, PAGE.format(4))
        + record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=9)
    )
    made = {"a.warc.gz": first, "b.warc": second, "c [1].warc.bz2": bz2.compress(third)}
    for name, data in made.items():
        (home / name).write_bytes(data)
    return [str(home / name) for name in made]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of archives, and a file that is none."""
    home = tmp_path_factory.mktemp("crawl")
    _archives(home)
    (home / "README.log").write_text("of no format", "utf-8")
    return home


def _facts(found: Any) -> list[tuple[Any, ...]]:
    table = found.removals if not hasattr(found.removals, "toArrow") else found.removals.toArrow()
    names = ("id", "witness_id", "similarity", "measure")
    return sorted(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_archives_are_judged_as_on_one_machine_and_listed_by_their_places(spark: Any, home: Path) -> None:
    """Who goes, what is counted of pages and damage; each place in the list leads to the record of that URL."""
    settings: dict[str, Any] = {"ties": "content", "keep": "longest"}
    expected = ns.dedup(str(home), **settings)
    found = ns.dedup(str(home), **settings, engine=ns.Spark(spark))
    assert len(_facts(expected)) > 2
    assert _facts(expected) == _facts(found)
    for name in ("documents", "skipped", "empty", "text_bytes", "kept", "exact_copies", "pages"):
        assert getattr(expected.stats, name) == getattr(found.stats, name), name
    assert expected.stats.skipped
    assert {name.rpartition("/")[2] for name in found.skipped.column("source").to_pylist()} == {"b.warc"}
    found.write(str(home.parent / "clean"))
    rows = spark.read.parquet(str(home.parent / "clean" / "records")).collect()
    assert len(rows) == found.stats.documents
    assert expected.kept().num_rows == sum(row.kept for row in rows)
    assert sorted(row.id for row in rows if not row.kept) == sorted(fact[0] for fact in _facts(expected))
    for row in rows:
        assert _url_at(row) == row.id
    _cut(home, expected)
    texts = {row["witness_text"] for row in found.examples(9).to_pylist()}
    assert texts == {row["witness_text"] for row in expected.examples(9).to_pylist()}


def _cut(home: Path, expected: Any) -> None:
    """The copies are those of one machine, byte for byte, from where the files are now; never from others."""
    expected.write(home.parent / "expected")
    ns.apply(home.parent / "clean", home.parent / "cut")
    moved = shutil.copytree(home, home.parent / "moved")
    stats = ns.apply(home.parent / "clean", home.parent / "again", moved)
    assert stats.kept == expected.stats.kept
    copies = [_contents(home.parent / name / "kept") for name in ("expected", "cut", "again")]
    assert copies[0] == copies[1] == copies[2]
    assert (home.parent / "cut" / "removed").is_dir()
    with pytest.raises(ns.ConfigError, match="only how many"):
        ns.apply(home.parent / "clean", home.parent / "none", drop_unreadable=True)
    (moved / "d.warc").write_bytes(response(1))
    with pytest.raises(ns.SourceError, match=r"d\.warc was not there"):
        ns.apply(home.parent / "clean", home.parent / "none", moved)
    (moved / "d.warc").unlink()
    (moved / "b.warc").write_bytes(response(1))
    with pytest.raises(ns.SourceError, match=r"b\.warc is not what it was"):
        ns.apply(home.parent / "clean", home.parent / "none", moved)
    (moved / "b.warc").unlink()
    with pytest.raises(ns.SourceError, match=r"b\.warc is not there now"):
        ns.apply(home.parent / "clean", home.parent / "none", moved)
    assert not (home.parent / "none").exists()


def _contents(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir()}


def _url_at(row: Any) -> str:
    """What the record at a place says it is of; read by hand, where a member or a line begins there."""
    path = Path(row.file)
    data = path.read_bytes()
    if path.suffix == ".bz2":
        data = bz2.decompress(data)
    end = None if row.length is None else row.offset + row.length
    some = data[row.offset : end]
    some = gzip.decompress(some) if path.suffix == ".gz" else some
    assert some.count(b"WARC-Target-URI") == 1 or end is None or path.name == "b.warc"
    kinds = [each.headers["warc-target-uri"] for each in walk(str(path), WARC, 0)] if path.suffix != ".bz2" else None
    line = next(line for line in some.splitlines() if line.startswith(b"WARC-Target-URI: "))
    url = line.partition(b" ")[2].decode()
    assert kinds is None or kinds[row.position] == url
    return url


@pytest.mark.parametrize("ask", [ns.dedup, ns.pairs])
def test_few_archives_are_judged_on_the_driver(spark: Any, home: Path, ask: Any) -> None:
    """In a few jobs, with the counts of pages that tasks have made; by the cluster, and on one machine, likewise."""
    expected, before = ask(str(home), ties="content"), newest_job(spark)
    found = ask(str(home), engine=ns.Spark(spark))
    assert found.stats.room["documents"] == "driver"
    assert len(jobs_since(spark, before)) <= 6
    by_cluster = ask(str(home), engine=ns.Spark(spark, driver_bytes=0))
    for name in ("documents", "skipped", "empty", "text_bytes", "pages", "recipe"):
        counts = [getattr(one.stats, name) for one in (expected, found, by_cluster)]
        assert counts[1] == counts[2], name
        assert name == "recipe" or counts[0] == counts[1], name
    tables = [one.removals if ask is ns.dedup else one.pairs for one in (found, by_cluster)]
    lines = [sorted(map(repr, table.drop("cluster").collect())) for table in tables]
    assert lines[0] == lines[1]


def test_what_is_known_of_pages_can_be_compared_in_their_place(spark: Any, home: Path) -> None:
    """Their titles here; what is no document is counted all the same."""
    expected = ns.dedup(str(home), text_column="title", method="digest", ties="content")
    found = ns.dedup(str(home), text_column="title", method="digest", engine=ns.Spark(spark))
    assert _facts(expected) == _facts(found)
    assert expected.stats.pages == found.stats.pages
    assert found.stats.pages["passed_over"]


def test_damage_ends_a_strict_run_and_mixtures_are_refused(spark: Any, home: Path, tmp_path: Path) -> None:
    """With the file and the place; a table of texts may be the other side."""
    with pytest.raises(ns.SourceError, match=r"b\.warc: at byte"):
        ns.dedup(str(home), strict=True, engine=ns.Spark(spark))
    table = tmp_path / "t.jsonl"
    table.write_text('{"id": "x", "text": "one two three four five six seven"}\n', "utf-8")
    with pytest.raises(ns.SourceError, match="not read together"):
        ns.dedup((str(home / "a.warc.gz"), str(table)), engine=ns.Spark(spark))
    found = ns.dedup(str(home / "a.warc.gz"), against=str(table), engine=ns.Spark(spark), max_document=1 << 20)
    expected = ns.dedup(str(home / "a.warc.gz"), against=str(table), ties="content", max_document=1 << 20)
    assert _facts(found) == _facts(expected)
    assert found.stats.pages == expected.stats.pages
    with pytest.raises(ns.ConfigError, match="max_document does nothing"):
        ns.dedup(str(table), engine=ns.Spark(spark), max_document=1 << 20)


def test_an_archive_elsewhere_comes_to_its_task_whole(spark: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the path leads to nothing on the executors, Spark brings the bytes."""
    path = str(home / "a.warc.gz")
    expected = {row.offset for row in ns.dedup(path, engine=ns.Spark(spark)).kept().collect()}
    packed = home.parent / "a.wacz"
    packed.write_bytes(wacz({"a.warc.gz": Path(path).read_bytes()}))
    monkeypatch.setattr("nearsame.engines.spark.places.HadoopPlace.local", None)
    assert sorted(row.position for row in ns.dedup(packed, engine=ns.Spark(spark)).kept().collect()) == [1, 5]
    found = ns.dedup(path, engine=ns.Spark(spark), keep="min:date")
    assert {row.offset for row in found.kept().collect()} == expected


def test_an_empty_file_is_copied_like_others(spark: Any, tmp_path: Path) -> None:
    """Spark does not list files without a byte; nor do its patterns lead to folders below."""
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "a.warc").write_bytes(response(1, _LONG) + response(2, _LONG))
    (crawl / "z.warc").write_bytes(b"")
    ns.dedup(crawl, engine=ns.Spark(spark)).write(tmp_path / "clean")
    ns.apply(tmp_path / "clean", tmp_path / "cut")
    ns.dedup(crawl, ties="content").write(tmp_path / "expected")
    assert _contents(tmp_path / "cut" / "kept") == _contents(tmp_path / "expected" / "kept")
    with pytest.raises(ns.SourceError, match="leads to no folders below"):
        ns.dedup(f"{tmp_path}/**/*.warc", engine=ns.Spark(spark))


def test_of_records_that_are_the_same_the_first_stays(spark: Any, tmp_path: Path) -> None:
    """As on one machine: not that of the larger file, which Spark reads first."""
    (tmp_path / "a.warc").write_bytes(response(1, _LONG) + response(2, _LONG))
    (tmp_path / "b.warc").write_bytes(response(1, _LONG) + response(3, "other words " * 900) + response(1, _LONG))
    goes = [(line["source"], line["row"]) for line in ns.dedup(tmp_path, ties="content").removals.to_pylist()]
    every = {(str(tmp_path / "a.warc"), 0), (str(tmp_path / "a.warc"), 1)} | {
        (str(tmp_path / "b.warc"), position) for position in range(3)
    }
    for engine in (ns.Spark(spark), ns.Spark(spark, driver_bytes=0)):
        stay = ns.dedup(tmp_path, engine=engine).kept().collect()
        assert every - {*goes} == {(row.file, row.position) for row in stay}


def test_of_real_archives_the_same_records_go(spark: Any, data_dir: Path) -> None:
    """Some crawls are there several times, packed in other ways: who stays is who stands first."""
    source = data_dir / "warc"
    if not list(source.glob("*")):
        pytest.skip(f"there are no archives in {source}")
    goes = ns.dedup(source, keep="longest", ties="content").removals
    expected = {(line["source"], line["row"]) for line in goes.to_pylist()}
    found = ns.dedup(source, keep="longest", engine=ns.Spark(spark))
    assert found.stats.room["documents"] == "driver"
    assert expected == {(row.file, row.position) for row in found.removed().collect()} != set()
