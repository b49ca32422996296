"""`nearsame index`: from a folder of files to an index, questions, changes, and what is said of every mistake."""

import json
import sqlite3

import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.index.index import Index

from .commands import documents, leftovers, run, words, write_jsonl


@pytest.fixture
def source(tmp_path):
    """Two texts, a copy and an edited version of the first."""
    return write_jsonl(tmp_path / "docs.jsonl", documents())


@pytest.fixture
def filled(place, source):
    """An index of the four documents, made by the command line."""
    made = run("index", "create", place, "--from", source)
    assert 0 == made.exit_code, made.stderr
    return place


@pytest.fixture
def file(tmp_path, source):
    """The same in a file, for what is not about stores."""
    where = tmp_path / "seen.ns"
    assert 0 == run("index", "create", where, "--from", source, "-q").exit_code
    return where


def lines(text):
    """JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def error_of(*arguments, stdin=None):
    """The message and the hint of a command that fails with exit code 2."""
    done = run(*arguments, stdin=stdin)
    assert (2, "") == (done.exit_code, done.stdout)
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert rest
    assert rest[0].startswith("hint: ")
    return first.removeprefix("error: ")


def test_an_index_is_made_of_files_and_asked(filled):
    """Best first, each with its similarity and what it was found by."""
    asked = run("index", "query", filled, documents()[0]["text"])
    assert 0 == asked.exit_code
    found = [line.split() for line in asked.stdout.splitlines()]
    assert ["similarity", "found", "by", "id"] == found[0]
    assert {("1.000", "a"), ("1.000", "a-copy"), ("0.836", "a-edited")} == {(line[0], line[-1]) for line in found[1:4]}
    assert "0.836" == found[3][0]  # 51/61, cut
    assert ["minhash", "bytes", "text"] == found[1][1:-1]


def test_matches_come_as_json(filled):
    """All of each, in the same order."""
    found = json.loads(run("index", "query", filled, documents()[0]["text"], "--json", "--limit", "3").stdout)[
        "matches"
    ]
    assert ["a", "a-copy", "a-edited"] == sorted(match["id"] for match in found)
    assert 51 / 61 == found[2]["similarity"]
    assert {"id", "similarity", "measure", "found_by", "distance", "url", "columns"} == set(found[0])


@pytest.mark.parametrize(("limits", "expected"), [(["--limit", "1"], 1), (["--threshold", "0.9"], 2), ([], 3)])
def test_matches_are_limited(file, limits, expected):
    """By number, or by a higher threshold."""
    found = run("index", "query", file, documents()[0]["text"], "--json", *limits)
    assert expected == len(json.loads(found.stdout)["matches"])


def test_nothing_found_is_said(file):
    """And is not an error."""
    asked = run("index", "query", file, " ".join(words(60, 99)))
    assert (0, "Nothing in the index resembles it.\n") == (asked.exit_code, asked.stdout)


def test_a_file_and_standard_input_are_asked_about(file, tmp_path):
    """As one text each."""
    text = tmp_path / "text.txt"
    text.write_text(documents()[1]["text"], "utf-8")
    for given, stdin in ((text, None), ("-", text.read_bytes())):
        found = run("index", "query", file, "--file", given, "--json", stdin=stdin)
        assert ["b"] == [match["id"] for match in json.loads(found.stdout)["matches"]]


def test_a_document_of_the_index_is_asked_about(filled):
    """It is not its own match."""
    found = json.loads(run("index", "query", filled, "--id", "a", "--json").stdout)["matches"]
    assert ["a-copy", "a-edited"] == [match["id"] for match in found]


def test_many_documents_are_asked_about(filled, source, tmp_path):
    """A line for each, on standard output or in a file."""
    shown = run("index", "query", filled, "--from", source, "--limit", "1")
    assert ["a", "b", "a-copy", "a-edited"] == [line["id"] for line in lines(shown.stdout)]
    assert "4 documents, 4 of them resemble documents of the index." in shown.stderr
    out = tmp_path / "out.jsonl"
    assert 0 == run("index", "query", filled, "--from", source, "--limit", "1", "-o", out).exit_code
    assert lines(shown.stdout) == lines(out.read_text("utf-8"))


def test_what_is_added_is_told_of(place, source, tmp_path):
    """A line for each document: whether it went in, and what it resembles."""
    run("index", "create", place)
    out = tmp_path / "out.jsonl"
    done = run("index", "add", place, source, "--if-new", "-o", out)
    assert 0 == done.exit_code
    told = lines(out.read_text("utf-8"))
    assert [("a", "added"), ("b", "added"), ("a-copy", "resembles"), ("a-edited", "resembles")] == [
        (each["id"], each["status"]) for each in told
    ]
    assert [True, True, False, False] == [each["added"] for each in told]
    assert "a" == told[3]["matches"][0]["id"]
    assert [["documents", "4"], ["added", "2"], ["resembles", "2"]] == [
        line.split()[:2] for line in done.stdout.splitlines()[:3]
    ]


def test_what_is_added_again_is_there_already(filled, source):
    """So a run that was stopped can be started again."""
    done = run("index", "add", filled, source, "--json")
    assert 0 == done.exit_code
    counts = json.loads(done.stdout)
    assert (4, 0, 4) == (counts["documents"], counts["added"], counts["present"])


def test_added_documents_are_streamed(file, source):
    """With -o - the lines go to standard output, the summary to standard error."""
    done = run("index", "add", file, source, "-o", "-")
    assert ["present"] * 4 == [line["status"] for line in lines(done.stdout)]
    assert "there already" in done.stderr


def test_another_text_of_an_id_stays_out_unless_it_is_to_replace(filled, tmp_path):
    """It is exit code 2, with the ids; the others are in."""
    new = write_jsonl(tmp_path / "new.jsonl", [{"id": "b", "text": " ".join(words(60, 7))}, {"id": "n", "text": "new"}])
    done = run("index", "add", filled, new)
    assert 2 == done.exit_code
    assert "error: 1 document was not added: the index has its id with another text: b" in done.stderr
    assert "--replace" in done.stderr
    assert 0 == run("index", "add", filled, new, "--replace").exit_code
    with Index.open(filled) as index:
        assert [["b"], ["n"]] == [[match.id for match in index.query(text)] for text in (" ".join(words(60, 7)), "new")]
        assert 5 == index.stats().documents


def test_web_pages_are_their_main_text(tmp_path):
    """As in `nearsame dedup`, in a folder, in a column of markup, and asked about as a file."""
    pytest.importorskip("resiliparse")
    prose = "nine ships were counted before the fog came in and hid the harbour from the window of the keeper"
    page = f"<html><body><nav>Home and Menu</nav><main><p>{prose}</p></main></body></html>"
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "row", "html": page}) + "\n")
    place = str(tmp_path / "pages.ns")
    run("index", "create", place, "--from", str(tmp_path / "page.html"), "-q")
    run("index", "add", place, str(tmp_path / "rows.jsonl"), "--html-column", "html", "-q")
    for asked in ([prose], ["--file", str(tmp_path / "page.html")]):
        found = json.loads(run("index", "query", place, *asked, "--json").stdout)["matches"]
        assert ["page.html", "row"] == sorted(match["id"].rpartition("/")[2] for match in found)
    marked_up = run("index", "query", place, "--file", str(tmp_path / "page.html"), "--extract", "none", "--json")
    assert [] == json.loads(marked_up.stdout)["matches"]


def test_documents_are_removed_all_or_none(filled, tmp_path):
    """By id, or by a file of ids."""
    assert "nowhere" in error_of("index", "remove", filled, "a", "nowhere")
    ids = tmp_path / "ids.txt"
    ids.write_text("a\na-copy\nnowhere\n", "utf-8")
    done = run("index", "remove", filled, "--from", ids, "--missing-ok")
    assert (0, "2 removed, 2 left; 1 were not there.\n") == (done.exit_code, done.stdout)
    assert "1 removed, 1 left.\n" == run("index", "remove", filled, "b").stdout
    assert 0 == run("index", "check", filled).exit_code


def test_two_documents_are_compared(filled):
    """Exit code 1 where they are not similar."""
    same = run("index", "compare", filled, "a", "a-edited")
    assert 0 == same.exit_code
    assert "0.836" in same.stdout
    assert "Similar, by minhash." in same.stdout
    other = run("index", "compare", filled, "a", "b", "--json")
    assert (1, False) == (other.exit_code, json.loads(other.stdout)["similar"])


def test_stored_texts_show_their_passages(tmp_path, source):
    """As `nearsame compare` does."""
    where = tmp_path / "texts.ns"
    run("index", "create", where, "--from", source, "--store", "text")
    shown = run("index", "compare", where, "a", "a-edited")
    assert "[[" in shown.stdout
    assert json.loads(run("index", "compare", where, "a", "a-edited", "--json").stdout)["comparison"]["passages"]


def test_statistics_tell_how_it_was_made(filled):
    """For people and as JSON; what it takes, and its methods."""
    record = json.loads(run("index", "stats", filled, "--json").stdout)
    assert (4, "shingles") == (record["documents"], record["store"])
    assert ["minhash", "digest", "digest"] == [method["method"] for method in record["methods"]]
    assert record["bytes"] > 0
    shown = run("index", "stats", filled).stdout
    assert "threshold=0.8" in shown
    assert "recall=0.99" in shown
    assert "unicode" not in shown


def test_an_index_is_checked(file):
    """Exit code 1 and what is wrong, once something is."""
    good = run("index", "check", file)
    assert (0, "4 documents. Nothing is wrong.\n") == (good.exit_code, good.stdout)
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM postings WHERE number = 2")
    connection.close()
    bad = run("index", "check", file)
    assert 1 == bad.exit_code
    assert "wrong" in bad.stdout
    assert json.loads(run("index", "check", file, "--json").stdout)["problems"]


def test_documents_are_exported(filled, tmp_path):
    """All of them, to the format of the name; a file that is there stays."""
    path = tmp_path / "out.parquet"
    done = run("index", "export", filled, path)
    assert (0, f"4 documents written: {path}\n") == (done.exit_code, done.stdout)
    assert ["a", "b", "a-copy", "a-edited"] == pq.read_table(path)["id"].to_pylist()
    assert "exists" in error_of("index", "export", filled, path)
    assert 0 == run("index", "export", filled, path, "--overwrite").exit_code


def test_settings_of_methods_are_those_asked_for(tmp_path):
    """Of the first, and of those beside it."""
    where = tmp_path / "x.ns"
    chosen = ("--threshold", "0.6", "--shingle-size", "3", "--also", "simhash:k=6,digest,url", "--store", "sketch")
    assert 0 == run("index", "create", where, *chosen).exit_code
    record = json.loads(run("index", "stats", where, "--json").stdout)
    found = {method["method"]: method for method in record["methods"]}
    assert {"minhash", "simhash", "digest", "canonical-url"} == set(found)
    assert (0.6, 3, 6, "sketch") == (
        float(found["minhash"]["threshold"]),
        found["minhash"]["shingle_size"],
        found["simhash"]["k"],
        record["store"],
    )


def test_urls_are_evidence(tmp_path):
    """Where the index has them: the same page under another spelling of its address."""
    where, docs = tmp_path / "x.ns", tmp_path / "docs.jsonl"
    write_jsonl(docs, [{"id": "page", "url": "http://Example.org:80/a?utm_source=x", "text": documents()[0]["text"]}])
    assert 0 == run("index", "create", where, "--from", docs, "--also", "url").exit_code
    found = json.loads(run("index", "query", where, "--url", "https://example.org/a", "--json").stdout)["matches"]
    assert [("page", ["url"])] == [(match["id"], match["found_by"]) for match in found]
    assert "http://Example.org:80/a" in run("index", "query", where, "--url", "https://example.org/a").stdout


def test_a_text_that_is_the_name_of_a_file_is_told(filled, source, tmp_path):
    """It is asked about as a text, as always; what was perhaps meant is said."""
    asked = run("index", "query", filled, source)
    assert (0, "Nothing in the index resembles it.") == (asked.exit_code, asked.stdout.splitlines()[0])
    said = " ".join(asked.stdout.split())
    assert "was compared as a text, and is also the name of a file: --file asks about the file as one text" in said
    assert "--from about each of its documents" in said
    for other in (tmp_path / "none", "some text", "x" * 5000, "a\0b", ""):
        assert "Nothing in the index resembles it.\n" == run("index", "query", filled, other).stdout
    assert "Note" not in run("index", "query", filled, source, "-q").stdout
    assert {"matches": [], "complete": True} == json.loads(run("index", "query", filled, source, "--json").stdout)


def test_an_index_is_made_complete_or_not_at_all(tmp_path, source):
    """What cannot be read leaves nothing; what exists is replaced only if it is asked for."""
    where = tmp_path / "x.ns"
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 not")
    assert 3 == run("index", "create", where, "--from", bad).exit_code
    assert not where.exists()
    assert 0 == run("index", "create", where, "--from", source).exit_code
    assert "exists" in error_of("index", "create", where)
    assert "--overwrite" in run("index", "create", where).stderr
    with ns.Index.open(where) as index, index.transaction():
        index.add("what is being added")
        assert "gave up after 0.1 s" in run("index", "create", where, "--overwrite", "--wait", "0.1").stderr
    assert 0 == run("index", "create", where, "--overwrite").exit_code
    assert 0 == json.loads(run("index", "stats", where, "--json").stdout)["documents"]
    assert [] == leftovers(tmp_path)


def test_records_that_cannot_be_read_are_told(tmp_path, file):
    """With their places; the others go in; exit code 3."""
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"id": "x", "text": "one"}\n{"id": \n{"id": "y", "text": "two"}\n', "utf-8")
    done = run("index", "add", file, torn)
    assert 3 == done.exit_code
    assert "torn.jsonl:2" in "".join(done.stdout.split())  # a long path is wrapped
    assert 6 == json.loads(run("index", "stats", file, "--json").stdout)["documents"]


@pytest.mark.parametrize("command", ["stats", "check", "query x", "add SOURCE", "remove x", "export x", "compare a b"])
def test_an_index_that_is_not_there_is_named(command, tmp_path, source):
    """Whatever was asked of it, and nothing is made."""
    name, *rest = [str(source) if word == "SOURCE" else word for word in command.split()]
    where = tmp_path / "nowhere.ns"
    assert str(where) in error_of("index", name, where, *rest)
    assert not where.exists()


def test_what_is_no_index_is_refused(tmp_path, source):
    """A folder, a text, a database of somebody else's: none is touched."""
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    for where in (tmp_path, source, other):
        before = where.read_bytes() if where.is_file() else None
        assert str(where) in error_of("index", "stats", where)
        assert str(where) in error_of("index", "add", where, source)
        assert before == (where.read_bytes() if where.is_file() else None)


