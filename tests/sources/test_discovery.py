"""From what the user names to parts: order, names and targets."""

import io
import os
import pickle
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.errors import ColumnError, SourceError
from nearsame.sources import Columns, open_parts
from nearsame.sources.discovery import Parts
from nearsame.sources.reading import Reading

from .corpora import copied, encoded, only, read

LINE = b'{"text": "A"}\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with files of several kinds."""
    for name in (
        "b.jsonl",
        "a/z.JSONL.GZ",
        "a/notes.md",
        "c.txt",
        "a/b/d.csv",
        ".hidden/x.jsonl",
        "Makefile",
        ".x.csv",
    ):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LINE)
    return tmp_path / "tree"


def _opened(*sources: object) -> Parts:
    return open_parts(sources, columns=Columns())


def test_a_folder_is_read_recursively_in_the_order_of_its_paths(tree: Path) -> None:
    """Data files first, then all text files as one part; hidden and unknown files are passed over and counted."""
    parts = _opened(tree)
    assert ["a/b/d.csv", "a/z.JSONL.GZ", "b.jsonl", "kept.txt"] == [part.target for part in parts]
    assert [f"{tree}/a/b/d.csv", f"{tree}/a/z.JSONL.GZ", f"{tree}/b.jsonl", str(tree)] == [part.name for part in parts]
    assert ["a/notes.md", "c.txt"] == [row["id"] for row in read(parts[-1])[0]]
    assert 2 == parts.passed_over.total


def test_a_glob_goes_into_folders_with_two_stars(tree: Path) -> None:
    """Targets are relative to what comes before the first wildcard."""
    assert ["b.jsonl"] == [part.target for part in _opened(f"{tree}/*.jsonl")]
    assert ["a/b/d.csv"] == [part.target for part in _opened(f"{tree}/**/*.csv")]
    assert ["b/d.csv"] == [part.target for part in _opened(f"{tree}/a/**/*.csv")]
    assert ["kept.txt"] == [part.target for part in _opened(f"{tree}/**/*.md")]


def test_a_name_with_wildcards_that_exists_is_a_name(tmp_path: Path) -> None:
    """Brackets are legal in file names."""
    (tmp_path / "a[1].jsonl").write_bytes(LINE)
    assert ["a[1].jsonl"] == [part.target for part in _opened(tmp_path / "a[1].jsonl")]


