"""`--mask`: a run that copies nothing, and `apply`, which makes the copies later."""

import json
import os
import shutil
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

import nearsame as ns
from nearsame.errors import ConfigError, SourceError
from tests.cli.commands import documents, run, write_jsonl
from tests.sources.archive import gzipped, response
from tests.sources.corpora import COMPRESSIONS, FORMATS, write

ROWS = [{"id": f"i{number}", "text": "abacbca"[number], "n": number} for number in range(7)]


def _files(home: Path) -> dict[str, bytes]:
    """All that was written, but for what writing took."""
    files = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    stats = json.loads(files.pop("stats.json"))
    del stats["seconds"]
    return {**files, "stats.json": json.dumps(stats).encode()}


def _masked(source: object, home: Path, **options: object) -> ns.Result:
    """A run that has written both ways."""
    found = ns.dedup(source, method="digest", **options)
    found.write(home / "plain")
    found.write(home / "mask", mask=True)
    return found


def _sources(home: Path) -> Path:
    """Files of all kinds, some of them damaged, in folders of one name."""
    for kind in FORMATS:
        (home / "in" / kind).mkdir(parents=True)
        for compression in COMPRESSIONS if kind in ("jsonl", "csv") else ("",):
            write(home / "in" / kind, ROWS, kind, compression)
    (home / "in" / "odd.jsonl").write_bytes(b'{"text": "a"}\n{"text": \n{"text": "d"}')
    (home / "in" / "torn.jsonl.gz").write_bytes((home / "in/jsonl/records.jsonl.gz").read_bytes()[:-9])
    (home / "in" / "archive.warc.gz").write_bytes(gzipped(*(response(at, text) for at, text in enumerate("aba"))))
    for name in ("one.txt", "two.txt", "of two\nlines.txt"):
        (home / "in" / name).write_text("a")
    (home / "in" / "link.csv").symlink_to("nowhere")
    return home / "in"


def test_what_is_applied_is_what_would_have_been_written(tmp_path: Path) -> None:
    """Of every format and compression, of archives and text files, with what cannot be read; but nothing is copied."""
    pytest.importorskip("fastwarc")
    _masked(_sources(tmp_path), tmp_path, keep="last")
    ns.apply(tmp_path / "mask", tmp_path / "applied")
    tables = {"mask", "removed", "clusters", "sources", "skipped"}
    assert tables == {path.stem for path in (tmp_path / "mask").glob("*.parquet")}
    assert not (tmp_path / "mask" / "kept").exists()
    assert _files(tmp_path / "plain") == _files(tmp_path / "applied")


def test_what_could_not_be_read_is_left_out_by_whoever_copies(tmp_path: Path) -> None:
    """Of every format, whether its records have lines or not."""
    pytest.importorskip("fastwarc")
    source = _sources(tmp_path)
    (source / "bad.txt").write_bytes(b"caf\xe9")
    (source / "csv" / "bad.csv").write_bytes(b"id,text\n1,caf\xe9\n2,a\n")
    texts = pa.array([b"a", b"caf\xe9", b"b"], pa.binary()).view(pa.string())
    for kind, writes in (("parquet", pq.write_table), ("arrow", feather.write_feather), ("orc", orc.write_table)):
        writes(pa.table({"id": ["1", "2", "3"], "text": texts}), source / f"bad.{kind}")
    archive = gzipped(*(response(at, text) for at, text in enumerate("abc")))
    (source / "bad.warc.gz").write_bytes(archive[:40] + bytes(9) + archive[49:])
    found = ns.dedup(source, method="digest")
    assert {"in", "bad.csv", "bad.parquet", "bad.arrow", "bad.orc"} <= {
        Path(name).name for name in found.skipped.column("source").to_pylist()
    }
    found.write(tmp_path / "plain", drop_unreadable=True)
    found.write(tmp_path / "mask", mask=True)
    ns.apply(tmp_path / "mask", tmp_path / "applied", drop_unreadable=True)
    assert _files(tmp_path / "plain") == _files(tmp_path / "applied")


