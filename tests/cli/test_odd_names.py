"""Names with line ends, links that lead elsewhere, ids that are formulas, machines where nothing may be written."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nearsame as ns

from .commands import documents, run, write_jsonl

NEARSAME = Path(sys.executable).with_name("nearsame")


def folder_of(home, names):
    """A folder with a text under each name."""
    home.mkdir()
    for number, name in enumerate(names):
        (home / name).write_text(f"text number {number} that is like no other in this folder", "utf-8")
    return home


@pytest.mark.parametrize("names", [["a.txt", "b.txt"], ["a.txt", "two\nlines.txt", "b\rc.txt"]])
def test_the_list_of_paths_can_be_read_back(names, tmp_path):
    """A line for each; where a name holds an end of line, a NUL behind each, as `xargs -0` has it."""
    folder_of(tmp_path / "in", names)
    assert 0 == run("dedup", tmp_path / "in", "-o", tmp_path / "out", "-q").exit_code
    (listed,) = (tmp_path / "out" / "kept").iterdir()
    expected = ("kept.txt", "\n") if len(names) == 2 else ("kept-nul.txt", "\0")
    content = listed.read_bytes().decode()
    assert (expected, sorted(names)) == ((listed.name, content[-1]), content.split(expected[1])[:-1])


def test_annotations_stand_beside_either_list(tmp_path):
    """By one name."""
    folder_of(tmp_path / "in", ["two\nlines.txt"])
    assert 0 == run("dedup", tmp_path / "in", "-o", tmp_path / "out", "-q", "--annotate").exit_code
    record = json.loads((tmp_path / "out" / "kept" / "annotations.jsonl").read_text("utf-8"))
    assert "two\nlines.txt" == record["path"]


def test_a_copy_of_what_a_link_leads_to_is_told(tmp_path):
    """Where it leads out of the folder; not where it stays inside."""
    folder = folder_of(tmp_path / "in", ["a.txt", "b.txt"])
    (tmp_path / "secret.txt").write_text("what is no business of whoever gets the copy", "utf-8")
    (folder / "inside.txt").symlink_to(folder / "a.txt")
    assert "led out" not in run("dedup", folder, "-o", tmp_path / "first", "--copy").stdout
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    done = run("dedup", folder, "-o", tmp_path / "out", "--copy")
    said = "".join(done.stdout.split())  # a path that is longer than the terminal is broken anywhere
    assert "out.txtin" in said
    assert "ledoutofthefolder,andwascopiedaswhatitledto" in said
    notes = json.loads((tmp_path / "out" / "stats.json").read_bytes())["notes"]
    assert any("led out" in note for note in notes)
    assert "led out" not in run("dedup", folder, "-o", tmp_path / "list").stdout


FORMULAS = [
    *('=HYPERLINK("http://a.example","x")', "+1", "-1", "@SUM(A1)", "\t=1", "\tone", "\rone", "\none"),
    *("  =1+1", "\u3000+1", "\xa0@A1", "\ufeff=1", "\u200b-1", "\0=1", " \n =1"),
    *("＝1", "＋1", "－1", "＠A1", " ＝1", "﹦1", "﹢1", "﹣1", "﹫A1"),
]
TEXTS = ["plain", "a=b", " plain", "'=1", "−1", "1-1", "\u3000漢"]


def test_formulas_are_texts_for_a_spreadsheet(tmp_path):
    """With --spreadsheet a ' stands before them; without it, and in other formats, ids are as they are."""
    names = [*FORMULAS, *TEXTS]
    records = [{"id": name, "text": "one text for all of them"} for name in names]
    source = write_jsonl(tmp_path / "a.jsonl", records)
    for option, escaped in (((), False), (("--spreadsheet",), True)):
        out = tmp_path / f"pairs{escaped}.csv"
        assert 0 == run("pairs", source, "-o", out, "--identical", "star", "-q", *option).exit_code
        with out.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        expected = [f"'{name}" if escaped and name in FORMULAS else name for name in names]
        assert {expected[0]} == {row["a_id"] for row in rows}
        assert expected[1:] == [row["b_id"] for row in rows]
        assert {"1"} == {row["similarity"] for row in rows}


def test_urls_are_made_safe_for_a_spreadsheet_too(tmp_path):
    """The same option."""
    out = tmp_path / "urls.csv"
    ns.urls(["=1+1", "http://a.example/"]).write(out, spreadsheet=True)
    assert "'=1+1" in out.read_text("utf-8")


