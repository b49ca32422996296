"""What --annotate has written holds, of sources of every format; and what is changed in it is told."""

import bz2
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import nearsame as ns
from tests.sources import damaging
from tests.sources.archive import gzipped, html, http, record, response

pytest.importorskip("fastwarc")

TEXT = "A rose is a rose is a rose, and a daisy is another flower that grows in the meadow."
REQUEST = record(
    b"GET / HTTP/1.1\r\n\r\n",
    "WARC-Concurrent-To: <urn:uuid:00000000-0000-0000-0000-000000000002>",
    kind="request",
    number=9,
)
BROKEN = record(http(html(TEXT)), number=5, length=9_999_999)
RECORDS = [
    record(b"software: test\r\n", kind="warcinfo"),
    response(1, TEXT),
    response(2, TEXT),
    REQUEST,
    response(3, "Something else altogether, about the sea and ships."),
]
ARC = [
    b"http://a.example/%d 127.0.0.1 20260102030405 text/html %d\n%s\n" % (number, len(page), page)
    for number, page in enumerate([http(html(TEXT)), http(html(TEXT)), http(html("one"))])
]
WET = [record(TEXT.encode(), "Content-Type: text/plain", kind="conversion", number=number) for number in range(2)]


def _files(home: Path, files: dict[str, bytes]) -> str:
    home.mkdir()
    for name, data in files.items():
        (home / name).write_bytes(data)
    return str(home)


def _problems(home: Path, source: Any = None) -> list[str]:
    return [f"{problem.place}: {problem.what}" for problem in ns.verify(home, source=source).problems]


def _annotated(home: Path, **how: Any) -> list[str]:
    """The problems of what is written, annotated, of all in a folder."""
    ns.dedup(str(home / "in")).write(home / "out", annotate=True, **how)
    return _problems(home / "out")


SOURCES: dict[str, dict[str, bytes]] = {
    **{name: {name: damaging.whole(name)} for name in damaging.NAMES},
    "texts": {"a.txt": TEXT.encode(), "b.md": TEXT.encode(), "c.txt": b"\xff"},
    "pages": {"a.html": html(TEXT), "b.html": html(TEXT), "c.txt": b"one two"},
    "requests.warc": {"a.warc": b"".join(RECORDS)},
    "requests.warc.gz": {"a.warc.gz": gzipped(*RECORDS)},
    "shared.warc.gz": {"a.warc.gz": gzipped(b"".join(RECORDS))},
    "damaged.warc": {"a.warc": b"".join([*RECORDS[:2], BROKEN, *RECORDS[2:]])},
    "damaged.warc.gz": {"a.warc.gz": gzipped(RECORDS[1])[:-9] + gzipped(*RECORDS)},
    "cut.warc": {"a.warc": b"".join(RECORDS)[:-40]},
    "empty.warc": {"a.warc": b""},
    "requests.warc.bz2": {"a.warc.bz2": bz2.compress(b"".join(RECORDS))},
    "noise.warc": {"a.warc": b"no archive\r\n"},
    "a.arc": {"a.arc": b"".join(ARC)},
    "a.wet": {"a.warc.wet.gz": gzipped(*WET)},
    "header.csv": {"a.csv": b"id,text"},
    "header.tsv": {"a.tsv": b"\xef\xbb\xbfid\ttext"},
    "empty.jsonl": {"a.jsonl": b""},
    "several": {"a.warc": b"".join(RECORDS), "b.warc": b"".join(RECORDS), "c.txt": TEXT.encode()},
}


@pytest.mark.parametrize("drop_unreadable", [False, True])
@pytest.mark.parametrize("name", SOURCES)
def test_annotations_of_every_format_hold(tmp_path: Path, name: str, *, drop_unreadable: bool) -> None:
    """Of sound, empty and damaged sources."""
    _files(tmp_path / "in", SOURCES[name])
    assert [] == _annotated(tmp_path, drop_unreadable=drop_unreadable)


@pytest.mark.slow
@pytest.mark.parametrize("drop_unreadable", [False, True])
@pytest.mark.parametrize("name", [name for name in damaging.NAMES if "warc" in name])
def test_annotations_of_archives_with_any_damage_hold(tmp_path: Path, name: str, *, drop_unreadable: bool) -> None:
    """Wherever it is."""
    for number in range(8):
        home = tmp_path / str(number)
        home.mkdir()
        _files(home / "in", {name: damaging.damaged(name, number)})
        assert [] == _annotated(home, drop_unreadable=drop_unreadable)


