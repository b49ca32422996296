"""Rows are called by a digest of their content: two of one name get others."""

from hashlib import sha256
from types import SimpleNamespace

import nearsame as ns
from nearsame.frames import documents
from nearsame.frames.naming import Renamed, renamed, renamings
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep
from tests.engines.spark.test_parity_with_local import corpus, decisions, frame


def test_rows_of_one_name_are_told_apart(spark, monkeypatch):
    """With names of six bits nearly all clash; the answer and the rows that stay are those of one machine."""
    monkeypatch.setattr(documents, "_BITS", 63)
    rows = corpus()
    here = ns.dedup(rows, ties="content", audit=False)
    there = ns.dedup(frame(spark, rows), engine=ns.Spark(spark), audit=False)
    assert len(there.run.state.corpus.names) > 50
    assert decisions(here.removals) == decisions(there.removals)
    expected = sorted(here.kept().select(["id", "text", "n"]).to_pylist(), key=repr)
    assert expected == sorted((row.asDict() for row in there.kept().collect()), key=repr)
    assert here.stats.removed == there.removed().count()
    there.release()


def test_only_rows_that_share_a_name_are_renamed(spark):
    """By all their bits, and always alike."""
    rows = [(1, 10), (1, -(1 << 63)), (2, 10), (3, 30), (3, 30)]
    features = spark.createDataFrame(rows, "row bigint, fp bigint")
    about = features.groupBy("row").agg({"fp": "min"}).toDF("row", "fp").join(
        features.groupBy("row").agg({"fp": "max"}).toDF("row", "other_fp"), "row"
    )  # fmt: skip
    names = renamings(features, about)
    assert [(1, -(1 << 63)), (1, 10)] == [(each.row, each.fp) for each in names]
    assert names == renamings(features, about)
    found = features.selectExpr("row", "fp", f"{renamed(names)} as name").collect()
    known = {(each.row, each.fp): each.name for each in names}
    assert [known.get((row.row, row.fp), row.row) for row in found] == [row.name for row in found]
    assert renamed(()) == "row"
    assert Renamed(1, 2, 3).name == 3


def test_the_name_of_a_row_is_the_digest_of_what_is_in_it(spark):
    """SHA-256 of its side and its values, each spelt so that it is known where it ends."""
    rows = spark.createDataFrame([("a", 1, ["x", None]), (None, None, None)], "s string, n int, many array<string>")
    side = documents.FrameSide(1, (SimpleNamespace(frame=rows),), Columns(), Keep.parse("first"))
    expected = []
    for spelt in (b"1,1:a,1,2[1:x,n]", b"1,n,n,n"):
        digest = sha256(spelt).digest()
        row, fp = (int.from_bytes(digest[at : at + 8], "big", signed=True) for at in (0, 8))
        expected.append((row & ((1 << 63) - 1), fp))
    assert expected == [(row.nearsame_row, row.nearsame_fp) for row in side.named(()).collect()]


def test_numbers_of_a_list_are_spelt_as_no_other_list_is(spark):
    """Of whole numbers and of fractions; of lists of lists; no list, an empty one, and one of nothing are three."""
    lists = [None, [], [None], [1], [1, None], [None, 1], [11], [1, 1], [-1, 1]]
    floats = [None, [], [None], [0.0], [-0.0], [float("nan")], [float("inf")], [1e300, 0.1]]
    for kind, values in (
        ("array<bigint>", lists),
        ("array<tinyint>", lists),
        ("array<double>", floats),
        ("array<float>", floats[:-1]),
        ("array<array<int>>", [None, [], [[]], [None], [[1], [2]], [[1, 2]], [[1, 2], None]]),
    ):
        rows = spark.createDataFrame([(value,) for value in values], f"many {kind}")
        side = documents.FrameSide(1, (SimpleNamespace(frame=rows),), Columns(), Keep.parse("first"))
        named = side.named(()).union(side.named(())).collect()
        assert len(values) == len({(row.nearsame_row, row.nearsame_fp) for row in named})
    (row,) = side.named(()).filter("size(many) = 2 and many[1] is null").collect()
    spelt = sha256(b"1,2[[1,2],n]").digest()
    assert row.nearsame_row == int.from_bytes(spelt[:8], "big") & ((1 << 63) - 1)