def test_an_index_of_another_format_is_refused(file):
    """With both numbers."""
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE settings SET value = '99' WHERE name = 'format'")
        connection.execute("DELETE FROM settings WHERE name = 'checksum'")
    connection.close()
    assert "format 99" in error_of("index", "stats", file)


def test_an_index_that_another_writes_to_is_busy(file, source):
    """After as long as one wants to wait."""
    with Index.open(file) as index, index.transaction():
        message = error_of("index", "add", file, source, "--wait", "0.1")
    assert "another process" in message
    assert "0.1 s" in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create", "X", "--method", "minhash", "--k", "4"], "--method minhash has no option --k"),
        (["create", "X", "--also", "jaccard"], "no such method"),
        (["create", "X", "--also", "none,url"], "none cannot be combined with others"),
        (["create", "X", "--also", "minhash"], "twice"),
        (["create", "X", "--threshold", "2"], "2"),
        (["create", "X", "--text-column", "body"], "--text-column does nothing without --from"),
        (["create", "X", "--strict"], "--strict does nothing without --from"),
        (["create", "nowhere/at/all/X"], "nowhere/at/all/X"),
        (["add", "FILE", "SOURCE", "--if-new", "--replace"], "exclude each other"),
        (["add", "FILE", "SOURCE", "--overwrite"], "--overwrite does nothing without -o"),
        (["add", "FILE", "SOURCE", "-o", "-", "--json"], "both want standard output"),
        (["add", "FILE", "SOURCE", "-o", "SOURCE", "--overwrite"], "is or holds the source"),
        (["add", "FILE", "SOURCE", "--text-column", "body"], "body"),
        (["query", "FILE"], "nothing to ask about"),
        (["query", "FILE", "a text", "--id", "a"], "TEXT and --id"),
        (["query", "FILE", "--id", "nobody"], "nobody"),
        (["query", "FILE", "--url", "http://a.example/"], "--url does nothing in an index of minhash, digest"),
        (["query", "FILE", "a text", "--url", "http://a.example/"], "--url does nothing in an index of"),
        (["query", "FILE", "a text", "--threshold", "1.5"], "1.5"),
        (["query", "FILE", "a text", "--where", "lang=en"], "keeps no column 'lang'"),
        (["query", "FILE", "a text", "--limit", "0"], "limit"),
        (["query", "FILE", "a text", "-o", "x.jsonl"], "-o does nothing without --from"),
        (["query", "FILE", "--from", "SOURCE", "--json"], "--json does nothing with --from"),
        (["remove", "FILE"], "needs ids"),
        (["remove", "FILE", "a", "--from", "SOURCE"], "needs ids"),
        (["compare", "FILE", "a", "nobody"], "nobody"),
        (["export", "FILE", "x.txt"], "x.txt"),
    ],
)
def test_what_cannot_be_is_refused(arguments, said, file, source, monkeypatch):
    """In one line that names it, with a hint; nothing has changed."""
    monkeypatch.chdir(source.parent)
    before = file.read_bytes()
    assert said in error_of("index", *({"FILE": file, "SOURCE": source}.get(each, each) for each in arguments))
    assert before == file.read_bytes()
    assert not (source.parent / "X").exists()