def test_annotations_of_what_was_in_memory_hold(tmp_path: Path) -> None:
    """A table, which is given again."""
    table = pa.table({"text": [TEXT, TEXT, "one two three"]})
    ns.dedup(table).write(tmp_path / "out", annotate=True)
    assert [] == _problems(tmp_path / "out", table)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The annotations of an archive."""
    _files(tmp_path / "in", {"a.warc": b"".join(RECORDS)})
    assert [] == _annotated(tmp_path)
    return tmp_path / "out" / "kept" / "a.warc.annotations.jsonl"


def _other(value: Any) -> list[Any]:
    """Other values, near it and of another type."""
    near = [value + 1, float(value), -1] if isinstance(value, int) else [f"{value}x"]
    return [*near, None, [], True] if value is not None else [0, "", []]


@pytest.mark.slow
def test_any_other_value_of_the_annotations_of_an_archive_is_told(lines: Path) -> None:
    """Each of each line, and a key that is lost or too many."""
    told = [json.loads(line) for line in lines.read_bytes().splitlines()]
    expected = [(None, None), (0, 1), (0, 0), (None, None), (None, 0)]
    assert expected == [(each["cluster"], each["num_duplicates"]) for each in told]
    for at, each in enumerate(told):
        changed = [each | {key: value} for key in each for value in _other(each[key])]
        lost = [{name: value for name, value in each.items() if name != key} for key in each]
        for other in [*changed, *lost, each | {"more": 1}, [], 5]:
            some = [*told[:at], other, *told[at + 1 :]]
            lines.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in some))
            (problem,) = _problems(lines.parents[1])
            assert problem.startswith(f"kept/a.warc.annotations.jsonl: line {at + 1} is not"), other


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda all_: all_[1:], "line 1 is not of the record that follows"),
        (lambda all_: all_[:-1], "it ends where line 5 should stand"),
        (lambda all_: [all_[1], all_[0], *all_[2:]], "line 1 is not of the record that follows"),
        (lambda all_: [*all_, all_[-1]], "line 6 stands for no record of the copy"),
        (lambda all_: [*all_[:2], b"{\n", *all_[3:]], "line 3 is not of the record that follows"),
        (lambda all_: [*all_[:4], all_[4][:-1]], "its last line has no end"),
        (lambda _: [], "it ends where line 1 should stand"),
    ],
    ids=["first lost", "last lost", "swapped", "doubled", "broken", "line end", "emptied"],
)
def test_lines_of_the_annotations_of_an_archive(
    lines: Path, change: Callable[[list[bytes]], list[bytes]], what: str
) -> None:
    """Lost, swapped, doubled or cut."""
    lines.write_bytes(b"".join(change(lines.read_bytes().splitlines(keepends=True))))
    (problem,) = _problems(lines.parents[1])
    assert problem.startswith(f"kept/a.warc.annotations.jsonl: {what}")


def test_missing_annotations_of_an_archive_are_told(lines: Path) -> None:
    """By their name."""
    lines.unlink()
    assert ["kept/a.warc.annotations.jsonl: it is missing"] == _problems(lines.parents[1])


def test_where_unreadable_records_are_dropped_no_other_line_may_be_missing(tmp_path: Path) -> None:
    """What was written for a record that is left out may be; but then it is not in the copy."""
    _files(tmp_path / "in", {"a.warc": b"".join([*RECORDS, BROKEN, response(6, "one two three")])})
    assert [] == _annotated(tmp_path, drop_unreadable=True)
    lines = tmp_path / "out" / "kept" / "a.warc.annotations.jsonl"
    sound = lines.read_bytes().splitlines(keepends=True)
    assert [0, 1, 2, 3, 4, 6] == [json.loads(line)["position"] for line in sound]
    for at in range(len(sound)):
        lines.write_bytes(b"".join(sound[:at] + sound[at + 1 :]))
        assert 1 == len(_problems(tmp_path / "out"))


def test_annotations_of_an_archive_beside_a_source_of_that_name_have_another(tmp_path: Path) -> None:
    """Neither takes the place of the other."""
    line = b'{"text":"one two three"}\n'
    _files(tmp_path / "in", {"a.warc": b"".join(RECORDS), "a.warc.annotations.jsonl": line})
    assert [] == _annotated(tmp_path)
    kept = tmp_path / "out" / "kept"
    assert ["a.warc", "a.warc.annotations-1.jsonl", "a.warc.annotations.jsonl"] == sorted(
        path.name for path in kept.iterdir()
    )
    assert "one two three" == json.loads((kept / "a.warc.annotations.jsonl").read_bytes())["text"]
