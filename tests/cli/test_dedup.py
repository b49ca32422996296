"""`nearsame dedup` from its options to the folder that it writes."""

import gzip
import json
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns

from .commands import documents, leftovers, run, words, write_jsonl


@pytest.fixture
def source(tmp_path):
    """A file of four documents."""
    return write_jsonl(tmp_path / "pages.jsonl", documents())


def ids(path):
    """The ids of a file of JSON lines."""
    return [json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()]


def table(path):
    """The rows of a Parquet file."""
    return pq.read_table(path).to_pylist()


def test_the_folder_holds_what_stays_and_why_the_rest_went(source, tmp_path):
    """Issue 2, point 7: kept/ with the raw lines, the tables, the statistics."""
    done = run("dedup", source, "-o", tmp_path / "clean", "--pairs")
    told = [line for line in done.stderr.splitlines() if not line.startswith("first run: compiling")]
    assert (0, []) == (done.exit_code, told)
    home = tmp_path / "clean"
    assert ["clusters.parquet", "kept", "pairs.parquet", "removed.parquet", "sources.parquet", "stats.json"] == sorted(
        path.name for path in home.iterdir()
    )
    lines = source.read_bytes().splitlines(keepends=True)
    assert lines[0] + lines[1] == (home / "kept" / "pages.jsonl").read_bytes()
    removed = table(home / "removed.parquet")
    assert [("a-copy", "a", 1.0), ("a-edited", "a", 51 / 61)] == [
        (row["id"], row["witness_id"], row["similarity"]) for row in removed
    ]
    assert {(str(source), 0, "jaccard")} == {
        (row["witness_source"], row["witness_row"], row["measure"]) for row in removed
    }
    assert ["keeper", "removed", "removed"] == [row["role"] for row in table(home / "clusters.parquet")]
    assert 2 == len(table(home / "pairs.parquet"))
    stats = json.loads((home / "stats.json").read_text("utf-8"))
    assert (4, 2, 1, 1) == tuple(stats[name] for name in ("documents", "kept", "exact_copies", "near_copies"))
    assert 0.8 == stats["recipe"]["threshold"]
    assert "writing" in stats["seconds"]


def test_the_summary_says_what_happened(source, tmp_path):
    """Documents, copies, kept, the guarantee and the place, on standard output."""
    output = run("dedup", source, "-o", tmp_path / "clean").stdout
    for part in (
        "documents                4",
        "kept                     2",
        "exact copies           1",
        "near copies ",
    ):
        assert part in output
    assert "exact: no two kept documents have Jaccard >= 0.8" in output
    assert str(tmp_path / "clean") in output.replace("\n", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("clean", "clean/"),
        ("clean/", "clean/"),
        ("clean.parquet", "clean.parquet"),
        ("clean.parquet/", "clean.parquet/"),
    ],
)
def test_what_was_written_is_called_what_it_is(name, told, source, tmp_path, monkeypatch):
    """A folder ends in a slash."""
    monkeypatch.chdir(tmp_path)
    assert f"Written: {told}" == run("dedup", source, "-o", name).stdout.splitlines()[-1]


def test_quiet_is_silent(source, tmp_path):
    """-q: nothing on either stream."""
    done = run("dedup", source, "-o", tmp_path / "clean", "-q")
    assert (0, "", "") == (done.exit_code, done.stdout, done.stderr)


def test_json_is_all_of_standard_output(source):
    """--json prints the statistics and nothing else."""
    stats = json.loads(run("dedup", source, "--json").stdout)
    assert (2, "jaccard") == (stats["removed"], stats["recipe"]["method"])


def test_a_dry_run_writes_nothing_and_shows_pairs(source, tmp_path):
    """The sample has both texts from a little before their first difference."""
    done = run("dedup", source, "-o", tmp_path / "clean", "--dry-run")
    assert 0 == done.exit_code
    assert not (tmp_path / "clean").exists()
    assert "a-edited" in done.stdout
    assert f"another {words(60, 1)[31]}" in done.stdout
    assert "the same text" in done.stdout


