"""`nearsame dedup -o FILE` and `-o -`: what stays as one file, or on standard output."""

import gzip
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.sources import Columns, jsonvalues, open_parts

from .commands import documents, leftovers, run, write_jsonl

NEARSAME = [sys.executable, "-m", "nearsame"]
KEPT = ["a", "b"]


@pytest.fixture
def source(tmp_path):
    """A file of four documents, of which two stay."""
    return write_jsonl(tmp_path / "in.jsonl", documents())


def read(path):
    """The ids of a file, read as a source."""
    (part,) = open_parts([str(path)], columns=Columns())
    return [name for batch in part.read(Columns(), pytest.fail) for name in batch.column("id").to_pylist()]


def test_a_dash_prints_what_stays_and_nothing_else(source):
    """The lines are those of the source to the byte; the summary goes to standard error."""
    done = run("dedup", source, "-o", "-")
    lines = source.read_text("utf-8").splitlines(keepends=True)
    assert (0, "".join(lines[:2])) == (done.exit_code, done.stdout)
    assert "kept                     2" in done.stderr


def test_a_pipe_of_two_runs_removes_nothing_more(source):
    """What one prints the next reads."""
    first = run("dedup", "-", "-o", "-", "-q", stdin=source.read_bytes())
    assert "" == first.stderr
    second = run("dedup", "-", "-o", "-", stdin=first.stdout_bytes)
    assert (first.stdout, 0) == (second.stdout, second.exit_code)


@pytest.mark.parametrize("suffix", ["json", "jsonl.gz", "ndjson.zst", "csv", "tsv", "csv.xz", "parquet", "arrow"])
def test_the_ending_chooses_the_format(suffix, source, tmp_path):
    """One file appears, and nothing else."""
    out = tmp_path / "out" / f"kept.{suffix}"
    out.parent.mkdir()
    done = run("dedup", source, "-o", out)
    assert (0, KEPT) == (done.exit_code, read(out))
    assert [out] == list(out.parent.iterdir())
    assert f"kept.{suffix}\n" in done.stdout.replace("\n", "", done.stdout.count("\n") - 1)