def test_a_mask_names_records_by_part_and_row(tmp_path: Path) -> None:
    """Parts of the other side come first."""
    one, other = write(tmp_path, ROWS, "parquet"), write(tmp_path, ROWS[:1], "jsonl")
    _masked((one, shutil.copy(one, tmp_path / "two.parquet")), tmp_path, against=other)
    mask, listed = (pq.read_table(tmp_path / "mask" / f"{name}.parquet") for name in ("mask", "sources"))
    assert [False, True] == [mask.schema.field("row").nullable, listed.column("against")[0].as_py()]
    gone = {1: [0, 2, 4, 5, 6], 2: range(7)}
    assert [(part, row) for part, rows in gone.items() for row in rows] == [
        (line["part"], line["row"]) for line in mask.to_pylist()
    ]
    ns.apply(tmp_path / "mask", tmp_path / "applied")
    assert _files(tmp_path / "plain") == _files(tmp_path / "applied")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda home: (home / "a.jsonl").write_text("{}\n"), r"a\.jsonl had 3. bytes, and has 3 now"),
        (lambda home: os.utime(home / "a.jsonl"), r"a\.jsonl has changed since then, as its time says"),
        (lambda home: (home / "b.txt").unlink(), r"b\.txt is not among the files now"),
        (lambda home: (home / "a.csv").write_text("text\nx\n"), r"a\.csv stands where .*a\.jsonl was"),
        (lambda home: (home / "c.txt").write_text("x"), r"c\.txt was not among them"),
    ],
)  # fmt: skip
def test_other_files_than_were_read_are_refused(change, said: str, tmp_path: Path) -> None:
    """By their sizes, their times and their names; and nothing is written."""
    home = tmp_path / "in"
    home.mkdir()
    (home / "a.jsonl").write_text('{"text": "a"}\n{"text": "a b"}\n')
    (home / "b.txt").write_text("a")
    _masked(home, tmp_path)
    change(home)
    with pytest.raises(SourceError, match=said):
        ns.apply(tmp_path / "mask", tmp_path / "applied")
    assert not (tmp_path / "applied").exists()


def test_files_that_were_moved_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables still say where they were when they were judged: verified they are there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", ROWS, "parquet")
    (tmp_path / "in" / "a.txt").write_text("z")
    _masked("in", tmp_path)
    (tmp_path / "in").rename(tmp_path / "moved")
    with pytest.raises(SourceError, match="does not exist"):
        ns.apply("mask", "applied")
    ns.apply("mask", "applied", "moved", copy_files=True)
    assert not ns.verify("applied").holds
    (tmp_path / "moved").rename(tmp_path / "in")
    assert ns.verify("applied").holds
    one, two = (_files(tmp_path / name)["kept/records.parquet"] for name in ("plain", "applied"))
    assert (one, b"z") == (two, (tmp_path / "applied" / "kept" / "a.txt").read_bytes())


def test_what_servers_keep_is_known_by_their_tags(tmp_path: Path) -> None:
    """An object of the same size that was written anew is another one."""
    bucket = fsspec.filesystem("memory")
    bucket.pipe("/masks/a.jsonl", b'{"text": "a"}\n{"text": "a"}\n')
    found = ns.dedup("memory://masks/a.jsonl")
    found.write(tmp_path / "mask", mask=True)
    ns.apply(tmp_path / "mask", tmp_path / "applied")
    assert b'{"text": "a"}\n' == (tmp_path / "applied" / "kept" / "a.jsonl").read_bytes()
    bucket.pipe("/masks/a.jsonl", b'{"text": "b"}\n{"text": "b"}\n')
    with pytest.raises(SourceError, match=r"a\.jsonl is not what it was"):
        ns.apply(tmp_path / "mask", tmp_path / "other")