@pytest.mark.parametrize("value", [["en"], {"is": "en"}, None])
def test_what_no_column_can_keep_is_said(tmp_path, value):
    """Lists and records: the column is there, so its name is not all that can be wrong."""
    source = write_jsonl(tmp_path / "docs.jsonl", [{"id": "a", "text": "one text", "lang": value}])
    said = error_of("index", "create", tmp_path / "k.ns", "--from", source, "--keep-columns", "lang")
    assert "no document has a column 'lang' with a text or a number to keep" == said
    assert not (tmp_path / "k.ns").exists()


def test_a_password_is_never_shown(postgres, postgres_url, source):
    """Not in what succeeds, not in what fails."""
    shown = [
        run("index", "create", postgres_url, "--from", source),
        run("index", "create", postgres_url),
        run("index", "stats", postgres_url),
        run("index", "stats", postgres_url, "--json"),
        run("index", "query", postgres_url, "--id", "nobody"),
        run("index", "stats", f"{postgres_url}x"),
        run("index", "stats", postgres_url.replace(str(postgres.port), "1"), "--debug"),
    ]
    assert [0, 2, 0, 0, 2, 2, 2] == [each.exit_code for each in shown]
    shown += [
        run("index", "migrate", postgres_url),
        run("index", "export", postgres_url, postgres_url),
        run("index", "backup", postgres_url, postgres_url),
        run("dedup", postgres_url, "-o", source.parent / "out"),
        run("dedup", source, "--against", f"{postgres_url}x", "-o", source.parent / "out"),
    ]
    assert not any(postgres.password in each.output for each in shown)