def test_a_source_in_the_same_format_is_copied_as_it_is(tmp_path):
    """CSV to the byte, blanks and quotes included; Parquet with its schema."""
    texts = [record["text"] for record in documents()]
    source = tmp_path / "in.csv"
    source.write_bytes("".join(["id,text\r\n", *(f'"{n}" ,"{text}"\r\n' for n, text in enumerate(texts))]).encode())
    assert 0 == run("dedup", source, "-o", tmp_path / "out.csv").exit_code
    lines = source.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[:3]) == (tmp_path / "out.csv").read_bytes()
    table = pa.table({"id": pa.array(range(4), pa.int8()), "text": texts}).replace_schema_metadata({"of": "mine"})
    pq.write_table(table, tmp_path / "in.parquet")
    assert 0 == run("dedup", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet").exit_code
    kept = pq.read_table(tmp_path / "out.parquet")
    own = {name: said for name, said in kept.schema.metadata.items() if name != b"nearsame"}  # how it was made
    assert table.slice(0, 2).equals(kept.replace_schema_metadata(own), check_metadata=True)


def test_several_sources_of_several_formats_become_one_file(source, tmp_path):
    """JSON lines keep each record's own columns; a file of columns has them all."""
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.txt").write_text("nothing like the others\n", "utf-8")
    (texts / "two.txt").write_text("nothing like the others\n", "utf-8")
    table = pa.table({"id": ["p"], "text": ["a text of its own"], "year": [2026]})
    pq.write_table(table, tmp_path / "more.parquet")
    given = (source, tmp_path / "more.parquet", texts)
    done = run("dedup", *given, "-o", "-")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["a", "b", "p", "one.txt"] == [record["id"] for record in records]
    assert [{"id", "text"}, {"id", "text"}, {"id", "text", "year"}, {"id", "text"}] == [set(r) for r in records]
    assert 0 == run("dedup", *given, "-o", tmp_path / "all.parquet").exit_code
    assert [None, None, 2026, None] == pq.read_table(tmp_path / "all.parquet").column("year").to_pylist()


def test_lines_that_do_not_end_are_ended_between_sources(tmp_path):
    """The last line of a file need not have an end; a byte order mark stays with its file."""
    for name, text in (("a", "one text"), ("b", "and another")):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps({"id": name, "text": text}).encode())
    done = run("dedup", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-o", "-")
    assert ["a", "b"] == [json.loads(line)["id"] for line in done.stdout.splitlines()]


def test_lines_that_cannot_be_read_stay_unless_they_are_to_go(source, tmp_path):
    """As in a folder: exit code 3 tells of them; a file of columns has no room for them."""
    broken = b'{"id": "x", "text": \n'
    source.write_bytes(broken + source.read_bytes())
    done = run("dedup", source, "-o", "-")
    assert (3, True) == (done.exit_code, done.stdout_bytes.startswith(broken))
    dropped = run("dedup", source, "-o", "-", "--drop-unreadable")
    assert (3, done.stdout_bytes.removeprefix(broken)) == (dropped.exit_code, dropped.stdout_bytes)
    assert 3 == run("dedup", source, "-o", tmp_path / "out.parquet").exit_code
    assert KEPT == read(tmp_path / "out.parquet")


def test_pages_come_as_their_texts(tmp_path):
    """With what is known beside them."""
    (tmp_path / "p.html").write_text("<title>T</title><main><p>Some text of a page.</p></main>", "utf-8")
    (record,) = (json.loads(line) for line in run("dedup", tmp_path / "p.html", "-o", "-").stdout.splitlines())
    assert ("p.html", "Some text of a page.") == (record["id"], record["text"].strip())


def test_what_has_no_form_in_json_names_its_column(tmp_path):
    """And nothing is written."""
    pq.write_table(pa.table({"text": ["a"], "raw": [b"\xff"]}), tmp_path / "in.parquet")
    done = run("dedup", tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl")
    assert 2 == done.exit_code
    assert "column 'raw' is binary" in done.stderr
    assert ["in.parquet"] == sorted(path.name for path in tmp_path.iterdir())


def test_times_finer_than_python_has_come_as_text(tmp_path):
    """Nothing is cut off."""
    times = pa.array([1, 10**9], pa.timestamp("ns"))
    pq.write_table(pa.table({"text": ["a", "b"], "at": times}), tmp_path / "in.parquet")
    done = run("dedup", tmp_path / "in.parquet", "-o", "-")
    assert ["1970-01-01T00:00:00.000000001", "1970-01-01T00:00:01.000000000"] == [
        json.loads(line)["at"] for line in done.stdout.splitlines()
    ]


@pytest.mark.parametrize("option", ["--pairs", "--annotate", "--copy", "--revisits"])
@pytest.mark.parametrize("place", ["-", "out.jsonl"])
def test_what_only_a_folder_has_is_refused_before_the_run(option, place, source):
    """The message names the option."""
    done = run("dedup", source, "-o", place, option)
    assert 2 == done.exit_code
    assert f"{option}: that takes a folder" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "-", "--json"], "both want standard output"),
        (["-o", "-", "--overwrite"], "--overwrite does nothing with -o -"),
        (["-o", "out.jsonl", "--engine", "spark"], "--engine spark: that takes a folder, and out.jsonl is one file"),
        (["-o", "-", "--engine", "spark"], "--engine spark: that takes a folder, and - is standard output"),
        (["-o", "out.warc.gz"], "such files are read, but not written"),
    ],
)
def test_what_cannot_be_is_refused_before_the_run(arguments, told, source):
    """With exit code 2."""
    done = run("dedup", source, *arguments)
    assert (2, "") == (done.exit_code, done.stdout)
    assert told in done.stderr


def test_a_file_is_never_written_over_a_source(source, tmp_path):
    """Nor where a pattern finds it, nor over another without --overwrite."""
    before = source.read_bytes()
    assert 2 == run("dedup", source, "-o", source, "--overwrite").exit_code
    assert "which the next run would read" in run("dedup", tmp_path / "*.jsonl", "-o", tmp_path / "out.jsonl").stderr
    other = tmp_path / "there.csv"
    other.write_text("mine", "utf-8")
    assert 2 == run("dedup", source, "-o", other).exit_code
    assert ("mine", before) == (other.read_text("utf-8"), source.read_bytes())
    assert 0 == run("dedup", source, "-o", other, "--overwrite").exit_code
    assert KEPT == read(other)
    assert [] == leftovers(tmp_path)


def test_a_folder_that_is_there_is_not_replaced_by_a_file(source, tmp_path):
    """It may be an output of an earlier version."""
    (tmp_path / "out.jsonl").mkdir()
    done = run("dedup", source, "-o", tmp_path / "out.jsonl", "--overwrite")
    assert 2 == done.exit_code
    assert "is a folder, and a file is to be written" in done.stderr