def test_what_cannot_be_applied_is_refused(tmp_path: Path) -> None:
    """Documents in memory, outputs with copies, folders of others, and a mask that is not what it was."""
    ns.dedup(["a", "a"]).write(tmp_path / "memory", mask=True)
    with pytest.raises(SourceError, match="nothing tells whether memory is still what it was"):
        ns.apply(tmp_path / "memory", tmp_path / "applied", ["a", "a"])
    _masked(write(tmp_path, ROWS, "jsonl"), tmp_path)
    for place, said in (
        ("plain", "has no mask"),
        (".", "has no mask"),
        ("gone", "does not exist"),
        ("mask/mask.parquet", "is no folder of an answer"),
    ):
        with pytest.raises(SourceError, match=said):
            ns.apply(tmp_path / place, tmp_path / "applied")
    mask = pq.read_table(tmp_path / "mask" / "mask.parquet")
    for damaged in (mask.slice(1), mask.take([1, 0, 2]), mask.select(["row"])):
        pq.write_table(damaged, tmp_path / "mask" / "mask.parquet")
        with pytest.raises(SourceError, match=r"mask\.parquet"):
            ns.apply(tmp_path / "mask", tmp_path / "applied")
    pq.write_table(mask, tmp_path / "mask" / "mask.parquet")
    clusters = tmp_path / "mask" / "clusters.parquet"
    for damage in (lambda: clusters.write_bytes(b""), clusters.unlink):
        damage()
        with pytest.raises(SourceError, match=r"clusters\.parquet"):
            ns.apply(tmp_path / "mask", tmp_path / "applied")
    assert not (tmp_path / "applied").exists()
    for name in ("clean.jsonl", "-", "clean.parquet"):  # as with `dedup`, these are names of no folder
        with pytest.raises(ConfigError, match="apply: that takes a folder"):
            ns.apply(tmp_path / "mask", name)


def test_a_wrong_mask_does_not_hold(tmp_path: Path) -> None:
    """`verify` and `apply` hold it to the removed documents, which have their witnesses."""
    _masked(write(tmp_path, ROWS, "jsonl"), tmp_path)
    shutil.copytree(tmp_path / "mask", tmp_path / "wrong")
    mask = pq.read_table(tmp_path / "mask" / "mask.parquet")
    rows = pa.array([row + 1 for row in mask.column("row").to_pylist()])
    pq.write_table(mask.set_column(1, mask.schema.field("row"), rows), tmp_path / "wrong" / "mask.parquet")
    assert [True, False] == [ns.verify(tmp_path / name).holds for name in ("mask", "wrong")]
    assert {"mask.parquet"} <= {problem.place for problem in ns.verify(tmp_path / "wrong").problems}
    with pytest.raises(SourceError, match=r"mask\.parquet and removed\.parquet do not list the same"):
        ns.apply(tmp_path / "wrong", tmp_path / "applied")
    (tmp_path / "wrong" / "mask.parquet").unlink()
    assert ["it is missing"] == [one.what for one in ns.verify(tmp_path / "wrong").problems if "mask" in one.place]


def test_the_command_line_goes_the_same_way(tmp_path: Path) -> None:
    """`dedup --mask`, then `apply`; a report can be made of the one as of the other."""
    source = write_jsonl(tmp_path / "texts.jsonl", documents())
    (tmp_path / "more.txt").write_text("another")
    made = run("dedup", source, tmp_path / "more.txt", "-o", tmp_path / "mask", "--mask")
    assert 0 == made.exit_code, made.stderr
    applied = run("apply", tmp_path / "mask", "-o", tmp_path / "clean", "--copy")
    assert 0 == applied.exit_code, applied.stderr
    kept = (tmp_path / "clean" / "kept" / "texts.jsonl").read_text()
    assert ["a", "b"] == [json.loads(line)["id"] for line in kept.splitlines()]
    assert "another" == (tmp_path / "clean" / "kept" / "more.txt").read_text()
    assert 0 == run("verify", tmp_path / "clean").exit_code
    refused = run("apply", tmp_path / "mask", "-o", tmp_path / "clean")
    assert (2, "exists" in refused.stderr) == (refused.exit_code, True)
    sources = (source, tmp_path / "more.txt")
    again = run("apply", tmp_path / "mask", *sources, "-o", tmp_path / "clean", "--overwrite", "-q")
    assert (0, "") == (again.exit_code, again.output)


def test_what_is_about_copies_goes_with_no_mask(tmp_path: Path) -> None:
    """Said before anything is read; a mask needs a folder."""
    for more in (["--annotate"], ["--copy"], ["--drop-unreadable"]):
        assert 2 == run("dedup", tmp_path, "-o", tmp_path / "out", "--mask", *more).exit_code
    assert 2 == run("dedup", tmp_path, "-o", "out.jsonl", "--mask").exit_code
    with pytest.raises(ConfigError, match="mask and annotate"):
        ns.dedup(["a"]).write(tmp_path / "out", mask=True, annotate=True)
