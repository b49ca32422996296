"""Bad input is a one-line error or a counted skip that names file and line: never a traceback, never half a folder.

The cases are those of issue 2, "Bad input".
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .commands import documents, leftovers, run, words, write_jsonl

GOOD = [json.dumps(record).encode() for record in documents()]
LONG = " ".join(words(60))


def zstd(data):
    """The data, compressed."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


def cut(data):
    """The first half."""
    return data[: len(data) // 2]


def many_lines():
    """Lines that do not compress to nothing."""
    return b"".join(json.dumps({"text": " ".join(words(50, seed))}).encode() + b"\n" for seed in range(500))


SKIPPED = {
    "invalid UTF-8": (
        "a.jsonl",
        b"\n".join([GOOD[0], b'{"text": "caf\xe9"}', GOOD[1]]),
        "a.jsonl, line 2: invalid UTF-8",
    ),
    "a broken line": ("a.jsonl", b"\n".join([GOOD[0], b'{"text": "x', GOOD[1]]), "a.jsonl, line 2: not valid JSON"),
    "a text that is none": ("a.jsonl", b"\n".join([*GOOD, b'{"text": 3}']), "a.jsonl, line 5: the text is a number"),
    "too few fields": (
        "a.csv",
        f"id,text\n1,{LONG}\n2\n3,x\n".encode(),
        "a.csv, line 3: 1 fields where the header has 2",
    ),
    "a truncated gz": ("a.jsonl.gz", cut(gzip.compress(many_lines())), "unread from here on: "),
    "a truncated zst": ("a.jsonl.zst", cut(zstd(many_lines())), "unread from here on: "),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_a_record_that_cannot_be_read_is_counted_named_and_kept(case, tmp_path, monkeypatch):
    """Exit code 3; the summary and skipped.parquet name the place, and kept/ has the bytes."""
    monkeypatch.chdir(tmp_path)
    name, data, said = SKIPPED[case]
    (tmp_path / name).write_bytes(data)
    done = run("dedup", name, "-o", "clean")
    assert (3, "") == (done.exit_code, done.stderr)
    assert said in done.stdout.replace("\n  ", " ")
    skipped = pq.read_table("clean/skipped.parquet").to_pylist()
    assert [name] == [record["source"] for record in skipped]
    assert 1 == json.loads((tmp_path / "clean/stats.json").read_text("utf-8"))["skipped"]
    if name.endswith(("jsonl", "csv")):
        bad = data.split(b"\n")[skipped[0]["line"] - 1]
        assert bad in (tmp_path / "clean/kept" / name).read_bytes()


@pytest.mark.parametrize("case", [case for case, (name, _, _) in SKIPPED.items() if name in ("a.jsonl", "a.csv")])
def test_drop_unreadable_leaves_it_out(case, tmp_path):
    """Its bytes are not in kept/."""
    name, data, _ = SKIPPED[case]
    (tmp_path / name).write_bytes(data)
    run("dedup", tmp_path / name, "-o", tmp_path / "clean", "--drop-unreadable")
    line = pq.read_table(tmp_path / "clean/skipped.parquet").to_pylist()[0]["line"]
    assert data.split(b"\n")[line - 1] not in (tmp_path / "clean/kept" / name).read_bytes()


@pytest.mark.parametrize("case", SKIPPED)
def test_strict_stops_at_the_first(case, tmp_path):
    """One line, a hint, exit code 3, and no folder."""
    name, data, said = SKIPPED[case]
    (tmp_path / name).write_bytes(data)
    done = run("dedup", tmp_path / name, "-o", tmp_path / "clean", "--strict")
    assert 3 == done.exit_code
    assert said in done.stderr.splitlines()[0]
    assert_one_line_and_nothing_left(done, tmp_path)


def assert_one_line_and_nothing_left(done, folder):
    """An error line, a hint, no traceback, no folder."""
    assert ["error: ", "hint: "] == [line.partition(" ")[0] + " " for line in done.stderr.splitlines()]
    assert "" == done.stdout
    assert not (folder / "clean").exists()
    assert [] == leftovers(folder)


REFUSED = {
    "no such file": ("missing.jsonl", None, 3, "missing.jsonl does not exist"),
    "no Parquet": ("a.parquet", b"this is no Parquet file", 3, "a.parquet is not a readable Parquet file"),
    "no Arrow": ("a.arrow", b"this is no Arrow file", 3, "a.arrow"),
    "an unknown format": ("a.doc", b"x", 3, "a.doc has an unknown format"),
    "no column to guess": ("a.jsonl", b'{"body": "a", "title": "b"}\n', 2, "a.jsonl has several string columns"),
    "one JSON array": ("a.json", b'[{"text": "a"}]', 3, "a.json holds one JSON array"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_source_that_cannot_be_read_is_one_line(case, tmp_path):
    """The exit code says whose turn it is: 2 the user's, 3 the input's."""
    name, data, status, said = REFUSED[case]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = run("dedup", tmp_path / name, "-o", tmp_path / "clean")
    assert status == done.exit_code
    assert said in done.stderr.splitlines()[0]
    assert_one_line_and_nothing_left(done, tmp_path)


def test_a_missing_column_lists_those_there_are(tmp_path):
    """The hint says with which option to choose."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    done = run("dedup", source, "-o", tmp_path / "clean", "--text-column", "body")
    assert 2 == done.exit_code
    assert done.stderr.endswith("has no column 'body'\nhint: Choose one of its columns with --text-column: id, text.\n")
    assert_one_line_and_nothing_left(done, tmp_path)


def test_an_empty_folder(tmp_path):
    """It holds no files, which is said."""
    (tmp_path / "empty").mkdir()
    done = run("dedup", tmp_path / "empty", "-o", tmp_path / "clean")
    assert (3, True) == (done.exit_code, "empty holds no files" in done.stderr)
    assert_one_line_and_nothing_left(done, tmp_path)


def test_a_source_without_permission(tmp_path, monkeypatch):
    """The place is named (the system's refusal is feigned: tests may run as root)."""
    (tmp_path / "closed").mkdir()

    scandir = os.scandir

    def refuse(path="."):
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    done = run("dedup", tmp_path / "closed", "-o", tmp_path / "clean")
    monkeypatch.undo()
    assert (3, True) == (done.exit_code, "closed: permission denied" in done.stderr)
    assert_one_line_and_nothing_left(done, tmp_path)


def test_a_place_without_permission(tmp_path, monkeypatch):
    """Refused before anything is read."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    monkeypatch.setattr(os, "access", lambda *_: False)
    done = run("dedup", source, "-o", tmp_path / "clean")
    assert (2, True) == (done.exit_code, "no permission to write" in done.stderr)
    assert_one_line_and_nothing_left(done, tmp_path)


@pytest.mark.parametrize("place", ["missing/clean", "a.jsonl/clean"])
def test_a_place_that_cannot_be(place, tmp_path):
    """The parent has to be a folder that exists."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    assert 2 == run("dedup", source, "-o", tmp_path / place).exit_code
    assert ["a.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_null_and_empty_texts_stay(tmp_path):
    """They are counted, and no error."""
    records = [{"id": "n", "text": None}, {"id": "e", "text": ""}, {"id": "e2", "text": ""}, *documents()]
    source = write_jsonl(tmp_path / "a.jsonl", records)
    done = run("dedup", source, "-o", tmp_path / "clean")
    assert 0 == done.exit_code
    assert "3 documents without a text" in done.stdout
    assert 5 == len((tmp_path / "clean/kept/a.jsonl").read_bytes().splitlines())


def test_repeated_ids_are_counted(tmp_path):
    """Never an error."""
    source = write_jsonl(tmp_path / "a.jsonl", [*documents(), {"id": "b", "text": "other words"}])
    done = run("dedup", source, "--dry-run")
    assert (0, True) == (done.exit_code, "1 document with the id of another" in done.stdout)


def test_what_a_folder_holds_beside_documents_is_counted(tmp_path):
    """An unreadable file of a folder is a skip, one of an unknown format is passed over: both are said."""
    home = tmp_path / "in"
    home.mkdir()
    write_jsonl(home / "a.jsonl", documents())
    (home / "b.parquet").write_bytes(b"no Parquet")
    (home / "c.bin").write_bytes(b"x")
    done = run("dedup", home, "-o", tmp_path / "clean")
    assert 3 == done.exit_code
    said = "".join(done.stdout.split())  # lines break where the path makes them, within it too
    assert "1filepassedover:.bin1." in said
    assert "b.parquet:notareadableParquetfile" in said
    assert b"no Parquet" == (tmp_path / "clean/kept/b.parquet").read_bytes()


@pytest.mark.slow
def test_a_text_of_100_megabytes(tmp_path):
    """It is a document like any other."""
    records = [{"id": "big", "text": "word " * 20_000_000}, *documents()]
    done = run("dedup", write_jsonl(tmp_path / "a.jsonl", records), "-o", tmp_path / "clean", "--max-record", "200MB")
    assert 0 == done.exit_code, done.stderr
    assert "kept                     3" in done.stdout


def test_control_characters_of_a_text_never_reach_the_terminal(tmp_path):
    """Ids and texts are shown without them."""
    texts = [f"\x1b[2J{LONG}", f"{LONG}\x07"]
    source = write_jsonl(tmp_path / "a.jsonl", [{"id": f"\x1b[3{i}mid", "text": text} for i, text in enumerate(texts)])
    output = run("dedup", source, "--dry-run").stdout
    assert "removed                  1" in output
    assert set() == {"\x1b", "\x07"} & set(output)


def test_debug_shows_the_traceback(tmp_path):
    """And the line below it."""
    done = run("dedup", tmp_path / "missing.jsonl", "--json", "--debug")
    assert 3 == done.exit_code
    assert "Traceback" in done.stderr
    assert "error: " in done.stderr.splitlines()[-2]


def test_an_unknown_option_is_one_line(tmp_path):
    """As every other error, with where to look."""
    done = run("dedup", tmp_path, "--treshold", "0.8")
    assert 2 == done.exit_code
    assert "hint: See nearsame dedup --help." == done.stderr.splitlines()[-1]
    for lacking in ("--threshold", "-o"):
        assert "hint: See nearsame dedup --help." == run("dedup", "x", lacking).stderr.splitlines()[-1]
    assert 2 == len(done.stderr.splitlines())


def test_the_installed_command_says_the_same(tmp_path):
    """In a process of its own: one line, the exit code, nothing else."""
    command = [Path(sys.executable).with_name("nearsame"), "dedup", "missing.jsonl", "-o", "clean"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (3, "error: missing.jsonl does not exist\nhint: Check the path.\n") == (done.returncode, done.stderr)