def test_a_dry_run_names_the_places_of_documents_of_one_id(tmp_path):
    """Of files that each count anew the ids do not say which is which."""
    for name in ("a", "b"):
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": "0", "text": " ".join(words(60, 1))}])
    done = run("dedup", tmp_path, "--dry-run")
    places = {(line[:5], line[-15:]) for line in done.stdout.splitlines()}
    assert {("  - 0", "b.jsonl, row 0"), ("  + 0", "a.jsonl, row 0")} <= {(sign, at.lstrip("/")) for sign, at in places}


def test_without_a_place_to_write_to_nothing_is_done(source):
    """Neither -o nor --dry-run nor --json is an error that says so."""
    done = run("dedup", source)
    assert 2 == done.exit_code
    assert "error: no output was named\nhint: Add -o PLACE, or --dry-run to only look.\n" == done.stderr


@pytest.mark.parametrize("option", ["--pairs", "--annotate", "--copy", "--drop-unreadable", "--overwrite"])
def test_what_shapes_the_folder_needs_one(option, source):
    """An option that would be ignored is an error."""
    done = run("dedup", source, "--json", option)
    assert (2, f"error: {option} does nothing without -o") == (done.exit_code, done.stderr.splitlines()[0])


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("jaccard", ["--digest", "md5"]),
        ("jaccard", ["--recall", "0.9"]),
        ("minhash", ["--normalise"]),
        ("digest", ["--threshold", "0.9"]),
        ("digest", ["--no-overlap"]),
        ("digest", ["--no-whitespace"]),
        ("digest", ["--whitespace"]),
    ],
)
def test_an_option_of_another_method_is_an_error_that_names_both(method, given, source):
    """Never ignored."""
    done = run("dedup", source, "--json", "--method", method, *given)
    assert (2, f"error: --method {method} has no option {given[0]}") == (done.exit_code, done.stderr.splitlines()[0])


@pytest.mark.parametrize(
    ("given", "recipe"),
    [
        ([], {"method": "jaccard", "overlapping": True, "keep": "first", "within": True}),
        (["--threshold", "2/3", "--shingle-size", "3", "--unit", "chars"], {"shingle_size": 3, "unit": "chars"}),
        (
            ["--keep-case", "--keep-punctuation", "--nfkc", "--strip-accents"],
            {"keep_case": True, "strip_accents": True},
        ),
        (["--stop-words", "en,de"], {"stop_words": ["en", "de"]}),
        (["--stop-words", "in,the,=it"], {"stop_words": ["in", "the", "=it"]}),
        (["--no-overlap", "--repeats", "--whitespace"], {"overlapping": False, "repeats": True, "whitespace": True}),
        (["--no-whitespace", "--seed", "7"], {"whitespace": False, "seed": 7}),
        (["--method", "digest"], {"method": "digest", "algorithm": "sha256", "normalise": False}),
        (["--method", "digest", "--digest", "crc32", "--normalise"], {"algorithm": "crc32", "normalise": True}),
        (["--method", "minhash"], {"method": "minhash", "recall": 0.99, "num_perm": 128, "sketch": "fast"}),
        (
            ["--method", "minhash", "--num-perm", "200", "--sketch", "classic", "--bands", "20", "--rows", "5"],
            {"num_perm": 200, "sketch": "classic", "bands": 20, "rows": 5, "choice": "consecutive"},
        ),
        (["--method", "minhash", "--verify", "estimate", "--choice", "random"], {"verify": "estimate"}),
        (["--keep", "longest"], {"keep": "longest"}),
    ],
)
def test_options_become_the_recipe(given, recipe, source):
    """Each flag parses to a plain value of the recipe."""
    done = run("dedup", source, "--json", *given)
    assert 0 == done.exit_code, done.stderr
    found = json.loads(done.stdout)["recipe"]
    assert recipe == {name: found[name] for name in recipe}


