"""Features beside an answer: the next day's documents are compared with what stayed, and none of its texts is read."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from tests.sparks import jobs_since, newest_job, with_damaged_footers

METHOD = ns.Jaccard(threshold=0.6, shingle_size=2)


def day(number, size=14):
    """Documents of one day: copies, near copies, texts of the day before, rows that are the same, and empty ones."""
    texts = [" ".join(f"{word}{at % 4}" for word in "abcdefghij") for at in range(number, number + size)]
    rows = [
        {"id": f"{number}.{at}", "text": f"{text} {'more' * (at % 3 == 0)}" if at % 5 else "", "n": (at * 7) % 5,
         "lang": "en" if at % 2 else None}
        for at, text in enumerate(texts)
    ]  # fmt: skip
    return pa.Table.from_pylist([*rows, rows[1], rows[5], rows[5]])


def lines(found):
    """Removals without what rows are called, and counts."""
    rows = found.removals if isinstance(found.removals, pa.Table) else found.removals.toArrow()
    told = sorted(map(repr, rows.select(["id", "witness_id", "similarity", "measure"]).to_pylist()))
    counts = found.stats.record()
    return told, {name: counts[name] for name in ("documents", "against", "removed", "kept", "clusters", "exact_copies",
                                                  "near_copies", "distinct", "empty", "text_bytes")}  # fmt: skip


@pytest.fixture
def engine(spark):
    """Spark, with nothing on the driver."""
    return ns.Spark(spark, driver_bytes=0)


@pytest.mark.parametrize(
    ("asked", "few"),
    [
        ({"method": METHOD, "keep": ("max:n", "longest")}, False),
        pytest.param({"method": METHOD, "keep": ("max:n", "longest"), "group_by": "lang"}, True, marks=pytest.mark.few),
        pytest.param(
            {"method": ns.MinHash(threshold=0.6, shingle_size=2, recall=0.99)},
            True,
            marks=[pytest.mark.few, pytest.mark.long],
        ),
        pytest.param({"method": METHOD, "group_by": "lang", "within": False}, False, marks=pytest.mark.long),
    ],
    ids=["jaccard", "groups, the first few", "minhash, the first few", "across"],
)
def test_what_is_remembered_is_as_good_as_the_documents(spark, engine, tmp_path, asked, few):
    """Whoever goes for a document of the day before, and by which similarity; three days in a row.

    Those of the first day, where they are few, were compared on the driver.
    """
    first = ns.dedup(
        spark.createDataFrame(day(0)), engine=ns.Spark(spark) if few else engine, **{**asked, "within": True}
    )
    assert few == (first.stats.room.get("documents") == "driver")
    first.write(tmp_path / "one", features=True)
    kept = spark.read.parquet(str(tmp_path / "one/kept")).toArrow()
    shutil.rmtree(tmp_path / "one/kept")  # nobody reads it
    second = ns.dedup(spark.createDataFrame(day(2)), against=tmp_path / "one", engine=engine, **asked)
    expected = ns.dedup(day(2), against=kept, ties="content", **asked)
    assert lines(expected) == lines(second)
    assert any(row["witness_id"].startswith("0.") for row in expected.removals.to_pylist())
    second.write(tmp_path / "two", features=True)
    both = [tmp_path / "one", tmp_path / "two"]
    third = ns.dedup(spark.createDataFrame(day(4)), against=both, engine=engine, **asked)
    kept = pa.concat_tables([kept, spark.read.parquet(str(tmp_path / "two/kept")).toArrow()])
    assert lines(ns.dedup(day(4), against=kept, ties="content", **asked)) == lines(third)
    assert None in third.examples(50).column("witness_text").to_pylist()
    for found in (first, second, third):
        found.release()


def test_other_settings_are_refused_with_their_names(spark, engine, tmp_path):
    """And layers, methods that weigh by all documents, few documents, and one machine."""
    found = ns.dedup(spark.createDataFrame(day(0)), method=METHOD, engine=engine)
    found.write(tmp_path / "one", features=True)
    found.release()
    asked = {"against": str(tmp_path / "one"), "engine": engine}
    for other, wrong in [
        ({"method": ns.Jaccard(threshold=0.7, shingle_size=2)}, "made with another threshold"),
        ({"method": METHOD, "keep": "longest"}, "made with another keep"),
        ({"method": METHOD, "use": "digest,text"}, "layers compare texts"),
        ({"method": ns.Jaccard(threshold=0.6, shingle_size=2, drop_boilerplate=2)}, "weighs or drops"),
    ]:
        with pytest.raises(ns.ConfigError, match=wrong):
            ns.dedup(["a"], **asked, **other)
    shutil.copytree(tmp_path / "one", tmp_path / "damaged")
    with_damaged_footers(tmp_path / "damaged/features")
    stats = (tmp_path / "damaged/stats.json").read_text()
    other = stats.replace('"kept": ', '"kept": "x", "other": ')
    for said, wrong in ((stats, "is not what was written"), (other, "does not say how many")):
        (tmp_path / "damaged/stats.json").write_text(said)
        with pytest.raises(ns.SourceError, match=wrong):
            ns.dedup(["a"], method=METHOD, engine=engine, against=str(tmp_path / "damaged"))
    parts = sorted((tmp_path / "one/features").glob("*.parquet"), key=lambda part: pq.read_metadata(part).num_rows)
    for lost in (parts[-1:], parts[:-1]):
        for part in lost:
            part.unlink()
        with pytest.raises(ns.SourceError, match="is not what was written"):
            ns.dedup(["a"], method=METHOD, **asked)
    found = ns.dedup(["a", "b"], method=METHOD, engine=engine, use="digest,text")
    with pytest.raises(ns.ConfigError, match="what layers remove"):
        found.write(tmp_path / "other", features=True)
    assert not (tmp_path / "other").exists()
    found.release()


@pytest.mark.few
def test_what_nobody_could_compare_with_is_not_remembered(spark, tmp_path):
    """Nor written without it: on one machine, behind layers, and by all documents together, though they are few."""
    for given, wrong in [
        ({}, "Spark only"),
        ({"engine": ns.Spark(spark), "use": "digest,text"}, "what layers remove"),
        ({"engine": ns.Spark(spark), "method": ns.Jaccard(drop_boilerplate=2)}, "weighs or drops"),
    ]:
        found = ns.dedup(["a", "b"], **{"method": METHOD, **given})
        with pytest.raises(ns.ConfigError, match=wrong):
            found.write(tmp_path / "other", features=True)
    assert not (tmp_path / "other").exists()


@pytest.mark.few
@pytest.mark.parametrize(
    "method",
    [METHOD, pytest.param(ns.MinHash(threshold=0.6, shingle_size=2, recall=0.99), marks=pytest.mark.long)],
)
def test_a_small_day_beside_a_small_output_comes_to_the_driver(method, spark, tmp_path):
    """With its documents, where they are as they were written; the answer is that of features."""
    engine, asked = ns.Spark(spark), {"method": method, "keep": ("max:n", "longest"), "group_by": "lang"}
    first = ns.dedup(spark.createDataFrame(day(0)), engine=engine, **asked)
    first.write(tmp_path / "one", features=True)
    before = newest_job(spark)
    found = ns.dedup(spark.createDataFrame(day(2)), against=tmp_path / "one", engine=engine, **asked)
    assert found.stats.room["documents"] == "driver"
    assert len(jobs_since(spark, before)) <= 9
    by_features = ns.dedup(
        spark.createDataFrame(day(2)), against=tmp_path / "one", engine=ns.Spark(spark, driver_bytes=0), **asked
    )
    assert "documents" not in by_features.stats.room
    assert lines(by_features) == lines(found)
    assert None not in found.examples(50).column("witness_text").to_pylist()
    found.write(tmp_path / "two", features=True)
    third = ns.dedup(
        spark.createDataFrame(day(4)), against=[tmp_path / "one", tmp_path / "two"], engine=engine, **asked
    )
    assert third.stats.room["documents"] == "driver"
    part = next((tmp_path / "one/kept").glob("*.parquet"))
    later = (tmp_path / "one/stats.json").stat().st_mtime + 1
    os.utime(part, (later, later))  # somebody has written there
    again = ns.dedup(spark.createDataFrame(day(2)), against=tmp_path / "one", engine=engine, **asked)
    assert "documents" not in again.stats.room
    assert lines(by_features) == lines(again)
    for each in (first, found, by_features, third, again):
        each.release()
