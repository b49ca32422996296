"""Which files of which places Spark reads for us, and as what."""

import gzip
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.spark.confs import by_default
from nearsame.engines.spark.reading import UNREAD, read

_ROWS = [{"id": "a", "text": "one two"}, {"id": "b", "text": "three"}]
_LINES = "".join(json.dumps(row) + "\n" for row in _ROWS)
_TABS = "id\ttext\na\tone, two\nb\tthree\n"
_SAME = ["one two", "three"]


def _texts(spark, *sources, **given):
    return sorted(row["text"] for each in read(spark, sources, **given) for row in each.frame.collect())


@pytest.mark.parametrize("name", ["text", "csv", "json", "orc", "parquet"])
def test_a_folder_whose_name_is_that_of_a_format_is_what_its_files_are(spark, tmp_path, name):
    """Only what comes after a dot is an ending."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "x.jsonl").write_text(_LINES, "utf-8")
    assert _texts(spark, str(tmp_path / name)) == _SAME


def test_a_folder_of_tab_separated_files_is_read_with_tabs(spark, tmp_path):
    """As a file of that name is, packed or not."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.tsv").write_text(_TABS, "utf-8")
    (tmp_path / "folder" / "y.tsv.gz").write_bytes(gzip.compress(_TABS.encode()))
    assert _texts(spark, str(tmp_path / "folder")) == ["one, two", "one, two", "three", "three"]
    assert _texts(spark, str(tmp_path / "folder" / "y.tsv.gz")) == ["one, two", "three"]


def test_commas_and_tabs_in_one_folder_are_refused(spark, tmp_path):
    """They are two formats."""
    (tmp_path / "x.tsv").write_text(_TABS, "utf-8")
    (tmp_path / "y.csv").write_text("id,text\na,b\n", "utf-8")
    with pytest.raises(ns.SourceError, match=r"several formats \(csv, tsv\)"):
        read(spark, [str(tmp_path)])


def test_partitions_are_read_and_their_values_are_columns(spark, tmp_path):
    """Folders are gone down into until there are files."""
    for day, row in enumerate(_ROWS):
        (tmp_path / "h" / f"day={day}" / "hour=1").mkdir(parents=True)
        (tmp_path / "h" / f"day={day}" / "hour=1" / "p.jsonl").write_text(json.dumps(row), "utf-8")
    (frame,) = (each.frame for each in read(spark, [str(tmp_path / "h")]))
    assert sorted((row["text"], row["day"]) for row in frame.collect()) == [("one two", 0), ("three", 1)]


def test_files_in_folders_of_any_name_are_read(spark, tmp_path):
    """Those beside these folders, too."""
    (tmp_path / "h" / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "h" / "x.jsonl").write_text(json.dumps(_ROWS[0]), "utf-8")
    (tmp_path / "h" / "deep" / "deeper" / "y.jsonl").write_text(json.dumps(_ROWS[1]), "utf-8")
    assert _texts(spark, str(tmp_path / "h")) == _SAME


def test_other_files_of_a_folder_are_passed_over(spark, tmp_path):
    """They are not read as the one format that is known."""
    (tmp_path / "a.jsonl").write_text(_LINES, "utf-8")
    (tmp_path / "README.log").write_text("not a record\n", "utf-8")
    (tmp_path / "b.JSON.gz").write_bytes(gzip.compress(b'{"id": "c", "text": "four"}\n'))
    (given,) = read(spark, [str(tmp_path)])
    assert UNREAD not in given.frame.columns
    assert given.ignored == 1
    assert sorted(row["text"] for row in given.frame.collect()) == ["four", *_SAME]


def test_a_text_file_is_one_document_with_its_path_as_id(spark, tmp_path):
    """As on one machine."""
    (tmp_path / "one.txt").write_text("first line\nsecond line\n", "utf-8")
    ((name, text),) = ((row["id"], row["text"]) for row in read(spark, [str(tmp_path)])[0].frame.collect())
    assert name.endswith("/one.txt")
    assert text == "first line\nsecond line\n"


def test_packed_text_files_are_of_no_known_format(spark, tmp_path):
    """As on one machine: passed over beside others, refused alone."""
    packed = tmp_path / "two.txt.gz"
    packed.write_bytes(gzip.compress(b"another text"))
    for path in (str(tmp_path), str(packed)):
        with pytest.raises(ns.SourceError, match=r"none of a known format|an unknown format"):
            ns.dedup(path)
        with pytest.raises(ns.SourceError, match=r"has no known ending|holds no file of a known format"):
            read(spark, [path])
    (tmp_path / "one.txt").write_text("a text", "utf-8")
    here, (there,) = ns.dedup(str(tmp_path)), read(spark, [str(tmp_path)])
    assert (1, 1) == (here.stats.documents, here.stats.ignored) == (there.frame.count(), there.ignored)


