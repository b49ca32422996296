"""What somebody, or a fault, may do to an output: each is noticed, and told with its place."""

import gzip
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from tests.cli.commands import documents, run, words, write_jsonl

Change = Callable[[pa.Table], pa.Table]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An output of ten documents in a file and a compressed one; six of them stay."""
    others = [{"id": f"x{number}", "text": " ".join(words(30, 10 + number))} for number in range(4)]
    write_jsonl(tmp_path / "a.jsonl", [*documents(), *others])
    more = [{"id": "y0", "text": others[0]["text"]}, {"id": "y1", "text": documents()[1]["text"]}]
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as out:
        out.writelines(json.dumps(record) + "\n" for record in more)
    ns.dedup((str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl.gz"))).write(tmp_path / "out", pairs=True)
    assert ns.verify(tmp_path / "out").holds
    return tmp_path / "out"


def _problems(home: Path, **how: Any) -> list[str]:
    found = ns.verify(home, **how)
    assert not found.holds
    return [f"{problem.place}: {problem.what}" for problem in found.problems]


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _changed(path: Path, change: Change) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def _set(column: str, line: int, value: Any) -> Change:
    def change(table: pa.Table) -> pa.Table:
        values = table.column(column).to_pylist()
        values[line] = value
        at = table.schema.get_field_index(column)
        return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))

    return change


def test_a_byte_of_a_kept_file(home: Path) -> None:
    """The line and the byte are named."""
    kept = home / "kept" / "a.jsonl"
    lines = _lines(kept)
    lines[1] = lines[1][:20] + b"#" + lines[1][21:]
    kept.write_bytes(b"".join(lines))
    assert [
        "kept/a.jsonl, line 2: it is not record 1 of " + f"{home.parent}/a.jsonl: they differ at byte 20"
    ] == _problems(home)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines[:-1], lines[-1].rstrip(b"\n")], 6),
        (lambda lines: [*lines[:3], b"\n", *lines[3:]], 4),
    ],
    ids=["lost", "swapped", "doubled", "line end", "blank line"],
)
def test_records_of_a_kept_file(home: Path, change: Callable[[list[bytes]], list[bytes]], line: int) -> None:
    """Lost, swapped, doubled, cut, or with something between."""
    kept = home / "kept" / "a.jsonl"
    kept.write_bytes(b"".join(change(_lines(kept))))
    (problem,) = _problems(home)
    assert problem.startswith(f"kept/a.jsonl, line {line}: it is not record")


def test_the_last_record_is_lost_or_one_is_added(home: Path) -> None:
    """The end is looked at, too."""
    kept = home / "kept" / "a.jsonl"
    whole = kept.read_bytes()
    kept.write_bytes(b"".join(_lines(kept)[:-1]))
    assert ["kept/a.jsonl: it ends where record 7 of " + f"{home.parent}/a.jsonl should stand"] == _problems(home)
    kept.write_bytes(whole + b'{"id": "new", "text": "more"}\n')
    assert _problems(home)[0].startswith("kept/a.jsonl: it goes on after the last record")
    kept.unlink()
    assert _problems(home)[0].startswith("kept/a.jsonl: the copy of")


def test_a_removed_record_in_a_compressed_copy(home: Path) -> None:
    """What was removed is there again."""
    with gzip.open(home / "kept" / "b.jsonl.gz", "wb") as out:
        out.write(gzip.decompress((home.parent / "b.jsonl.gz").read_bytes()))
    assert _problems(home)[0].startswith("kept/b.jsonl.gz: it goes on after the last record")


@pytest.mark.parametrize(
    ("column", "line", "value", "what"),
    [
        ("similarity", 1, 0.9, "the similarity is said to be 0.9, and is 0.8360655738"),
        ("witness_row", 0, 1, "the similarity is said to be 1, and is 0"),
        ("witness_row", 0, 99, "record 99): its witness was not found in the sources"),
        ("witness_row", 1, 2, "is removed itself"),
        ("witness_source", 0, "elsewhere", "elsewhere is not one of the sources"),
        ("witness_id", 0, "b", "ids are 'a-copy' and 'b', which are 'a-copy' and 'a'"),
        ("id", 0, "other", "ids are 'other' and 'a', which are 'a-copy' and 'a'"),
        ("row", 0, 5, "the similarity is said to be 1, and is 0"),
        ("row", 1, 2, "is removed twice"),
        ("cluster", 0, 3, "is not what removed.parquet says"),
    ],
)  # fmt: skip
def test_a_line_of_removed(home: Path, column: str, line: int, value: Any, what: str) -> None:
    """Another similarity, witness, id or place: the line and what is true there."""
    _changed(home / "removed.parquet", _set(column, line, value))
    found = _problems(home)
    assert any(what in problem for problem in found), found
    assert any(f"removed.parquet, line {line}" in problem or "clusters.parquet" in problem for problem in found)


def test_a_removal_that_is_not_listed(home: Path) -> None:
    """Its record is missed in kept/, and the counts are wrong."""
    _changed(home / "removed.parquet", lambda table: table.slice(1))
    found = _problems(home)
    assert any(problem.startswith("stats.json: removed is 4, and should be 3") for problem in found)
    assert any("it is not record 2 of" in problem for problem in found)


@pytest.mark.parametrize("name", ["documents", "removed", "kept", "clusters", "exact_copies", "empty"])
def test_a_wrong_count(home: Path, name: str) -> None:
    """Each is counted again."""
    path = home / "stats.json"
    stats = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(stats | {name: stats[name] + 1}), "utf-8")
    assert any(problem.startswith(f"stats.json: {name} is {stats[name] + 1}") for problem in _problems(home))


def test_a_measure_that_there_is_not(home: Path) -> None:
    """What similarities are called is one of known words."""
    path = home / "stats.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"measure": "likeness"}), "utf-8")
    assert any(problem.startswith('stats.json: measure="likeness" is impossible') for problem in _problems(home))


@pytest.mark.parametrize(
    "change",
    [lambda table: table.slice(1), lambda table: table.filter(pc.not_equal(table.column("role"), "keeper"))],
    ids=["a line", "keepers"],
)
@pytest.mark.parametrize("name", ["clusters"])
def test_lines_of_clusters(home: Path, name: str, change: Change) -> None:
    """They are those of removed.parquet, and their keepers."""
    _changed(home / f"{name}.parquet", change)
    assert any(problem.startswith(f"{name}.parquet: ") for problem in _problems(home))


def test_a_pair_that_is_lost(home: Path) -> None:
    """Each removed document has its pair."""
    _changed(home / "pairs.parquet", lambda table: table.slice(1))
    found = _problems(home)
    assert any(
        "pairs.parquet: {'a_id': 'a', " in problem and "is missing, which is in" in problem for problem in found
    ), found


@pytest.mark.parametrize(("method", "least"), [
    (ns.Jaccard, "0.836066"), (ns.Cosine, "0.910714"), (partial(ns.Cosine, weights="tfidf"), "0.837348"),
])  # fmt: skip
def test_similar_documents_that_both_stay(method: Any, least: str, tmp_path: Path) -> None:
    """Nobody claims anything wrong of anybody, and yet it is no answer: only the sample can tell."""
    path = write_jsonl(tmp_path / "a.jsonl", documents())
    stats = ns.dedup(str(path), method=method(threshold="0.95")).write(tmp_path / "out").record()
    lower = {"recipe": {**stats["recipe"], "threshold": 0.8}, "least": 0.8}
    (tmp_path / "out" / "stats.json").write_text(json.dumps(stats | lower), "utf-8")
    found = _problems(tmp_path / "out")
    assert [f"kept/: {path}, record 0, and {path}, record 3, both stay, and are {least} similar"] == found
    assert ns.verify(tmp_path / "out", sample=0).holds


@pytest.mark.parametrize(
    "method",
    [
        ns.Cosine(threshold="2/3", shingle_size=1),
        ns.Cosine(threshold="1/3", shingle_size=1, weights="tfidf"),
        ns.SimHash(k=16, confirm="cosine", threshold="2/3"),
        ns.SimHash(k=16, confirm="edit", threshold="0.8"),
        ns.SimHash(k=12),
        ns.MinHash(threshold="0.6", shingle_size=1, verify="estimate"),
    ],
    ids=lambda method: f"{method.name} {method.reports}",
)
def test_chains_are_judged_by_the_measure_of_their_method(method: Any, tmp_path: Path) -> None:
    """A row whose witness is only joined with it says how similar they are by what joined them; estimates stay such."""
    all_words = words(60, 5)
    chain = [" ".join(all_words[start : start + 20]) for start in range(0, 24, 2)]
    pair = ["alpha beta gamma", "alpha beta delta"]
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": str(n), "text": text} for n, text in enumerate([*chain, *pair])])
    found = ns.dedup(str(path), method=method, clusters="components", audit=False)
    found.write(tmp_path / "out")
    assert found.stats.chained
    assert () == ns.verify(tmp_path / "out").problems


@pytest.mark.parametrize("method", [ns.Containment(), ns.ModP()], ids=lambda method: method.name)
def test_shares_need_not_be_measured_of_any_pair(method: Any, tmp_path: Path) -> None:
    """Where a cheaper layer has found all of them; numbers that are no shares are told nonetheless."""
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "one two three four five six"}] * 2)
    found = ns.dedup(str(path), method=method, use=("digest", "text"), audit=False)
    found.write(tmp_path / "out", pairs=True)
    assert () == ns.verify(tmp_path / "out").problems
    pairs = tmp_path / "out" / "pairs.parquet"
    table = pq.read_table(pairs)
    at = table.schema.get_field_index("a_in_b")
    pq.write_table(table.set_column(at, table.schema.field(at), pa.array([2.0])), pairs)
    assert "pairs.parquet: column 'a_in_b' has values that are not from 0 to 1" in _problems(tmp_path / "out")


def test_a_source_that_has_changed_is_told(home: Path) -> None:
    """Beside what does not hold any more stands why."""
    path = home.parent / "a.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": "new", "text": "more"}\n')
    found = ns.verify(home)
    assert any(problem.what.startswith("it has changed since the run: ") for problem in found.problems)
    path.unlink()
    found = _problems(home)
    assert f"{path}: it is not there any more: put it back where it was for the run" == found[0]


def test_what_is_no_output_of_dedup_is_told(tmp_path: Path) -> None:
    """Each with a hint that is about it: a file, nothing, and a folder of something else."""
    file, folder = tmp_path / "pairs.parquet", tmp_path / "mirrors"
    file.write_bytes(b"")
    folder.mkdir()
    (folder / "stats.json").write_text("{}")
    told = [run("verify", place).stderr.splitlines() for place in (file, tmp_path / "none", folder)]
    assert [
        [
            f"error: {file} is a file, and an output of dedup that can be read again is a folder",
            "hint: Name a folder that dedup -o wrote. A file of pairs or kept records has no proof beside it.",
        ],
        [f"error: {tmp_path / 'none'} does not exist", "hint: Check the path."],
        [
            f"error: {folder} is not an output of dedup: it has no removed.parquet",
            "hint: Name a folder that dedup -o wrote with this version of nearsame.",
        ],
    ] == told


def test_the_command_says_what_is_wrong_and_exits_with_1(home: Path) -> None:
    """0 while everything holds; a list, or JSON, where something does not."""
    done = run("verify", home)
    assert (0, True) == (done.exit_code, done.stdout.endswith("Everything holds.\n")), done.output
    kept = home / "kept" / "a.jsonl"
    kept.write_bytes(b"".join(_lines(kept)[1:]))
    done = run("verify", home, "-q")
    assert 1 == done.exit_code
    assert done.stdout.startswith("wrong: kept/a.jsonl, line 1: it is not record 0 of")
    told = json.loads(run("verify", home, "--json").stdout)
    assert (False, 1) == (told["holds"], len(told["problems"]))


@pytest.mark.parametrize("name", ["stats.json", "removed.parquet", "sources.parquet"])
def test_a_file_that_is_damaged_or_missing_is_listed(home: Path, name: str) -> None:
    """With its name, and code 1: the rest still says that it is an output."""
    (home / name).write_bytes(b"PAR1 or not")
    done = run("verify", home)
    assert (1, True) == (done.exit_code, f"wrong: {name}: it cannot be read" in done.stdout), done.output
    (home / name).unlink()
    done = run("verify", home)
    assert (1, True) == (done.exit_code, f"wrong: {name}: it is missing" in done.stdout), done.output


def test_what_spark_wrote_is_an_error(tmp_path: Path) -> None:
    """Only what one machine has written can be read again."""
    (tmp_path / "removed").mkdir()
    (tmp_path / "stats.json").write_text("{}", "utf-8")
    done = run("verify", tmp_path)
    assert (3, True) == (done.exit_code, "was written on Spark, and only an output of one machine" in done.stderr), (
        done.output
    )


def test_an_output_whose_name_is_not_unicode(home: Path) -> None:
    """It is read like any other, and its name is printed as far as it can be."""
    odd = home.parent / os.fsdecode(b"out-\xff")
    home.rename(odd)
    done = run("verify", odd)
    assert (0, True) == (done.exit_code, "Everything holds." in done.stdout), done.output
    assert 0 == run("verify", "--json", odd).exit_code


def test_what_has_no_text_takes_nobody_along_and_goes_in_no_layer_about_texts(tmp_path: Path) -> None:
    """Neither as the witness nor as the document that goes: here shells of pages of one URL."""
    texts = ("one two three", "one two three", "", "")
    pages = [{"url": "http://a.org/", "html": f"<main><p>{text}</p></main>"} for text in texts]
    ns.dedup(write_jsonl(tmp_path / "a.jsonl", pages), use="url", html_column="html").write(tmp_path / "out")
    removed = tmp_path / "out" / "removed.parquet"
    table = pq.read_table(removed)
    assert [(1, 0)] == list(zip(*(table.column(name).to_pylist() for name in ("row", "witness_row")), strict=True))
    for column, said in (("witness_row", "the witness has no text"), ("row", "it has no text, and the layer url")):
        _changed(removed, _set(column, 0, 2))
        assert any(said in problem for problem in _problems(tmp_path / "out"))
        pq.write_table(table, removed)