def test_a_password_is_in_no_output(postgres, postgres_url, tmp_path, source):
    """A folder, one file and pairs say what they were compared with; a report calls it by its name."""
    assert 0 == run("index", "create", postgres_url, "--from", source, "--store", "text").exit_code
    for place in ("out", "out.parquet", "out.arrow"):
        assert 0 == run("dedup", source, "--against", postgres_url, "-o", tmp_path / place).exit_code
    assert 0 == run("pairs", source, "--against", postgres_url, "-o", tmp_path / "pairs.parquet").exit_code
    assert 0 == run("report", tmp_path / "out", "-o", tmp_path / "page.html").exit_code
    by_parameter = f"{postgres_url.replace(f':{postgres.password}', '')}&password={postgres.password}"
    assert 0 == run("dedup", source, "--against", by_parameter, "-o", tmp_path / "other").exit_code
    said = run("verify", tmp_path / "out").output
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > 8
    assert not any(postgres.password.encode() in each for each in (*written, said.encode()))


def test_everything_fits_80_columns(filled, source, monkeypatch):
    """Whatever is shown."""
    monkeypatch.setenv("COLUMNS", "80")
    for command in (
        ("stats",),
        ("query", documents()[0]["text"]),
        ("check",),
        ("compare", "a", "a-edited"),
        ("add", source),
    ):
        shown = run("index", command[0], filled, *command[1:])
        assert [] == [line for line in shown.stdout.splitlines() if len(line) > 80]


