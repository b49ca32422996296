"""A run once more: what an output records is enough to give the same bytes again."""

import json
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import SourceError
from tests.cli.commands import run
from tests.examples import share

WORDS = st.lists(st.sampled_from("abcdef"), max_size=5).map(" ".join)
ROWS = st.lists(st.tuples(WORDS, st.sampled_from([None, "x", "y"]), st.integers(0, 3)), min_size=1, max_size=8)
METHODS = st.sampled_from([
    None, "digest", ns.Jaccard(threshold=0.55, shingle_size=1), ns.Containment(threshold=0.6, shingle_size=1),
    ns.MinHash(threshold=0.5, shingle_size=2, seed="random"), ns.SimHash(k=9, confirm="jaccard"),
    ns.Jaccard(stop_words="a,=b", confirm="edit", confirm_threshold=0.3, shingle_size=1),
])  # fmt: skip
NAMES = st.lists(st.sampled_from(["a0", "a1", "c0", "c1", "b0", "old0"]), min_size=2, max_size=2, unique=True)
DECISIONS = st.lists(
    st.builds(
        lambda ids, said: {"id1": ids[0], "id2": ids[1], **({"keep": ids[0]} if said == "keep" else {"label": said})},
        NAMES, st.sampled_from(["no", "keep", "yes", "unknown"]),
    ),
    min_size=1, max_size=4, unique_by=lambda one: frozenset((one["id1"], one["id2"])),
)  # fmt: skip
OPTIONS = st.fixed_dictionaries(
    {"method": METHODS},
    optional={
        "keep": st.sampled_from(["longest", "max:n, last", ["min:n", "shortest"]]),
        "group_by": st.sampled_from(["g", "lang", "host"]),
        "clusters": st.just("components"),
        "use": st.sampled_from(["digest,text", "url,digest", "url,text"]),
        "order_column": st.just("n"),
        "exclude": st.just("b.*"),
        "read_as": st.just(["jsonl=*.log"]),
        "id_column": st.just("name"),
        "encoding": st.sampled_from(["utf-8", "latin-1"]),
        "max_record": st.just("40B"),
        "audit": st.booleans(),
        "within": st.just(False),
        "urls": st.just(ns.CanonicalUrl(percent=False)),
        "features_column": st.just("words"),
        "decisions": DECISIONS,
    },
)
WRITTEN = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("pairs", "annotate", "drop_unreadable", "copy_files")}
)


def _files(home: Path) -> dict[str, bytes]:
    """All that was written, but times and which call it was."""
    files = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    stats = json.loads(files.pop("stats.json"))
    for one in (stats, stats.get("stats", {})):
        for name in ("seconds", "thread_seconds", "room", "megabytes_per_second"):
            one.pop(name, None)
    return {**files, "stats.json": json.dumps(stats, sort_keys=True).encode()}


@pytest.mark.slow
@given(ROWS, ROWS, OPTIONS, WRITTEN, st.booleans())
@settings(max_examples=share(80))
def test_the_same_bytes_come_again(rows, others, options, written, is_compared) -> None:
    """Whatever was asked for, of files with and without columns, on one side and on two."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, some in (("in/lang=en/a.jsonl", rows), ("in/lang=de/c.log", others), ("in/b.jsonl", rows[:1])):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            lines = [
                json.dumps(
                    {
                        "id": f"{Path(name).stem}{number}",
                        "text": text,
                        "words": text.split(),
                        "g": group,
                        "n": n,
                        "name": f"{text}{n}",
                        "url": f"http://{group}.org/{n}?b&a",
                    }
                )
                for number, (text, group, n) in enumerate(some)
            ]
            (home / name).write_text("\n".join(lines))
        (home / "old.jsonl").write_text(
            json.dumps(
                {"id": "old0", "text": "a b c", "words": ["a"], "g": "x", "n": 0, "name": "o", "url": "http://o/"}
            )
        )
        against = (home / "old.jsonl",) if is_compared or "within" in options else None
        try:
            first = ns.dedup(home / "in", against=against, **options)
        except ns.NearSameError:
            return  # what cannot be asked cannot be asked again
        first.write(home / "one", **written)
        again = ns.rerun(home / "one")
        again.write(home / "two", **written)
        assert _files(home / "one") == _files(home / "two")
        if not written.pop("annotate", False):
            first.write(home / "mask", mask=True, pairs=written.pop("pairs", False))
            ns.apply(home / "mask", home / "three", **written)
            assert _files(home / "one") == _files(home / "three")


def test_the_recipe_of_a_raised_threshold_is_run_again(tmp_path: Path) -> None:
    """On other sources, which may be in memory, and written as the first was by the command."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d"}\n{"text": "a b c e"}\n{"text": "a b c d"}\n')
    found = ns.dedup(tmp_path / "a.jsonl", method=ns.Jaccard(threshold=0.5, shingle_size=1), keep="last")
    found.at(threshold=0.9).write(tmp_path / "one", pairs=True)
    again = ns.rerun(tmp_path / "one", ["a b c d", "a b c e", "A b c d"])
    assert (["a b c e", "A b c d"], 0.9) == (again.kept()["text"].to_pylist(), float(again.method.least))
    done = run("rerun", tmp_path / "one", "-o", tmp_path / "two")
    assert 0 == done.exit_code, done.stderr
    one, two = _files(tmp_path / "one"), _files(tmp_path / "two")
    assert {**one, "stats.json": b""} == {**two, "stats.json": b""}  # but keys for the lower threshold
    printed = run("rerun", tmp_path / "one", tmp_path / "a.jsonl", "-o", "-")
    assert (2, "pairs (--pairs)" in printed.stderr) == (printed.exit_code, True)


