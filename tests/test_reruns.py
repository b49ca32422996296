"""A run once more: what an output records is enough to give the same bytes again."""

import json
import tempfile
from pathlib import Path

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
    },
)
WRITTEN = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("pairs", "annotate", "drop_unreadable", "copy_files")}
)


def _files(home: Path) -> dict[str, bytes]:
    """All that was written, but times and which call it was."""
    files = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    stats = json.loads(files.pop("stats.json"))
    for name in ("seconds", "thread_seconds", "room", "megabytes_per_second"):
        stats.pop(name, None)
    return {**files, "stats.json": json.dumps(stats, sort_keys=True).encode()}


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
                    {"text": text, "g": group, "n": n, "name": f"{text}{n}", "url": f"http://{group}.org/{n}?b&a"}
                )
                for text, group, n in some
            ]
            (home / name).write_text("\n".join(lines))
        (home / "old.jsonl").write_text(
            json.dumps({"text": "a b c", "g": "x", "n": 0, "name": "o", "url": "http://o/"})
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


def test_what_was_not_kept_cannot_be_run_again(tmp_path: Path) -> None:
    """Documents in memory, standard input, files, folders of others, and outputs of before."""
    ns.dedup(["a", "b"]).write(tmp_path / "one")
    for place, said in (("one", "documents in memory"), ("two", "does not exist"), (".", "has no sources.parquet")):
        with pytest.raises(SourceError, match=said):
            ns.rerun(tmp_path / place)
    run("dedup", "-", "-o", tmp_path / "piped", stdin=b'{"text": "a"}\n')
    with pytest.raises(SourceError, match="standard input"):
        ns.rerun(tmp_path / "piped")
    assert 1 == ns.rerun(tmp_path / "piped", ["a", "a"], against=None).stats.removed