def test_a_dry_run_prints_no_document(source):
    """Its examples go to standard output, as ever."""
    done = run("dedup", source, "-o", "-", "--dry-run")
    assert "Nothing was written" in done.stdout
    assert "{" not in done.stdout


def test_a_reader_that_goes_away_ends_the_run_quietly(tmp_path):
    """Exit code 141, and nothing on standard error but the summary of nothing."""
    records = [{"id": str(n), "text": f"text number {n} of many " + "x" * 500} for n in range(5_000)]
    source = write_jsonl(tmp_path / "in.jsonl", records)
    process = subprocess.Popen(
        [*NEARSAME, "dedup", source, "-o", "-", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stdout.read(10)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (141, b"") == (process.wait(), said)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux's")  # noqa: PTH110  (at import)
def test_a_full_disk_behind_standard_output_is_told(source):
    """One line and a hint, not a traceback."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123  (a device)
        done = subprocess.run(
            [*NEARSAME, "dedup", source, "-o", "-", "-q"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert 2 == done.returncode
    assert done.stderr.startswith(b"error: No space left on device\nhint: ")
    assert 2 == done.stderr.count(b"\n")


def test_the_library_obeys_the_same_law(tmp_path, capsysbinary):
    """`write` makes a file, a folder, or prints."""
    found = ns.dedup([{"id": 1, "text": "a rose"}, {"id": 2, "text": "a rose"}, {"id": 3, "text": "a daisy"}])
    stats = found.write(tmp_path / "out.jsonl.gz")
    lines = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes())
    assert [1, 3] == [json.loads(line)["id"] for line in lines.splitlines()]
    assert (2, (tmp_path / "out.jsonl.gz").stat().st_size) == tuple(stats.bytes["writing"].values())
    found.write("-")
    assert lines == capsysbinary.readouterr().out
    found.write(tmp_path / "out")
    assert (tmp_path / "out" / "kept").is_dir()
    with pytest.raises(ns.ConfigError, match="annotate"):
        found.write(tmp_path / "more.csv", annotate=True)


def test_nothing_that_stays_is_an_empty_file(tmp_path):
    """Not an error."""
    source = write_jsonl(tmp_path / "in.jsonl", documents()[:1])
    assert 0 == run("dedup", source, "--against", write_jsonl(tmp_path / "old.jsonl", documents()), "-o", "-").exit_code
    for name in ("out.jsonl", "out.csv", "out.parquet"):
        done = run("dedup", source, "--against", tmp_path / "old.jsonl", "-o", tmp_path / name)
        assert 0 == done.exit_code, done.stderr


@pytest.mark.parametrize("name", ["pairs.jsonl.gz", "pairs.csv.zst", "pairs.tsv", "pairs.arrow", "pairs.orc"])
def test_pairs_go_by_the_same_endings(name, source, tmp_path):
    """What `dedup` can write, `pairs` can."""
    done = run("pairs", source, "-o", tmp_path / name)
    assert 0 == done.exit_code, done.stderr
    table = open_parts([str(tmp_path / name)], columns=Columns(text="a_id"))[0]
    assert 3 == sum(map(len, table.read(Columns(text="a_id"), pytest.fail)))


def test_verify_says_what_it_cannot_prove(source, tmp_path):
    """A file has no decisions in it."""
    run("dedup", source, "-o", tmp_path / "out.jsonl")
    done = run("verify", tmp_path / "out.jsonl")
    assert 3 == done.exit_code
    assert "is a file, and an output of dedup that can be read again is a folder" in done.stderr


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "tsv"])
def test_a_file_of_no_records_has_the_columns_of_those_that_went(ending, tmp_path):
    """As on a day that brings nothing new; with their types."""
    source = write_jsonl(tmp_path / "today.jsonl", [{"id": "a", "text": "a rose is a rose", "n": 1, "tags": "x"}])
    source.write_text(f"{source.read_text('utf-8')}this is no record\n", "utf-8")
    known = write_jsonl(tmp_path / "known.jsonl", [{"text": "a rose is a rose"}])
    out = tmp_path / f"new.{ending}"
    assert 3 == run("dedup", source, "--against", known, "-o", out, "-q").exit_code
    found = ns.dedup(source, against=known)
    assert (0, found.removed().schema.names[:4]) == (len(found.kept()), ["id", "text", "n", "tags"])
    assert [pa.string(), pa.string(), pa.int64(), pa.string()] == found.kept().schema.types
    assert 0 == run("dedup", out, "--dry-run", "-q").exit_code


def test_what_ends_a_line_elsewhere_is_white_space_in_json(tmp_path):
    """Records with values of several types are read by themselves, and each is a line."""
    lines = ['{"id":"a",\r"text":"a rose is a rose","v":1}', '{"id":"b","text":"a daisy is none","v":1.5}']
    (tmp_path / "in.jsonl").write_bytes("\n".join([*lines, '{"id":"c","text":"nor a tulip","v":"1"}']).encode())
    done = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out.csv", "-q")
    assert (3, True) == (done.exit_code, "the values of 'v' are not of one type" in done.stderr)


@pytest.mark.parametrize(("ending", "column"), [("csv", pa.array([[1]])), ("orc", pa.nulls(1))])
def test_a_column_that_a_format_has_no_form_for_is_named(ending, column, tmp_path):
    """As in JSON."""
    pq.write_table(pa.table({"text": ["a rose"], "odd one": column}), tmp_path / "in.parquet")
    done = run("dedup", tmp_path / "in.parquet", "-o", tmp_path / f"out.{ending}", "-q")
    assert (2, True) == (done.exit_code, "column 'odd one' cannot be written in this format" in done.stderr)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_long_record_of_rows_is_converted(ending, tmp_path):
    """One of more bytes than Arrow parses at once by itself."""
    mark = "," if ending == "csv" else "\t"
    rows = ("id", "text"), ("a", "word " * 500_000), ("b", "a rose"), ("c", "a rose")
    (tmp_path / f"in.{ending}").write_text("".join(f"{mark.join(row)}\n" for row in rows))
    done = run("dedup", tmp_path / f"in.{ending}", "-o", tmp_path / "kept.jsonl")
    assert (0, ["a", "b"]) == (done.exit_code, read(tmp_path / "kept.jsonl"))


def test_more_lines_than_are_parsed_at_once_are_converted(tmp_path, monkeypatch):
    """Arrow takes 2 GB; a key may come late."""
    monkeypatch.setattr(jsonvalues, "MOST_BLOCK", 1 << 10)
    rows = [{"id": at, "text": f"text {at}", **({"late": "yes"} if at > 90 else {})} for at in range(100)]
    found = ns.dedup(write_jsonl(tmp_path / "in.jsonl", rows), method="digest").kept()
    assert [row.get("late") for row in rows] == found.column("late").to_pylist()


def test_dictionaries_of_several_sources_are_one_in_arrow(tmp_path):
    """Each file of Parquet has its own, deep inside, too."""
    for name, kinds in (("a", ["de", "en"]), ("b", ["fr", "en"])):
        column = pa.array(kinds).dictionary_encode()
        inner = pa.StructArray.from_arrays([column], ["kind"])
        texts = [f"{name} {at}" for at in range(2)]
        pq.write_table(pa.table({"text": texts, "kind": column, "inner": inner}), tmp_path / f"{name}.parquet")
    done = run("dedup", tmp_path / "a.parquet", tmp_path / "b.parquet", "-o", tmp_path / "kept.arrow")
    assert 0 == done.exit_code, done.stderr
    rows = pa.ipc.open_file(tmp_path / "kept.arrow").read_all().to_pylist()
    assert ["de", "en", "fr", "en"] == [row["kind"] for row in rows] == [row["inner"]["kind"] for row in rows]


@pytest.mark.parametrize("name", ["kept.jsonl", "kept.parquet"])
def test_a_key_that_any_line_has_is_not_said_by_the_folder(name, tmp_path):
    """As documents are grouped: the others of its file have none, spelt with escapes or not, removed or not."""
    texts = {"a": '"y":2020,', "b": "", "c": "", "d": '"\\u0079":2020,'}
    for year, number, names in ((2020, 1, "ab"), (2021, 2, "c"), (2022, 3, "db")):
        home = tmp_path / "in" / f"y={year}"
        home.mkdir(parents=True)
        lines = [f'{{"id":"{one}{number}",{texts[one]}"text":"of {one} {number}"}}\n' for one in names]
        (home / f"{number}.jsonl").write_text("".join(lines))
    ns.dedup(str(tmp_path / "in"), method="digest").write(tmp_path / name)
    lines = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()] if "jsonl" in name else None
    rows = pq.read_table(tmp_path / name).to_pylist() if lines is None else lines
    expected = {"a1": 2020, "b1": None, "c2": 2021, "d3": 2020, "b3": None}
    assert expected == {row["id"]: row.get("y") for row in rows}