def test_a_table_of_frequencies_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sources are, and decisions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "one two three"}\n{"id": "b", "text": "one two three"}\n')
    (tmp_path / "some.tsv").write_text("id1\tid2\tlabel\na\tb\tno\n")
    ns.dedup("a.jsonl", method=ns.SimHash(weights="tfidf")).write("first")
    method = ns.SimHash(weights="tfidf", frequencies="first/frequencies.parquet")
    ns.dedup("a.jsonl", method=method, decisions="some.tsv").write("out")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert ns.rerun("../out").stats.kept == 2
    monkeypatch.chdir(tmp_path)
    assert ns.rerun("out").stats.kept == 2


def test_layers_without_urls_are_run_again(tmp_path: Path) -> None:
    """Their record has a rule about URLs, though no document has one and nobody gave the rule."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b c"}\n{"text": "a b c"}\n{"text": "d"}\n')
    ns.dedup(tmp_path / "a.jsonl", use="digest,text").write(tmp_path / "one")
    ns.rerun(tmp_path / "one").write(tmp_path / "two")
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_lists_of_items_are_run_again(tmp_path: Path) -> None:
    """What is recorded of texts is as usual there, and does nothing to items: nobody gave it."""
    rows = [{"id": name, "words": words.split()} for name, words in (("a", "x y z"), ("b", "x y z"), ("c", "x y"))]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    some = {"method": ns.MinHash(threshold=0.6), "features_column": "words"}
    assert 2 == ns.dedup(tmp_path / "a.jsonl", **some).write(tmp_path / "one").removed
    assert 2 == ns.rerun(tmp_path / "one").stats.removed
    listed = ns.pairs(tmp_path / "a.jsonl", **some)
    listed.write(tmp_path / "pairs.parquet")
    assert ns.rerun(tmp_path / "pairs.parquet").table == listed.table


def test_what_was_not_kept_cannot_be_run_again(tmp_path: Path) -> None:
    """Documents in memory, standard input, files, folders of others, and outputs of before."""
    ns.dedup(["a", "b"]).write(tmp_path / "one")
    for place, said in (
        ("one", "documents in memory"),
        ("two", "does not exist"),
        (".", "has nothing that says how it was made"),
    ):
        with pytest.raises(SourceError, match=said):
            ns.rerun(tmp_path / place)
    run("dedup", "-", "-o", tmp_path / "piped", stdin=b'{"text": "a"}\n')
    with pytest.raises(SourceError, match="standard input"):
        ns.rerun(tmp_path / "piped")
    assert 1 == ns.rerun(tmp_path / "piped", ["a", "a"], against=None).stats.removed


BOOK = "call me ishmael some years ago never mind how long precisely having little or no money in my purse"
FEW = ("--shingle-size", "1", "--threshold", "0.5")
LEAKS = ("leaks", "a.jsonl", "--eval", "evals.jsonl", "--threshold", "0.9")
KINDS = [
    ("one.parquet", ("pairs", "a.jsonl", "b.parquet", *FEW, "--identical", "star", "--max-pairs", "99")),
    ("one.arrow", ("pairs", "a.jsonl", "--against", "b.parquet", *FEW, "--method", "containment")),
    ("one.parquet", ("dedup", "b.parquet", "--keep", "last", *FEW)),
    ("one.arrow", ("dedup", "a.jsonl", "b.parquet", "--keep", "longest", "--use", "url,text")),
    ("one", ("mirrors", "a.jsonl", "--min-common", "2", "--prefer", "named:b.example", "--tables", "jsonl", *FEW)),
    ("one", ("mirrors", "a.jsonl", "--min-common", "2", "--cluster-column", "text", "--no-slashes")),
    ("one", (*LEAKS, "--eval", "b.parquet", "--remove", "spans")),
    ("one.parquet", (*LEAKS, "--eval-column", "question")),
]  # fmt: skip


@pytest.mark.parametrize(("place", "command"), KINDS)
def test_every_kind_of_output_is_run_again(place, command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From one file or a folder, by its command: the same bytes on the same sources, other ones on others."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"{host}{n}", "url": f"http://{host}.example/{n}", "text": f"{BOOK} {n}"}
        for host in "ab" for n in ("one", "two", "three")
    ]  # fmt: skip
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("evals.jsonl").write_text(json.dumps({"id": "q", "question": BOOK, "answer": "none of it at all"}))
    pq.write_table(pa.Table.from_pylist(rows[2:]), "b.parquet")
    second = f"two{Path(place).suffix}"
    assert 0 == run(*command, "-o", place).exit_code
    done = run("rerun", place, "-o", second)
    assert (0, True) == (done.exit_code, second in done.stdout), done.stderr
    assert _written(Path(place)) == _written(Path(second))
    shutil.move("a.jsonl", "c.jsonl")
    if "a.jsonl" in command:
        assert 3 == run("rerun", place, "-o", "three").exit_code
    Path("d.jsonl").write_text(json.dumps({"id": "d", "url": "http://b.example/d", "text": "nothing of the kind"}))
    third = f"three{Path(place).suffix}"
    done = run("rerun", place, "d.jsonl", "-o", third, "--json")
    assert 0 == done.exit_code, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert _written(Path(place)) != _written(Path(third))


def _written(place: Path) -> dict[str, bytes]:
    return _files(place) if place.is_dir() else {"": place.read_bytes()}


def test_what_has_no_place_for_a_call_says_so(tmp_path: Path) -> None:
    """Lines of JSON and CSV."""
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "a"}\n')
    for place in ("pairs.jsonl", "pairs.csv"):
        ns.pairs(tmp_path / "a.jsonl").write(tmp_path / place)
        with pytest.raises(SourceError, match="is a file that does not say how it was made"):
            ns.rerun(tmp_path / place)
    ns.pairs(["a", "a"]).write(tmp_path / "pairs.parquet")
    with pytest.raises(SourceError, match="documents in memory"):
        ns.rerun(tmp_path / "pairs.parquet")
    assert 3 == ns.rerun(tmp_path / "pairs.parquet", ["b", "b", "b"]).num_pairs


@pytest.mark.slow
def test_what_spark_wrote_is_run_again(spark, tmp_path: Path) -> None:
    """There and on one machine: of documents, pairs and leaks the same."""
    (tmp_path / "in").mkdir()
    lines = [{"id": name, "text": f"{BOOK} {name}"} for name in "abc"] + [{"id": "q", "text": "something else"}]
    (tmp_path / "in" / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "evals.jsonl").write_text(json.dumps({"id": "q", "question": BOOK}))
    engine, source = ns.Spark(spark), str(tmp_path / "in")
    ns.dedup(source, keep="longest", engine=engine).write(tmp_path / "kept", pairs=True)
    ns.pairs(source, engine=engine).write(tmp_path / "pairs.parquet")
    ns.leaks(source, str(tmp_path / "evals.jsonl"), engine=engine).write(tmp_path / "leaks", remove="documents")
    one, two = (ns.rerun(tmp_path / "kept", **where) for where in ({}, {"engine": engine}))
    assert one.removals["id"].to_pylist() == sorted(two.removals.toArrow()["id"].to_pylist()) == ["b", "c"]
    one, two = (ns.rerun(tmp_path / "pairs.parquet", **where) for where in ({}, {"engine": engine}))
    assert (3, 3) == (one.num_pairs, two.num_pairs)
    one, two = (ns.rerun(tmp_path / "leaks", **where) for where in ({}, {"engine": engine}))
    assert one.items == two.items
    assert 3 == one.stats.leaked_documents
    done = run("rerun", tmp_path / "kept", "-o", tmp_path / "again")
    assert 0 == done.exit_code, done.stderr
    (kept,) = (tmp_path / "again" / "kept").rglob("*.jsonl")
    assert ["a", "q"] == [json.loads(line)["id"] for line in kept.read_text().splitlines()]


def test_a_file_of_codes_does_not_promise_to_be_run_again(tmp_path: Path) -> None:
    """It records how codes were made, and not of what: what is said of it is true of a new one, too."""
    ns.codes(["a rose is a rose", "a daisy"], tmp_path / "codes.parquet")
    with pytest.raises(SourceError, match="does not record the call that made it"):
        ns.rerun(tmp_path / "codes.parquet", tmp_path / "again.parquet")