@pytest.mark.parametrize("arguments", [("pairs", "-o", "out.jsonl"), ("pairs", "-o", "-"), ("urls",)])
def test_the_option_does_nothing_elsewhere_and_says_so(arguments, tmp_path):
    """It is about .csv."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    done = run(arguments[0], source, *arguments[1:], "--spreadsheet")
    assert (2, True) == (done.exit_code, "spreadsheet" in done.stderr)


def test_where_nothing_can_be_written_a_plain_message_says_so(tmp_path):
    """Neither the cache nor a temporary folder: an error with the places in it, not one of the compiler's."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    nowhere = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), "/dev/null/nothing")
    environment = {**{k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}, **nowhere}
    environment["NEARSAME_KERNELS"] = "jit"  # what was compiled ahead needs no cache
    command = [NEARSAME, "pairs", source, "-o", tmp_path / "out.csv", "-q"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (2, True) == (done.returncode, done.stderr.startswith("error: compiled kernels cannot be kept")), done.stderr
    assert "hint: Set XDG_CACHE_HOME, TMPDIR or NUMBA_CACHE_DIR to a folder" in done.stderr
    assert ["a.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_without_a_home_a_run_goes_on(tmp_path):
    """Temporary files have a place, and nobody asks for the home."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    (tmp_path / "temporary").mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    command = [NEARSAME, "dedup", source, "-o", tmp_path / "out", "-q"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def test_an_error_of_the_system_is_no_defect_of_ours(tmp_path, monkeypatch):
    """It is told with the place, and with code 2."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())

    def fail(*_, **__):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.mkstemp", fail)
    done = run("dedup", "-", "-o", tmp_path / "out", stdin=source.read_bytes())
    assert (2, "error: No usable temporary directory found in ['/tmp']") == (
        done.exit_code,
        done.stderr.splitlines()[0],
    )


@pytest.mark.unverified  # the proof opens tables by names that are text
def test_an_output_whose_name_is_not_unicode_is_written(tmp_path):
    """A name is bytes, as the system has it."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    place = os.fsdecode(os.fsencode(tmp_path) + b"/out\xff")
    assert 0 == run("dedup", tmp_path / "in.jsonl", "-o", place, "-q", "--pairs").exit_code
    assert (Path(place) / "removed.parquet").exists()
    pairs = os.fsdecode(os.fsencode(tmp_path) + b"/pairs\xff.parquet")
    assert 0 == run("pairs", tmp_path / "in.jsonl", "-o", pairs, "-q").exit_code
    assert Path(pairs).exists()


@pytest.mark.parametrize("option", ["--text-column", "--id-column", "--keep"])
def test_a_name_of_a_column_that_is_not_unicode_is_refused_as_it_was_typed(option, tmp_path):
    """By its bytes: no column has such a name."""
    source = write_jsonl(tmp_path / "in.jsonl", documents())
    done = run("dedup", source, "--dry-run", option, os.fsdecode(b"a\xff"))
    assert (2, f"error: {option} a\\xff is not UTF-8") == (done.exit_code, done.stderr.splitlines()[0])


@pytest.mark.parametrize("command", [["remove", "s.ns", "?"], ["compare", "s.ns", "?", "d1"], ["query", "s.ns", "?"]])
def test_an_argument_that_is_not_unicode_is_refused_as_it_was_typed(command, tmp_path):
    """An id or a text, which are no names of files."""
    place = tmp_path / "s.ns"
    ns.Index.create(place, source=[{"id": "d1", "text": "a rose is a rose"}]).close()
    given = {"s.ns": place, "?": os.fsdecode(b"a\xff")}
    done = run("index", *(given.get(each, each) for each in command))
    assert 2 == done.exit_code
    assert " a\\xff is not UTF-8" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("method", ["simhash", "minhash"])
def test_half_a_surrogate_pair_is_told(method):
    """In the text that is explained, as in those that are compared."""
    with pytest.raises(ns.ConfigError, match="the text is not Unicode"):
        ns.explain("a \ud800 b", method=method)


@pytest.mark.parametrize(("ending", "content"), [
    ("jsonl", b'{"id": "1", "text": "a b c"}\n{"id": "2", "text": "a b c"}\n'),
    ("csv", b"id,text\n1,a b c\n2,a b c\n"),
    ("tsv", b"id\ttext\n1\ta b c\n2\ta b c\n"),
])  # fmt: skip
@pytest.mark.parametrize("named", [True, False])
def test_files_of_records_whose_names_are_not_utf_8(ending, content, named, tmp_path):
    """Are read by their bytes, called as a text can say it, copied, proved and read anew."""
    (home := tmp_path / "in").mkdir()
    source = Path(os.fsdecode(os.fsencode(home) + b"/caf\xe9." + ending.encode()))
    source.write_bytes(content)
    Path(os.fsdecode(os.fsencode(home) + b"/nothing\xe9.csv")).symlink_to("nowhere")
    out, again = tmp_path / "out", tmp_path / "again"
    assert (0 if named else 3) == run("dedup", source if named else home, "-o", out, "-q").exit_code
    (kept,) = (path for path in (out / "kept").iterdir() if path.is_file())
    assert f"caf\\xe9.{ending}" == kept.name
    assert content.replace(content.splitlines(keepends=True)[-1], b"") == kept.read_bytes()
    assert "Everything holds." in run("verify", out).output
    assert run("rerun", out, "-o", again, "-q").exit_code in {0, 3}
    assert kept.read_bytes() == (again / "kept" / kept.name).read_bytes()


def test_benchmarks_whose_names_are_not_utf_8(tmp_path):
    """Are called as a text can say it; in Python by any name."""
    asked = "Which wise old wallaby waltzes with Wendy every Wednesday evening?"
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    source.write_text(json.dumps({"question": asked}) + "\n", "utf-8")
    train = write_jsonl(tmp_path / "train.jsonl", [{"text": asked}])
    assert 0 == run("leaks", train, "--eval", source, "-o", tmp_path / "out", "-q").exit_code
    record = json.loads((tmp_path / "out" / "stats.json").read_text("utf-8"))
    assert ["caf\\xe9"] == [counts["name"] for counts in record["stats"]["benchmarks"]]
    assert ["a\ufffd"] == [counts.name for counts in ns.leaks([asked], {"a\ud800": [asked]}).stats.benchmarks]


@pytest.mark.unverified  # as above
@pytest.mark.parametrize(
    "feature", ["mirrors", "workdir", "index", "frequencies", "report", "codes", "export", "rerun"]
)
def test_folders_and_files_whose_names_are_not_utf_8_serve_as_any_other(feature, tmp_path, monkeypatch):
    """What is kept there is found there, and what is written there is read again."""
    home = tmp_path / os.fsdecode(b"caf\xe9")
    home.mkdir()
    source = write_jsonl(tmp_path / "in.jsonl", documents())
    out, quiet = tmp_path / "out", ("-q", "--overwrite")
    match feature:
        case "mirrors":
            monkeypatch.chdir(home)
            pages = [
                {"url": f"http://{host}.example/{at}", "text": f"page {at} of all"} for host in "ab" for at in "12"
            ]
            commands = [("mirrors", write_jsonl(home / "w.jsonl", pages), "-o", home / "out", "-q")]
            commands += [("mirrors", "w.jsonl", "-o", out, *quiet, "--report", home / "page.html")]
        case "workdir":
            commands = [("dedup", source, "-o", out, *quiet, "--workdir", home / "work")] * 2
        case "index":
            commands = [("index", "create", home / "seen.ns", "--from", source, "-q")]
            commands += [
                ("dedup", source, "--against", home / "seen.ns", "-o", out, *quiet),
                ("report", out, "-o", home / "a.json"),
            ]
        case "frequencies":
            weights = ("--method", "cosine", "--weights", "tfidf")
            commands = [("dedup", source, "-o", home / "first", *quiet, *weights)]
            commands += [
                ("dedup", source, "-o", out, *quiet, *weights, "--frequencies", home / "first" / "frequencies.parquet")
            ]
        case "report":
            commands = [("dedup", source, "-o", home / "first", *quiet), ("dedup", source, "-o", out, *quiet)]
            commands += [
                ("report", out, "--against", home / "first", "-o", home / f"page.{kind}") for kind in ("html", "json")
            ]
            commands += [("report", home / "first", "-o", tmp_path / "page.html")]
        case "codes":
            commands = [("codes", source, "--method", "simhash", "-o", home / "codes.parquet", "-q")]
            commands += [("pairs", home / "codes.parquet", "--codes-column", "code", "-o", f"{out}.csv", "-q")]
        case "rerun":
            commands = [("dedup", source, "-o", home / "first", *quiet), ("rerun", home / "first", "-o", out, *quiet)]
            commands += [("pairs", source, "-o", home / "p.parquet", "-q")]
            commands += [("rerun", home / "p.parquet", "-o", tmp_path / "p.parquet", "-q")]
        case "export":
            commands = [("index", "create", home / "seen.ns", "--from", source, "-q")]
            commands += [("index", "export", home / "seen.ns", home / "all.parquet")]
            commands += [("dedup", home / "all.parquet", "-o", out, *quiet)]
    for command in commands:
        done = run(*command)
        assert 0 == done.exit_code, (command, done.output)
