"""What is handed out is what was decided: no row that nobody compared, and of equal rows as many as stay."""

import random
from typing import Any

import pytest
from pyspark.sql.functions import udf

import nearsame as ns
from nearsame.frames import records

_CHANGED = "the source changed: it has rows that were not there when the documents were compared"


@pytest.fixture(params=["few go", "many go"])
def sizes(request, monkeypatch):
    """What goes is sent to all workers, and every row checked; or documents are shuffled."""
    monkeypatch.setattr(records, "FEW_ROWS", {"few go": 1_000_000, "many go": 3}[request.param])


def templates(spark: Any) -> Any:
    """Sixty texts, three of each, and some rows that are the same in every column."""
    texts = [(f"{number}", f"one two three four five six seven eight {number // 3}") for number in range(60)]
    return spark.createDataFrame([*texts, *texts[:6], texts[0]], "id string, text string")


def test_rows_that_nobody_compared_are_not_handed_out(spark, sizes, tmp_path):
    """Ids that a function draws, which does not say so, are others each time that it is asked."""
    draw = udf(lambda text: f"{text}{random.random()}", "string")
    rows = templates(spark).select("text", draw("text").alias("id"))
    found = ns.dedup(rows, engine=ns.Spark(spark), audit=False)
    assert 60 > found.stats.kept
    for ask in (found.kept().count, found.removed().collect, lambda: found.kept().select("text").collect()):
        with pytest.raises(Exception, match=_CHANGED):
            ask()
    for ask in (lambda: found.write(tmp_path / "out"), found.examples):
        with pytest.raises(ns.SourceError, match="the source changed") as caught:
            ask()
        assert 1 == len(str(caught.value).splitlines())
    assert [] == list(tmp_path.iterdir())
    found.release()


def test_what_layers_have_left_is_found_again(spark):
    """The method reads them once more: what it does not find would be compared with nothing."""
    draw = udf(lambda text: f"{text}{random.random()}", "string")
    rows = templates(spark).select("text", draw("text").alias("id"))
    told = "^the source changed: 20 documents were left to compare, and 0 were read again"
    with pytest.raises(ns.SourceError, match=told):
        ns.dedup(rows, use="digest,text", engine=ns.Spark(spark), audit=False)


def test_of_many_rows_some_are_checked(spark, monkeypatch):
    """The numbers of what goes are few; of the others every twentieth is looked at."""
    monkeypatch.setattr(records, "FEW_ROWS", 8)
    draw = udf(lambda number: f"{number} {random.random()}", "string")
    words = "concat_ws(' ', transform(sequence(1, 9), x -> hash(id, x))) as text"
    texts = spark.range(160).selectExpr("id as number", words)
    found = ns.dedup(texts.select("text", draw("number").alias("id")), engine=ns.Spark(spark), audit=False)
    assert 160 == found.stats.kept
    assert 20 == found._removals._records._known[1]
    with pytest.raises(Exception, match=_CHANGED):
        found.kept().collect()
    found.release()


def test_what_stays_and_what_goes_are_all_that_was_given(spark, sizes):
    """Each row once, and of copies as many as there were."""
    rows = templates(spark)
    found = ns.dedup(rows, engine=ns.Spark(spark), audit=False)
    kept, removed = ([tuple(row) for row in each.collect()] for each in (found.kept(), found.removed()))
    assert sorted(map(tuple, rows.collect())) == sorted([*kept, *removed])
    assert (found.stats.kept, found.stats.removed) == (len(kept), len(removed))
    assert ["id", "text"] == found.kept().columns == found.removed().columns
    found.release()
