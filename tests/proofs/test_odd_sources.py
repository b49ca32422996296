"""Outputs of odd sources hold as they were written."""

import bz2
import gzip
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from tests.sources.archive import gzipped, response

A = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
EDITED = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda"


def _told(home: Path) -> list[str]:
    return [f"{problem.place}: {problem.what}" for problem in ns.verify(home).problems]


def _table(path: Path, table: pa.Table) -> str:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    return str(path)


def _written(home: Path, source: Any, **how: Any) -> list[str]:
    settings = {name: how.pop(name) for name in ("keep", "columns") if name in how}
    home.mkdir(exist_ok=True)
    ns.dedup(source, method=ns.Jaccard(threshold="0.5", shingle_size=2), **settings).write(home / "out", **how)
    return _told(home / "out")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_texts_in_columns_of_bytes_are_read_as_texts(tmp_path: Path, name: str, kind: pa.DataType) -> None:
    """Bytes that are not UTF-8 are passed over by the run."""
    texts = [A.encode(), EDITED.encode(), A.encode(), b"\xff", None]
    table = pa.table({"text": pa.array(texts, pa.binary()).cast(kind)})
    assert [] == _written(tmp_path, _table(tmp_path / name, table), pairs=True)


MOMENTS = {
    "seconds": pa.array([2**62, 2**62 + 1, 5], pa.timestamp("s")),
    "days": pa.array([2**31 - 1, 3, 4], pa.int32()).view(pa.date32()),
    "duration": pa.array([2**62, 2**62 + 1, 4], pa.int64()).view(pa.duration("s")),
    "odd zone": pa.array([1, 3, 2], pa.timestamp("ns", "Foo/Bar")),
    "nanoseconds": pa.array([1, 3, 2], pa.timestamp("ns")),
    "month of years": pa.array([[2**62], None, [3]], pa.list_(pa.timestamp("s"))),
    "record": pa.array([{"at": 2**62}, None, {"at": 1}], pa.struct([("at", pa.timestamp("s", "Foo/Bar"))])),
}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("kind", MOMENTS)
def test_moments_that_python_cannot_hold_are_compared_as_they_are_stored(tmp_path: Path, name: str, kind: str) -> None:
    """As an id, as an order, and as a column that nobody asks for."""
    if name == "a.parquet" and kind in ("seconds", "month of years", "record"):
        pytest.skip("Parquet has no seconds: such moments cannot be written")
    source = _table(tmp_path / name, pa.table({"when": MOMENTS[kind], "text": [A, EDITED, A]}))
    assert [] == _written(tmp_path / "plain", source)
    if not pa.types.is_nested(MOMENTS[kind].type):
        assert [] == _written(tmp_path / "ordered", source, keep="max:when", pairs=True)
        assert [] == _written(tmp_path / "least", source, keep="min:when", annotate=True)


def _texts(folder: Path, suffix: str = ".txt") -> Path:
    """Two copies and one text that nobody can read."""
    folder.mkdir()
    for name, data in (("a", A.encode()), ("b", A.encode()), ("c", b"\xff")):
        (folder / f"{name}{suffix}").write_bytes(data)
    return folder


@pytest.mark.parametrize("copy_files", [False, True])
@pytest.mark.parametrize("drop_unreadable", [False, True])
@pytest.mark.parametrize("suffix", [".txt", ".html"])
def test_annotations_say_nothing_of_texts_that_could_not_be_read(
    tmp_path: Path, suffix: str, *, copy_files: bool, drop_unreadable: bool
) -> None:
    """Of texts and of pages, in a list and among copies."""
    source, how = _texts(tmp_path / "in", suffix), {"copy_files": copy_files, "drop_unreadable": drop_unreadable}
    (source / f"d{suffix}").symlink_to("nowhere")
    assert [] == _written(tmp_path, str(source), annotate=True, **how)


