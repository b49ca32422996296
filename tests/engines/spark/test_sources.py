"""What Spark reads for us, and what it is refused."""

import json

import pytest

import nearsame as ns
from nearsame.engines.spark.reading import read

_ROWS = [{"id": "a", "text": "one two three four five six"}, {"id": "b", "text": "one two three four five six"}]


@pytest.fixture
def files(tmp_path, spark):
    """The same two documents in every format, by ending."""
    given = spark.createDataFrame(_ROWS)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    (tmp_path / "x.csv").write_text('id,text\na,one two\nb,"one\n""two"""\n', "utf-8")
    (tmp_path / "x.txt").write_text("one two\nthree\n", "utf-8")
    given.write.parquet(str(tmp_path / "folder"))
    return tmp_path


def test_paths_are_read_by_their_endings_and_folders_by_those_of_their_files(spark, files):
    """JSON lines, CSV with line breaks in quotes, a text file as one document, a folder of Parquet parts, a pattern."""
    texts = {
        name: sorted(row["text"] for row in read(spark, [str(files / name)])[0].frame.collect())
        for name in ("x.jsonl", "x.csv", "x.txt", "folder", "x.json*")
    }
    same = [row["text"] for row in _ROWS]
    assert {"x.jsonl": same, "x.csv": ['one\n"two"', "one two"], "x.txt": ["one two\nthree\n"], "folder": same,
            "x.json*": same} == texts  # fmt: skip


@pytest.mark.parametrize("path", ["nothing.parquet", "nowhere", "x.unknown"])
def test_a_path_that_cannot_be_read_is_an_error_in_one_line(spark, tmp_path, path):
    """With what Spark says of it, and no trace of Java."""
    (tmp_path / "x.unknown").write_text("?", "utf-8")
    with pytest.raises(ns.SourceError) as caught:
        read(spark, [str(tmp_path / path)])
    assert path in caught.value.message
    assert "\n" not in caught.value.message


def test_a_list_of_texts_is_no_source_of_spark(spark):
    """And the error says what is."""
    with pytest.raises(ns.SourceError, match="source of type list is neither a Spark DataFrame nor a path"):
        ns.dedup(["a", "b"], engine=ns.Spark(spark))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 2}, "threads=2 is about one machine"),
        ({"memory": "1GB"}, "memory='1GB' is about one machine"),
        ({"workdir": "w"}, "workdir='w' is about one machine"),
        ({"ties": "reading"}, "ties='reading' on Spark"),
        ({"keep": "last"}, "keep='last' and ties='content'"),
        ({"engine": "spark"}, "engine='spark' is not an engine"),
        ({"method": ns.SimHash(search="adjacent")}, "search=adjacent"),
    ],
)
def test_what_spark_cannot_do_is_refused(spark, given, message):
    """Never ignored."""
    frame = spark.createDataFrame(_ROWS)
    with pytest.raises(ns.ConfigError, match=message):
        ns.dedup(frame, **{"engine": ns.Spark(spark), **given})


@pytest.mark.parametrize(
    "given", [{"partitions": 0}, {"rounds": -1}, {"broadcast_bytes": "much"}, {"driver_bytes": "?"}]
)
def test_settings_are_checked_before_anything_starts(given):
    """By their names and values."""
    with pytest.raises(ns.ConfigError, match=str(next(iter(given.values()))).replace("?", "[?]")):
        ns.Spark(**given)