def test_against_keeps_the_other_side_and_leaves_it_out(source, tmp_path):
    """Only the first side is judged and copied; --no-within leaves its own copies alone."""
    old = write_jsonl(tmp_path / "old.jsonl", documents()[1:2])
    done = run("dedup", source, "--against", old, "--no-within", "-o", tmp_path / "clean")
    assert 0 == done.exit_code, done.stderr
    assert ["a", "a-copy", "a-edited"] == ids(tmp_path / "clean" / "kept" / "pages.jsonl")
    assert [str(old)] == [row["witness_source"] for row in table(tmp_path / "clean" / "removed.parquet")]
    assert ["pages.jsonl"] == [path.name for path in (tmp_path / "clean" / "kept").iterdir()]
    assert "with one of --against" in done.stdout


def test_no_within_needs_against(source):
    """Else nothing would be compared."""
    assert 2 == run("dedup", source, "--json", "--no-within").exit_code


def test_annotate_keeps_all_records_and_adds_three_columns(source, tmp_path):
    """Cluster, witness and number of duplicates, by the same file names."""
    run("dedup", source, "-o", tmp_path / "clean", "--annotate")
    lines = [json.loads(line) for line in (tmp_path / "clean/kept/pages.jsonl").read_text("utf-8").splitlines()]
    found = [(line["cluster"], line["witness_id"], line["num_duplicates"]) for line in lines]
    assert [(0, None, 2), (None, None, 0), (0, "a", 0), (0, "a", 0)] == found


def test_a_folder_of_texts_is_listed_or_copied(tmp_path):
    """kept.txt, or with --copy the files that stay."""
    home = tmp_path / "texts"
    (home / "inner").mkdir(parents=True)
    for record in documents():
        (home / "inner" / f"{record['id']}.txt").write_text(record["text"], "utf-8")
    run("dedup", home, "-o", tmp_path / "listed")
    assert "inner/a-copy.txt\ninner/b.txt\n" == (tmp_path / "listed/kept/kept.txt").read_text("utf-8")
    run("dedup", home, "-o", tmp_path / "copied", "--copy")
    kept = sorted(path.name for path in (tmp_path / "copied/kept/inner").iterdir())
    assert ["a-copy.txt", "b.txt"] == kept


def test_standard_input_is_json_lines(source, tmp_path):
    """`-` is read once, and its copy is stdin.jsonl."""
    done = run("dedup", "-", "-o", tmp_path / "clean", stdin=source.read_bytes())
    assert 0 == done.exit_code, done.stderr
    assert ["a", "b"] == ids(tmp_path / "clean/kept/stdin.jsonl")