def test_ids_are_listed_a_line_each(tmp_path):
    """What a terminal would take for an order is escaped; JSON has it as it is."""
    place = tmp_path / "seen.ns"
    ids = ["a", "b\x1b[2J", "c"]
    Index.create(place, source=[{"id": id_, "text": f"text {id_}"} for id_ in ids]).close()
    assert ["a", "b\\x1b[2J", "c"] == run("index", "list", place).stdout.splitlines()
    lines = run("index", "list", place, "--after", "a", "--limit", "1", "--json").stdout.splitlines()
    assert [{"id": ids[1]}] == [json.loads(line) for line in lines]
    assert 2 == run("index", "list", place, "--after", "nobody").exit_code


def test_ids_in_a_file_are_its_lines_and_nothing_that_python_breaks_lines_at(tmp_path):
    """Else documents would go that nobody named."""
    odd = ["a\x85b", "a\u2028b", "a\x0bb", "a\x1cb", "a\rb"]
    records = [{"id": name, "text": f"all of this belongs to {at} alone"} for at, name in enumerate(["a", "b", *odd])]
    source, names = write_jsonl(tmp_path / "in.jsonl", records), tmp_path / "names.txt"
    assert 0 == run("index", "create", tmp_path / "seen.ns", "--from", source, "-q").exit_code
    names.write_bytes("".join(f"{name}\r\n" for name in odd).encode())
    done = run("index", "remove", tmp_path / "seen.ns", "--from", names)
    assert (0, "5 removed, 2 left.\n") == (done.exit_code, done.stdout)
    with ns.Index.open(tmp_path / "seen.ns") as index:
        assert ["a", "b"] == sorted(index.ids())


def test_what_is_listed_as_json_is_what_is_removed(tmp_path):
    """Escapes of a plain list may be another id."""
    odd = ["tab\tx", "tab\\tx", "line\nbreak", "\u2028", '{"id":"a"}']
    records = [{"id": name, "text": f"all of this belongs to {at} alone"} for at, name in enumerate(odd)]
    seen, names = tmp_path / "seen.ns", tmp_path / "names.jsonl"
    assert 0 == run("index", "create", seen, "--from", write_jsonl(tmp_path / "in.jsonl", records), "-q").exit_code
    for left in range(len(odd) - 1, -1, -1):
        names.write_text(run("index", "list", seen, "--json", "--limit", "1").stdout, "utf-8")
        done = run("index", "remove", seen, "--json", "--from", names)
        assert (0, f"1 removed, {left} left.\n") == (done.exit_code, done.stdout)
        with ns.Index.open(seen) as index:
            assert odd[len(odd) - left :] == list(index.ids())
    names.write_text("tab\n", "utf-8")
    done = run("index", "remove", seen, "--json", "--from", names)
    assert (2, True) == (done.exit_code, "names.jsonl, line 1 is no record with an id" in done.stderr)
    assert 2 == run("index", "remove", seen, "--json", "x").exit_code