def test_sources_keep_their_order_and_their_spelling(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is what the user wrote, joined with what was found below."""
    monkeypatch.chdir(tree)
    assert ["./b.jsonl", "a/b/d.csv", "memory"] == [part.name for part in _opened("./b.jsonl", "a/b", ["A"])]


def test_no_two_parts_have_one_target(tree: Path) -> None:
    """By the path from the common folder where that tells them apart, else by a number."""
    other = tree / "a" / "b.jsonl"
    other.write_bytes(LINE)
    assert ["b.jsonl", "a/b.jsonl"] == [part.target for part in _opened(tree / "b.jsonl", other)]
    fsspec.filesystem("memory").pipe({"/targets/a/b.jsonl": LINE, "/targets/b.jsonl": LINE})
    with zipfile.ZipFile(tree / "p.zip", "w") as packed:
        packed.write(other, "b.jsonl")
    members = [f"zip://b.jsonl::{tree}/p.zip", "memory://targets/b.jsonl"]
    assert ["1-b.jsonl", "2-b.jsonl"] == [part.target for part in _opened(*members)]
    assert ["1-documents.parquet", "2-documents.parquet"] == [part.target for part in _opened(["A"], ["B"])]
    everything = [part.target for part in _opened(f"{tree}/*", "memory://targets", f"{tree}/*/**", ["A"], ["B"])]
    assert len(everything) == len(set(everything))


def test_text_files_named_one_by_one_are_one_part(tree: Path, tmp_path: Path) -> None:
    """As a shell's glob gives them."""
    (part,) = _opened(tree / "c.txt", tree / "a" / "notes.md")
    assert (str(tree), ["c.txt", "a/notes.md"]) == (part.name, [row["id"] for row in read(part)[0]])
    (single,) = _opened(tree / "c.txt")
    assert (str(tree / "c.txt"), ["c.txt"]) == (single.name, [row["id"] for row in read(single)[0]])


def test_copies_of_text_files_stay_below_their_target(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the spelling, no copied path is absolute or goes up."""
    monkeypatch.chdir(tree / "a")
    for sources in (["../c.txt", "notes.md"], ["notes.md", str(tree / "c.txt")], ["b/../../c.txt", "notes.md"]):
        for part in open_parts(sources, columns=Columns()):
            paths = [Path(path) for path in part.paths]  # type: ignore[attr-defined]
            assert not any(path.is_absolute() or ".." in path.parts for path in paths)
    with pytest.raises(SourceError, match="leads out of"):
        _opened("*/../../c.txt")


def test_standard_input_is_json_lines(tmp_path: Path) -> None:
    """It is kept in a temporary file, so that it can be copied, and that goes when the part does."""
    part = only("-", stdin=io.BytesIO(LINE * 2))
    assert ("-", "stdin.jsonl") == (part.name, part.target)
    assert [0, 1] == [row["position"] for row in read(part)[0]]
    assert LINE == copied(part, tmp_path, [0]).read_bytes()
    spool = Path(part.file.url)  # type: ignore[attr-defined]
    assert spool.exists()
    del part
    assert not spool.exists()


def test_a_part_can_be_sent_elsewhere(tree: Path) -> None:
    """It is a description: pickled, it reads the same."""
    for part in _opened(tree, ["A"]):
        assert read(part) == read(pickle.loads(pickle.dumps(part)))  # noqa: S301  (pickled here)


@pytest.mark.parametrize(
    "thing",
    [
        ["A", None],
        [{"text": "A"}, {"n": 1}],
        pa.table({"text": ["A", None]}),
        pa.record_batch({"text": ["A", None]}),
        pa.table({"text": ["A", None]}).to_reader(),
        pl.DataFrame({"text": ["A", None]}),
        pa.table({"text": pa.array(["A", None]).dictionary_encode()}),
        pa.table({"text": pa.array(["A", None], pa.string_view())}),
        pa.table({"text": pa.array([b"A", None])}),
        pa.table({"text": pa.chunked_array([pa.array(["A"]), pa.array([None], pa.string())])}),
    ],
)
def test_what_is_in_memory_is_read_and_copied_as_a_table(tmp_path: Path, thing: object) -> None:
    """Anything with `__arrow_c_stream__`, lists of strings, lists of dicts."""
    part = only(thing)
    assert (["A", None], []) == ([row["text"] for row in read(part)[0]], read(part)[1])
    assert [None] == [row["text"] for row in read(only(copied(part, tmp_path, [0])))[0]]


@pytest.mark.parametrize(
    "thing",
    [
        pl.Series(["A", None]),
        pl.Series("body", ["A", None]),
        pd.Series(["A", None]),
        pa.array(["A", None]),
        pa.array([b"A", None]),
        pa.array(["A", None]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["A", None])),
        pa.chunked_array([["A"], [None]], pa.string()),
        pa.array([{"text": "A"}, {"text": None}]),
        pl.Series([{"text": "A"}, {"text": None}]),
        pa.chunked_array([[{"text": "A"}], [{"text": None}]]),
    ],
)
def test_a_column_in_memory_is_a_column_of_texts(thing: object) -> None:
    """Whatever it is called; one of structs is a table."""
    assert ["A", None] == [row["text"] for row in read(only(thing))[0]]


@pytest.mark.parametrize(
    "thing", [pl.Series([1.5]), pd.Series([1.5]), pa.array([1.5]), pa.array([["A"]]), pa.chunked_array([[True]])]
)
def test_a_column_of_something_else_is_an_error(thing: object) -> None:
    """It names the type."""
    with pytest.raises(SourceError, match=r"documents cannot be read from a .* of "):
        only(thing)


@pytest.mark.parametrize("thing", [pl.Series([1]), pd.Series([1]), pa.array([1]), pa.chunked_array([[1]])])
def test_a_column_of_whole_numbers_is_one_of_codes(thing: object) -> None:
    """Where texts are asked for, that is an error."""
    with pytest.raises(ColumnError, match="holds numbers or bytes, and no texts"):
        ns.dedup(thing)


def test_only_regular_files_are_read(tree: Path) -> None:
    """A pipe or socket in a folder is passed over (reading it would wait for ever); named, it is an error."""
    os.mkfifo(tree / "a.jsonl")
    os.mkfifo(tree / "a.txt")
    assert (4, 4) == (len(_opened(tree)), _opened(tree).passed_over.total)
    assert ["b.jsonl"] == [part.target for part in _opened(f"{tree}/*.jsonl")]
    with pytest.raises(SourceError, match=r"a\.jsonl is not a regular file") as caught:
        _opened(tree / "a.jsonl")
    assert "standard input" in caught.value.hint


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "x/a.parquet"])
def test_a_link_to_nothing_is_a_skip_that_names_it(tree: Path, name: str) -> None:
    """In a folder or glob, among others or alone; nothing of it is copied, and everything else is read."""
    (tree / "x").mkdir()
    for target in ("nothing", name.rpartition("/")[2]):  # the last leads to itself
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to(target)
        for source in (tree, f"{tree}/{name[:-1]}*"):
            parts = _opened(source)
            (dangling,) = (part for part in parts if part.name == f"{tree}/{name}")
            expected = [(f"{tree}/{name}", None, None, "a link that leads to no file")]
            assert ([], expected) == (read(dangling)[0], [tuple(place) for place in read(dangling)[1]])
        assert 5 == len(_opened(tree))
    dangling.copy(tree / "copy", np.zeros(0, np.int64))
    assert not (tree / "copy").exists()
    with pytest.raises(SourceError, match=r"does not exist|symbolic links"):
        _opened(tree / name)
    with pytest.raises(SourceError, match="leads to no file"):
        read(next(part for part in open_parts([tree], columns=Columns(), strict=True) if part.name == dangling.name))


def test_a_name_in_memory_keeps_both_slashes() -> None:
    """For files, folders, globs and text files at the top of a file system."""
    memory = fsspec.filesystem("memory")
    with memory.open("/one.jsonl", "wb") as out:
        out.write(LINE)
    with memory.open("/one.txt", "wb") as out:
        out.write(b"A")
    for url in ("memory://one.jsonl", "memory://one.txt", "memory://*.jsonl", "memory://*.txt"):
        part = only(url)
        assert part.name.startswith("memory://")
        assert ["A"] == [row["text"] for row in read(part)[0]]
    assert "memory://one.jsonl" == only("memory://one.jsonl").name
    memory.rm("/one.jsonl")
    memory.rm("/one.txt")


@pytest.mark.parametrize("thing", [7, ["A", 7], [{"text": "A"}, "A"], [{"text": "A"}, {"text": 7}]])
def test_what_is_no_source_is_an_error(thing: object) -> None:
    """The hint lists what is."""
    with pytest.raises(SourceError) as caught:
        only(thing)
    assert caught.value.hint


def test_source_code_is_text(tmp_path: Path) -> None:
    """As notes in LaTeX are; what a compiler makes of it is not."""
    for name in ("a.py", "b/C.java", "paper.tex", "main.o"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a rose is a rose", "utf-8")
    parts = open_parts([tmp_path], columns=Columns())
    assert [("a.py", "b/C.java", "paper.tex")] == [part.paths for part in parts]
    assert ".o 1" == parts.passed_over.listed


def test_source_code_beside_records_is_passed_over_where_a_column_is_asked_for(tmp_path: Path) -> None:
    """It has none; by itself, or named, it is read."""
    (tmp_path / "load.py").write_text("print()", "utf-8")
    (tmp_path / "a.jsonl").write_text('{"text": "a", "date": 1}\n', "utf-8")
    parts = open_parts([tmp_path], columns=Columns(order=("date",)))
    assert (["jsonl"], ".py 1") == ([part.format for part in parts], parts.passed_over.listed)
    for named in (tmp_path / "load.py", tmp_path / "*.py"):
        assert ["text"] == [part.format for part in open_parts([named], columns=Columns(order=("date",)))]


def test_what_tells_of_a_data_set_is_no_document_of_it(tmp_path: Path) -> None:
    """As data sets of Hugging Face are downloaded and saved; a README among other notes is one of them."""
    about = ("README.md", "dataset_infos.json", "train/state.json", "train/dataset_info.json")
    for name in (*about, "train/a.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}", "utf-8")
    parts = open_parts([tmp_path], columns=Columns())
    assert (["train/a.jsonl"], "about a data set 4") == ([part.target for part in parts], parts.passed_over.listed)
    (tmp_path / "notes.txt").write_text("a rose", "utf-8")
    assert ("README.md", "notes.txt") == open_parts([tmp_path], columns=Columns())[-1].paths


@pytest.mark.parametrize("home", ["clean", "memory://outputs/clean"])
def test_of_an_earlier_output_the_documents_are_in_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """Here and at an address, by itself or among other folders; kept/ alone is read."""
    monkeypatch.chdir(tmp_path)
    ns.dedup([{"text": "a rose"}]).write(home, overwrite=True)
    above, name = home.rpartition("/")[0] or ".", "clean"
    for source, hint in ((home, ""), (above, f", or leave it out with --exclude '{name}/**'")):
        with pytest.raises(SourceError, match="is what nearsame wrote") as caught:
            ns.dedup(source)
        assert caught.value.hint == f"Name {'./' if source == '.' else ''}{home}/kept{hint}."
    assert 1 == ns.dedup(f"{home}/kept").stats.documents == ns.dedup(above, include="kept/**").stats.documents


def test_of_a_mask_the_documents_are_elsewhere(tmp_path: Path) -> None:
    """By itself, and on the other side."""
    (tmp_path / "a.jsonl").write_text('{"text": "a rose"}\n', "utf-8")
    ns.dedup(tmp_path / "a.jsonl").write(tmp_path / "clean", mask=True)
    for given in ({"source": tmp_path / "clean"}, {"source": ["a rose"], "against": tmp_path / "clean"}):
        with pytest.raises(
            SourceError, match="is what nearsame wrote: tables about documents that are elsewhere"
        ) as caught:
            ns.dedup(**given)
        assert caught.value.hint == "Name what `nearsame apply` makes of it."
    for name in ("stats.json", "clusters.jsonl", "mask.jsonl"):  # somebody's own
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / name).write_text('{"text": "a rose"}\n', "utf-8")
    assert 2 == ns.dedup(tmp_path / "own", include="*.jsonl").stats.documents


def test_text_files_have_no_other_columns(tree: Path) -> None:
    """Items that they cannot have are refused at once; an order they may lack, where others have it."""
    with pytest.raises(ColumnError, match="no column 'date'"):
        open_parts([tree / "c.txt"], columns=Columns(items="date"))
    columns = Columns(order=("date",))
    with pytest.raises(ColumnError, match="no column 'date'"):
        list(Reading(open_parts([tree / "c.txt"], columns=columns), columns))


def test_a_link_to_a_folder_above_does_not_go_round(tree: Path) -> None:
    """Folders behind links are not entered."""
    (tree / "a" / "up").symlink_to(tree, target_is_directory=True)
    assert 4 == len(_opened(tree))


def test_a_file_name_need_not_be_text(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are legal in file names."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_bytes(b"A")
    part = only(tmp_path)
    assert ["\\xff.txt"] == [row["id"] for row in read(part)[0]]
    assert b"\xff.txt\n" == copied(part, tmp_path).read_bytes()


def test_a_csv_and_its_copy_have_the_same_format(tmp_path: Path) -> None:
    """The suffix decides, also in the target."""
    path = tmp_path / "a.TSV"
    path.write_bytes(encoded([{"id": "a", "text": "A,B", "n": 1}], "tsv"))
    assert [["A,B"]] == [[row["text"] for row in read(only(source))[0]] for source in [copied(only(path), tmp_path)]]


@pytest.mark.parametrize(
    "spelt",
    [
        "{0}/b.jsonl {0}/b.jsonl", "{0}/b.jsonl {0}/./a/../b.jsonl", "{0} {0}/b.jsonl", "{0}/b.jsonl {0}",
        "{0}/*.jsonl {0}/b.jsonl", "{0}/b.jsonl file://{0}/b.jsonl", "{0}/c.txt {0}/c.txt", "{0}/b.jsonl {0}/c.txt {0}",
        "memory://twice/a.jsonl memory://twice", "zip://b.jsonl::{0}/p.zip zip://b.jsonl::{0}/p.zip",
    ],
)  # fmt: skip
def test_a_file_is_named_once(spelt: str, tree: Path) -> None:
    """However it is spelt: of an answer that names it, nobody could tell which of the two is meant."""
    fsspec.filesystem("memory").pipe("/twice/a.jsonl", LINE)
    with zipfile.ZipFile(tree / "p.zip", "w") as packed:
        packed.write(tree / "b.jsonl", "b.jsonl")
    with pytest.raises(ns.ConfigError, match=r"[abc]\.(jsonl|txt)[^ ]* is named twice"):
        _opened(*spelt.format(tree).split())


def test_links_and_members_of_one_package_are_files_of_their_own(tree: Path) -> None:
    """As they are in a folder; and a pattern that finds a file in several ways finds it once."""
    (tree / "link.jsonl").symlink_to("b.jsonl")
    with zipfile.ZipFile(tree / "p.zip", "w") as packed:
        packed.write(tree / "b.jsonl", "b.jsonl")
        packed.write(tree / "b.jsonl", "c.jsonl")
    members = [f"zip://{name}.jsonl::{tree}/p.zip" for name in "bc"]
    assert 4 == len(_opened(f"{tree}/b.jsonl", f"{tree}/link.jsonl", *members))
    assert [f"{tree}/a/b/d.csv"] == [part.name for part in _opened(f"{tree}/**/**/d.csv")]


def test_text_files_of_two_patterns_have_names_of_their_own(tree: Path) -> None:
    """They lie in one folder, and a record is named by that and a row."""
    for name in ("a.md", "b.md", "d.txt"):
        (tree / name).write_bytes(LINE)
    parts = _opened(f"{tree}/*.txt", f"{tree}/*.md", f"{tree}/b.jsonl")
    assert [str(tree), f"{tree}/", f"{tree}/b.jsonl"] == [part.name for part in parts]


@pytest.mark.parametrize("spelt", ["{}/kept", "{}/kept/a", "{}/kept/a/kept.txt", "{}/kept/*/*.txt"])
def test_a_list_of_what_stayed_is_not_what_stayed(tmp_path: Path, spelt: str) -> None:
    """Of text files kept/ has only their names, which nobody wants to compare."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.txt").write_text(f"a rose is a rose, says {folder}")
    out = tmp_path / "out"
    ns.dedup(tuple(str(tmp_path / folder) for folder in "ab")).write(out)
    with pytest.raises(SourceError, match="is a list of the text files that stayed") as raised:
        ns.dedup([{"text": "x"}], against=spelt.format(out))
    assert "--copy" in raised.value.hint


def test_what_was_copied_may_be_called_as_a_list(tmp_path: Path) -> None:
    """And what was said of text files, or of an archive, beside them is no document."""
    (tmp_path / "a").mkdir()
    for name in ("kept.txt", "b.txt"):
        (tmp_path / "a" / name).write_text(f"a rose is a rose, says {name}")
    ns.dedup(str(tmp_path / "a")).write(tmp_path / "out", copy_files=True, annotate=True)
    kept = sorted(path.name for path in (tmp_path / "out" / "kept").iterdir())
    assert ["annotations.jsonl", "b.txt", "kept.txt"] == kept
    assert ["b.txt", "kept.txt"] == ns.dedup(str(tmp_path / "out" / "kept")).kept().column("id").to_pylist()
    other = tmp_path / "annotations.jsonl"
    other.write_bytes(LINE)
    assert 1 == ns.dedup(str(other)).stats.documents


def test_a_pipe_by_the_name_of_annotations_is_not_waited_for(tmp_path: Path) -> None:
    """It has no end; what is no file is passed over."""
    os.mkfifo(tmp_path / "a.warc.annotations.jsonl")
    (tmp_path / "b.jsonl").write_bytes(LINE)
    assert 1 == ns.dedup(str(tmp_path)).stats.documents


def test_a_list_behind_a_link_is_a_list(tmp_path: Path) -> None:
    """Whatever kept/ is called there."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("a rose")
    ns.dedup(str(tmp_path / "a")).write(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out" / "kept")
    with pytest.raises(SourceError, match="is a list"):
        ns.dedup(str(tmp_path / "link"))