def test_files_with_the_same_columns_are_one_frame(spark, tmp_path):
    """A frame for each of a thousand files would take minutes to plan."""
    names = [str(tmp_path / f"{number}.jsonl") for number in range(5)]
    for name in names:
        (tmp_path / name).write_text(_LINES, "utf-8")
    assert len(read(spark, names)) == 1
    assert _texts(spark, *names) == sorted(_SAME * 5)


def test_headers_in_another_order_are_read_by_name(spark, tmp_path):
    """Spark alone would take the first header for all files."""
    (tmp_path / "x.csv").write_text("id,text\na,one two\n", "utf-8")
    (tmp_path / "y.csv").write_text("text,id\nthree,b\n", "utf-8")
    assert _texts(spark, str(tmp_path / "x.csv"), str(tmp_path / "y.csv")) == _SAME


def test_parquet_files_with_other_columns_are_frames_of_their_own(spark, tmp_path):
    """Spark alone would read the columns of one, and null for the others'."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["a"], "text": ["one"]}), tmp_path / "x.parquet")
    pq.write_table(pa.table({"id": ["b"], "content": ["two"]}), tmp_path / "y.parquet")
    pq.write_table(pa.table({"id": ["c"], "text": ["three"]}), tmp_path / "z.parquet")
    found = read(spark, [str(tmp_path / f"{name}.parquet") for name in "xyz"])
    assert [each.frame.columns for each in found] == [["id", "text"], ["id", "content"]]
    assert [each.frame.count() for each in found] == [2, 1]


@pytest.mark.parametrize("name", ["x.jsonl.zst", "x.jsonl.xz", "x.csv.zst", "x.csv.xz"])
def test_what_spark_cannot_unpack_is_an_error_that_says_so(spark, tmp_path, name):
    """In one line, before anything is read; in a folder, too."""
    (tmp_path / name).write_bytes(b"\x28\xb5\x2f\xfd")
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(ns.SourceError, match=f"this Spark cannot read .{name.rpartition('.')[2]}"):
            read(spark, [str(path)])


def test_what_is_no_parquet_is_an_error_in_one_line(spark, tmp_path):
    """With no trace of Java."""
    (tmp_path / "x.parquet").write_text("no Parquet at all, whatever it is called", "utf-8")
    with pytest.raises(ns.SourceError, match=r"x\.parquet") as caught:
        read(spark, [str(tmp_path / "x.parquet")])
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "warc"])
def test_a_file_is_named_once(spark, tmp_path, ending):
    """As on one machine: not again, and not in a folder or by a pattern that has it, however it is spelt."""
    home = tmp_path / "h"
    for name in ("a", "sub/b", "_hidden/c"):
        file = home / f"{name}.{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        if ending == "parquet":
            pq.write_table(pa.Table.from_pylist(_ROWS), file)
        else:
            file.write_text(_LINES if ending == "jsonl" else "text\na\n" if ending == "csv" else "")
    one, other = f"{home}/a.{ending}", f"{home}/sub/b.{ending}"
    pairs = [(one, one), (home, other), (other, home), (f"{home}/*.{ending}", f"file://{one}"), (home, f"{home}/sub")]
    for pair in pairs:
        with pytest.raises(ns.ConfigError, match="is named twice") as raised:
            read(spark, pair)
        assert "Name each file once" in raised.value.hint
    assert [] != read(spark, [home, f"{home}/_hidden/c.{ending}"])
    assert [] != read(spark, [one, other])


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_a_column_that_files_and_folders_say_is_refused(spark, tmp_path, setting, kind, version):
    """On one machine what files say counts; Spark takes the folders', and another document would stay."""
    if version == 2:
        setting("spark.sql.sources.useV1SourceList", "")
    for year in (2001, 2002):
        (tmp_path / f"h/year={year}").mkdir(parents=True)
        frame = pd.DataFrame({"id": [f"{year}"], "text": ["a b"], "year": [4000 - year]})
        path = tmp_path / f"h/year={year}/a.{kind}"
        if kind == "parquet":
            frame.to_parquet(path)
        else:
            path.write_text(
                frame.to_json(orient="records", lines=True) if kind == "jsonl" else frame.to_csv(index=False)
            )
    with pytest.raises(ns.ColumnError, match="column 'year' stands in files, and names of their folders say it, too"):
        ns.dedup(str(tmp_path / "h"), engine=ns.Spark(spark))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_what_folders_say_is_a_whole_number_or_a_text(spark, tmp_path, setting, kind, version):
    """As on one machine: `01` beside `2.50` is not 1, and a date is what is written."""
    if version == 2:
        setting("spark.sql.sources.useV1SourceList", "")
    for k, day, n in (("01", "2024-01-01", 1), ("1", "2024-01-02", 2), ("2.50", "2024-01-03", 3)):
        home = tmp_path / f"h/k={k}/day={day}/n={n}"
        home.mkdir(parents=True)
        rows = pa.table({"id": [k], "text": ["a b c"]})
        pq.write_table(rows, home / "a.parquet") if kind == "parquet" else (home / "a.jsonl").write_text(
            json.dumps(rows.to_pylist()[0])
        )
    names = ["id", "text", "k", "day", "n"]
    here = ns.dedup(str(tmp_path / "h"), group_by="k").kept().select(names).to_pylist()
    there = ns.dedup(str(tmp_path / "h"), group_by="k", engine=ns.Spark(spark)).kept().select(names).collect()
    assert here == sorted((row.asDict() for row in there), key=lambda row: row["id"])
    assert 3 == len(here)