@pytest.mark.parametrize("copy_files", [False, True])
def test_annotations_beside_a_source_of_that_name_have_another(tmp_path: Path, *, copy_files: bool) -> None:
    """The numbered name is the one that is expected, and only that."""
    source = _texts(tmp_path / "in")
    for name in ("annotations.jsonl", "annotations-1.jsonl"):
        (source / name).write_text('{"text": "one two three"}\n', "utf-8")
    assert [] == _written(tmp_path, str(source), annotate=True, copy_files=copy_files)
    found = tmp_path / "out" / "kept" / "annotations-2.jsonl"
    found.rename(found.with_name("annotations-3.jsonl"))
    told = _told(tmp_path / "out")
    assert "kept/annotations-3.jsonl: no source or table stands for this file" in told
    assert any("the annotations of its files are missing" in each for each in told)


@pytest.mark.parametrize("deep", ["[" * 1_100 + "]" * 1_100, '{"a":[' * 600 + r'"]}\"["' + "]}" * 600])
def test_deep_values_beside_a_text_are_no_reason_to_miss_it(tmp_path: Path, deep: str) -> None:
    """Whatever the depth that the run has read."""
    lines = [f'{{"x":{deep},"text":"{A}"}}', f'{{"text":"{A}","x":{deep}}}', f'{{"text":"{EDITED}"}}']
    (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert [] == _written(tmp_path, str(tmp_path / "a.jsonl"), pairs=True)
    assert [] == _written(tmp_path / "annotated", str(tmp_path / "a.jsonl"), annotate=True)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}