@pytest.mark.parametrize("what", ["cut", "followed by something else"])
def test_standard_input_that_breaks_off_is_told_and_its_answer_holds(what, tmp_path):
    """Nobody can read it again, so nothing speaks against what was said of it."""
    packed = gzip.compress("".join(json.dumps({"text": " ".join(words(30, n))}) + "\n" for n in range(200)).encode())
    given = packed[: len(packed) // 2] if what == "cut" else packed + b"junk" * 10
    done = run("dedup", "-", "-o", tmp_path / "clean", stdin=given)
    assert 3 == done.exit_code, done.stderr
    assert [] == list(ns.verify(tmp_path / "clean").problems)


def test_several_sources_keep_their_names_and_formats(tmp_path):
    """Each part is copied by its own name, format and compression; the order of reading decides who stays."""
    records = documents()
    (tmp_path / "one.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in records[:2]).encode()))
    pq.write_table(pa.Table.from_pylist(records[2:]), tmp_path / "two.parquet")
    done = run("dedup", tmp_path / "two.parquet", tmp_path / "one.jsonl.gz", "-o", tmp_path / "clean")
    assert 0 == done.exit_code, done.stderr
    assert [records[2]] == table(tmp_path / "clean/kept/two.parquet")
    assert [records[1]] == [json.loads(gzip.decompress((tmp_path / "clean/kept/one.jsonl.gz").read_bytes()))]


def test_an_existing_folder_is_replaced_only_when_asked(source, tmp_path):
    """Refused before anything is read; with --overwrite the old one goes, and nothing else is left."""
    home = tmp_path / "clean"
    home.mkdir()
    (home / "old").touch()
    done = run("dedup", source, "-o", home)
    assert (2, ["old"]) == (done.exit_code, [path.name for path in home.iterdir()])
    done = run("dedup", source, "-o", home, "--overwrite")
    assert (2, True) == (done.exit_code, "was not written by nearsame" in " ".join(done.stderr.split()))
    for theirs in ("", "{", "[]", '{"documents": 3}', "[" * 99999):
        (home / "stats.json").write_text(theirs, "utf-8")
        assert 2 == run("dedup", source, "-o", home, "--overwrite").exit_code
    assert 0 == run("dedup", source, "-o", tmp_path / "another").exit_code
    shutil.copy(tmp_path / "another" / "stats.json", home)
    assert 0 == run("dedup", source, "-o", home, "--overwrite").exit_code
    assert "old" not in [path.name for path in home.iterdir()]
    assert [] == leftovers(tmp_path)


def test_the_digest_method_finds_equal_texts_only(source):
    """And its summary says what it promises."""
    done = run("dedup", source, "--method", "digest", "--dry-run")
    assert "exact: no two kept documents have equal texts" in done.stdout
    assert "removed                  1" in done.stdout


def test_an_estimate_says_that_it_is_one(source):
    """The guarantee is about the measure."""
    done = run("dedup", source, "--method", "minhash", "--verify", "estimate", "--dry-run")
    assert "Guarantee: an estimate" in done.stdout
    assert "estimated >= 0.8" in done.stdout


def test_threads_are_at_least_one(source):
    """A bad number is the user's error."""
    assert 2 == run("dedup", source, "--json", "--threads", "0").exit_code


def test_boilerplate_is_dropped_and_told(tmp_path):
    """Four pages that differ in two words are one at .5, and four once what they share is gone; the summary says so."""
    shared = words(30, 7)
    pages = [{"id": f"p{i}", "text": " ".join([*shared, f"one{i}", f"two{i}"])} for i in range(4)]
    source = write_jsonl(tmp_path / "pages.jsonl", pages)
    options = ["--threshold", "0.5", "--dry-run"]
    assert re.search(r"^kept +1 ", run("dedup", source, *options).stdout, re.MULTILINE)
    dropping = run("dedup", source, *options, "--drop-boilerplate", 3)
    assert re.search(r"^kept +4 ", dropping.stdout, re.MULTILINE)
    assert "26 shingles in more than 3 documents each dropped." in dropping.stdout
    refused = run("dedup", source, "--dry-run", "--method", "digest", "--drop-boilerplate", 3)
    assert (2, True) == (refused.exit_code, "--method digest has no option --drop-boilerplate" in refused.stderr)


def test_components_are_told_for_what_they_are(tmp_path):
    """Of the three links of a chain one stays; the table and the summary say what the last owes to the second."""
    text = words(80, 3)
    pages = [{"id": f"p{i}", "text": " ".join(text[6 * i : 6 * i + 60])} for i in range(3)]
    source = write_jsonl(tmp_path / "pages.jsonl", pages)
    told = run("dedup", source, "-o", tmp_path / "out", "--clusters", "components")
    summary = " ".join(told.stdout.split())
    assert "by a chain 1 less similar to their witness than that" in summary
    assert "largest component: 3 documents, 3 distinct, least similarity 0.647, 2 pairs without which it" in summary
    assert "linked to a kept witness through a chain of pairs >= 0.8, each verified" in summary
    assert [("p1", "jaccard"), ("p2", "component")] == [
        (line["id"], line["measure"]) for line in table(tmp_path / "out" / "removed.parquet")
    ]
    greedy = json.loads(run("dedup", source, "--dry-run", "--json").stdout)
    assert (2, 0, None) == (greedy["kept"], greedy["chained"], greedy["component"])