def test_a_header_has_a_name_once(spark, tmp_path):
    """Spark would call the second one x3, in `kept/`, too."""
    headers = ["id,text,x,x", "id,text,x,X", "id,text,TEXT", "id,text,text"]
    for header in (*headers, "\ufefftext,text", '\ufeff"text",id,"Text"'):
        (tmp_path / "a.csv").write_text(f"{header}\n1,a b,c,d\n" if header != "id,text,text" else header)
        with pytest.raises(ns.ColumnError, match=r"a\.csv has the columns '.*', '.*', which Spark takes for one"):
            ns.dedup(str(tmp_path / "a.csv"), engine=ns.Spark(spark))


def test_ids_of_texts_are_paths(spark, tmp_path):
    """No sign is escaped, or another one would come first."""
    names = ["a b.txt", "a!b.txt", "a%b.txt", "a+b.txt"]
    for name in names:
        (tmp_path / name).write_text("the same words")
    found = ns.dedup(str(tmp_path), engine=ns.Spark(spark))
    assert [str(tmp_path / "a b.txt")] == [row.id for row in found.kept().collect()]
    assert sorted(str(tmp_path / name) for name in names[1:]) == sorted(row.id for row in found.removals.collect())


def test_a_text_may_lie_in_a_folder_of_any_name(spark, tmp_path):
    """Spark's reader of texts has a column `value`."""
    (tmp_path / "value=1").mkdir()
    (tmp_path / "value=1" / "a.txt").write_text("hello")
    found = ns.dedup(str(tmp_path), engine=ns.Spark(spark)).kept().collect()
    assert [("hello", 1)] == [(row.text, row.value) for row in found]


def test_what_folders_say_is_of_one_type_in_all_files(spark, tmp_path):
    """Also where Spark has to read them apart, as by the ends of their rows."""
    for k, text in (("01", "id,text\n1,a\n"), ("2.50", "id,text\r\n2,b\r\n")):
        (tmp_path / f"k={k}").mkdir()
        (tmp_path / f"k={k}" / "a.csv").write_bytes(text.encode())
    found = ns.dedup(str(tmp_path), engine=ns.Spark(spark)).kept().collect()
    assert ["01", "2.50"] == sorted(row.k for row in found)
    assert ["01", "2.50"] == sorted(ns.dedup(str(tmp_path)).kept().column("k").to_pylist())


def test_a_setting_by_default_is_shared_by_who_needs_it(spark, setting):
    """Two runs at once in a session; what somebody has set stays."""
    name, own = "spark.sql.parquet.outputTimestampType", spark.conf.get("spark.sql.parquet.outputTimestampType")
    with by_default(spark, name, "TIMESTAMP_MICROS"):
        with by_default(spark, name, "TIMESTAMP_MICROS"):
            pass
        assert "TIMESTAMP_MICROS" == spark.conf.get(name)
    assert own == spark.conf.get(name)
    setting(name, "TIMESTAMP_MILLIS")
    with by_default(spark, name, "TIMESTAMP_MICROS"):
        assert "TIMESTAMP_MILLIS" == spark.conf.get(name)
    assert "TIMESTAMP_MILLIS" == spark.conf.get(name)