LINES = [f'{{"text":"{text}"}}\n'.encode() for text in (A, EDITED, A, "one two three")]
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
TAILS: dict[str, Callable[[Callable[[bytes], bytes]], bytes]] = {
    "nothing": lambda _: b"",
    "padding": lambda _: bytes(12),
    "a zero": lambda _: b"\0",
    "padding and a stream": lambda pack: bytes(12) + pack(LINES[3]),
    "a stream": lambda pack: pack(LINES[3]),
    "half a stream": lambda pack: pack(LINES[3])[:-3],
    "the start of a stream": lambda pack: pack(LINES[3])[:5],
    "an empty stream": lambda pack: pack(b""),
    "a byte": lambda _: b"x",
    "garbage": lambda _: b"garbage",
    "what is skipped": lambda _: SKIPPABLE,
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("tail", TAILS)
def test_what_the_run_has_read_of_a_compressed_source_is_read_again(tmp_path: Path, packed: str, tail: str) -> None:
    """Up to where it breaks off, and what follows padding."""
    pack = PACKED[packed]
    (tmp_path / f"a.jsonl.{packed}").write_bytes(pack(b"".join(LINES[:3])) + TAILS[tail](pack))
    for drop in (False, True):
        (tmp_path / f"{drop}").mkdir()
        assert [] == _written(tmp_path / f"{drop}", str(tmp_path / f"a.jsonl.{packed}"), drop_unreadable=drop)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("tail", [tail for tail in TAILS if tail != "nothing"])
def test_what_is_added_behind_the_end_of_a_compressed_copy_is_told(tmp_path: Path, packed: str, tail: str) -> None:
    """Also where nothing is decompressed of it."""
    pack = PACKED[packed]
    (tmp_path / f"a.jsonl.{packed}").write_bytes(pack(b"".join(LINES)))
    assert [] == _written(tmp_path, str(tmp_path / f"a.jsonl.{packed}"))
    kept = tmp_path / "out" / "kept" / f"a.jsonl.{packed}"
    kept.write_bytes(kept.read_bytes() + TAILS[tail](pack))
    assert f"kept/a.jsonl.{packed}" in "".join(_told(tmp_path / "out"))


@pytest.mark.parametrize("name", ["kept/a.jsonl", "removed.parquet", "stats.json"])
def test_a_link_in_place_of_a_file_is_told(tmp_path: Path, name: str) -> None:
    """What it leads to may change, and is no part of the output."""
    (tmp_path / "a.jsonl").write_bytes(b"".join(LINES))
    assert [] == _written(tmp_path, str(tmp_path / "a.jsonl"))
    file = tmp_path / "out" / name
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert [f"{name}: it is a link, and nobody wrote one"] == _told(tmp_path / "out")


def test_zeros_behind_a_gzip_file_are_nothing_and_told_of_no_copy(tmp_path):
    """The proof reads what the run read; behind a copy nothing stands, be it zeros."""
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a b"}\n') + bytes(1000))
    assert [] == _written(tmp_path, str(tmp_path / "a.jsonl.gz"))
    copy = tmp_path / "out" / "kept" / "a.jsonl.gz"
    copy.write_bytes(copy.read_bytes() + bytes(10))
    assert any("kept/a.jsonl.gz: something follows" in told for told in _told(tmp_path / "out"))


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_what_follows_the_end_of_a_copied_archive_is_told(name, tmp_path):
    """Whatever the statistics say of its bytes."""
    pytest.importorskip("fastwarc")
    records = [response(number) for number in range(3)]
    (tmp_path / name).write_bytes(gzipped(*records) if name.endswith(".gz") else b"".join(records))
    assert [] == _written(tmp_path, str(tmp_path / name))
    copy = tmp_path / "out" / "kept" / name
    copy.write_bytes(copy.read_bytes() + b"something else")
    assert any(f"kept/{name}: " in told and "does not have" in told for told in _told(tmp_path / "out"))


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
@pytest.mark.parametrize("is_against", [False, True])
def test_text_files_of_one_folder_given_as_two_patterns_are_told_apart(
    keep: str, tmp_path: Path, *, is_against: bool
) -> None:
    """Rows of both begin at nothing; a witness is of one of them."""
    for number, text in enumerate([A, EDITED, "x", "y", A, EDITED, "x z", A]):
        (tmp_path / f"{number}.{'txt' if number % 3 else 'md'}").write_text(text)
    one, other = f"{tmp_path}/*.txt", f"{tmp_path}/*.md"
    found = ns.dedup(one if is_against else (one, other), against=other if is_against else None, keep=keep)
    found.write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")
    sources = pq.read_table(tmp_path / "out" / "sources.parquet").column("source")
    assert {str(tmp_path), f"{tmp_path}/"} == set(sources.to_pylist())


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_output_of_what_stands_in_an_archive_is_proved(kind: str, tmp_path: Path) -> None:
    """The file system that reads it must live as long as the file."""
    (tmp_path / "a.jsonl").write_text('{"text": "a rose is a rose"}\n' * 2)
    shutil.make_archive(str(tmp_path / "a"), kind, tmp_path, "a.jsonl")
    ns.dedup(f"{kind}://a.jsonl::{tmp_path}/a.{kind}").write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds


WORDS = "the same few words"
NUMBERS = {
    "5 and 05": (["5", "05", "7"], [0, 0, 2]),
    "more than a double holds": (["9007199254740993", "9007199254740992", ".5"], [0, 1, 2]),
    "more than a word holds": (["18446744073709551617", "18446744073709551616"], [0, 1]),
    "more than any double": (["12e4567", "13e4567"], [0, 1]),
    "less than any": (["1e-400", "0"], [0, 1]),
    "zeros": (["0", "-0", "0.0", "-0.0"], [0, 0, 0, 0]),
    "hexadecimal": (["0x10", "16"], [0, 1]),
    "of many digits": (["0.12345678901234567", "0.1", "0.10"], [0, 1, 2]),
    "no numbers beside numbers": (["5", "05", "nan", "inf"], [0, 0, 2, 3]),
    "of Python alone": (["1_000", "1000"], [0, 1]),
    "of other scripts": (["\N{ARABIC-INDIC DIGIT THREE}", "3"], [0, 1]),
    "with a blank": (["5 ", "5"], [0, 1]),
    "of 64 bits": (["18446744073709551615", "18446744073709551614", "018446744073709551614"], [0, 1, 1]),
    "not only numbers": (["5", "05", "x"], [0, 1, 2]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_groups_of_a_file_without_types_are_numbers_as_they_are_written(tmp_path: Path, kind: str) -> None:
    """Where all are; two numbers that differ are two groups, whatever a double makes of them."""
    numbers, groups = NUMBERS[kind]
    lines = [f"d{at},{WORDS},{number}" for at, number in enumerate(numbers)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text,g", *lines, ""]))
    found = ns.dedup(str(tmp_path / "a.csv"), group_by="g")
    assert sorted({f"d{at}" for at in groups}) == found.kept()["id"].to_pylist()
    found.write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")


def test_decisions_know_groups_that_are_numbers(tmp_path: Path) -> None:
    """Two of one group in two spellings were told apart."""
    (tmp_path / "a.csv").write_text(f"id,text,g\na,{WORDS},5\nb,{WORDS},05\nc,{WORDS},5.0\n")
    decisions = [{"id1": "a", "id2": "b", "label": "no"}]
    found = ns.dedup(str(tmp_path / "a.csv"), group_by="g", decisions=decisions)
    found.write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")


def test_groups_of_two_files_are_compared_as_numbers(tmp_path: Path) -> None:
    """One is the side that stays."""
    (tmp_path / "a.csv").write_text(f"id,text,g\na,{WORDS},5\nc,others,7\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.csv").write_text(f"id,text,g\nb,{WORDS},05\n")
    (tmp_path / "in" / "c.jsonl").write_text(f'{{"id":"d","text":"{WORDS}","g":5.0}}\n')
    found = ns.dedup(str(tmp_path / "in"), against=str(tmp_path / "a.csv"), group_by="g")
    assert 2 == found.stats.removed
    found.write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")


def test_empty_urls_are_none(tmp_path: Path) -> None:
    """A column of nothing else is no evidence that is missing."""
    (tmp_path / "a.jsonl").write_text(f'{{"text":"{WORDS}","url":""}}\n' * 2)
    ns.dedup(str(tmp_path / "a.jsonl")).write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")


def test_a_copy_of_what_goes_by_equal_words_equals_its_witness_by_them(tmp_path: Path) -> None:
    """Its own bytes are those of the one in between."""
    texts = [WORDS.upper(), WORDS, WORDS]
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text":"{text}"}}\n' for text in texts))
    found = ns.dedup(str(tmp_path / "a.jsonl"), method=ns.Digest(normalise=True), use=["digest", "text"])
    assert 2 == found.stats.removed
    found.write(tmp_path / "out")
    assert [] == _told(tmp_path / "out")


def test_no_thread_of_arrow_holds_what_is_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lets go of a file later than whoever has read it: while the process ends, that ends it by a signal."""
    asked: list[bool] = []

    class Watched(pq.ParquetFile):
        def read(self, *args: Any, use_threads: bool = True, **how: Any) -> pa.Table:
            asked.append(use_threads)
            return super().read(*args, use_threads=use_threads, **how)

        def iter_batches(self, *args: Any, use_threads: bool = True, **how: Any) -> Any:
            asked.append(use_threads)
            return super().iter_batches(*args, use_threads=use_threads, **how)

    source = _table(tmp_path / "a.parquet", pa.table({"text": [A, EDITED, A]}))
    ns.dedup(source, method=ns.SimHash(weights="tfidf")).write(tmp_path / "first")
    given = ns.SimHash(weights="tfidf", frequencies=str(tmp_path / "first" / "frequencies.parquet"))
    ns.dedup(source, method=given).write(tmp_path / "out")
    monkeypatch.setattr(pq, "ParquetFile", Watched)
    assert [] == [told for name in ("first", "out") for told in _told(tmp_path / name)]
    assert {False} == set(asked)


def test_annotations_of_folders_whose_lists_have_other_names(tmp_path: Path) -> None:
    """One has a line break in a name: both lists are beside each other, and both have annotations."""
    for name, text in (("A/a.txt", A), ("B/b.txt", A), ("A/n\nl.txt", "alpha beta"), ("C/c.txt", EDITED)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    ns.dedup([tmp_path / name for name in "AB"]).write(tmp_path / "out", annotate=True)
    assert {"annotations.jsonl", "annotations-1.jsonl", "kept-nul.txt"} <= {
        path.name for path in (tmp_path / "out" / "kept").rglob("*")
    }
    assert [] == _told(tmp_path / "out")
