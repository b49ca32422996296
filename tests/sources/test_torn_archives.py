"""Archives whose compression breaks off, or was none: what is there is read, the rest told, and nothing is lost."""

import bz2
import functools
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import nearsame as ns

_PACKED = {"gz": gzip.compress, "bz2": functools.partial(bz2.compress, compresslevel=1), "xz": lzma.compress}


def _record(number: int, text: str) -> bytes:
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>{text}</p></body></html>".encode()
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:{number:08}-0000-0000-0000-000000000000>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: http://a.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def _archive() -> bytes:
    """Sixty records, every second one a copy of the one before; some blocks of any compression."""
    chance = random.Random(0)
    texts = [" ".join(f"{chance.random()}" for _ in range(300)) for _ in range(30)]
    return b"".join(_record(number, texts[number // 2]) for number in range(60))


@pytest.mark.slow
@pytest.mark.parametrize("kind", _PACKED)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_an_archive_that_breaks_off_is_read_up_to_there_and_the_rest_is_told(
    kind: str, share: float, tmp_path: Path
) -> None:
    """All records are in one compressed stream; what is kept has every record before the break that does not go."""
    whole = _PACKED[kind](_archive())
    torn = tmp_path / f"torn.warc.{kind}"
    torn.write_bytes(whole[: int(len(whole) * share)])
    (tmp_path / "other.txt").write_text("some words of another document", "utf-8")
    found = ns.dedup((str(torn), str(tmp_path / "other.txt")), audit=False)
    stats = found.write(tmp_path / "out")
    assert stats.skipped == 1
    assert stats.documents - 1 == 2 * stats.removed or stats.documents - 2 == 2 * stats.removed
    if stats.documents > 1:
        copy = tmp_path / "out" / "kept" / torn.name
        again = ns.dedup(str(copy), audit=False)
        assert (stats.kept - 1, 0) == (again.stats.documents, again.stats.removed)
    found.write(tmp_path / "dropped", drop_unreadable=True)
    if stats.documents > 1:
        again = ns.dedup(str(tmp_path / "dropped" / "kept" / torn.name), audit=False)
        assert (stats.kept - 1, 0) == (again.stats.documents, again.stats.skipped)


@pytest.mark.parametrize("kind", ["bz2", "xz"])
def test_an_archive_that_was_never_compressed_is_told_and_copied_as_it_is(kind: str, tmp_path: Path) -> None:
    """Alone it is an error, in a folder a skip."""
    junk = tmp_path / "in" / f"junk.warc.{kind}"
    junk.parent.mkdir()
    junk.write_bytes(b"this is not compressed at all" * 9)
    with pytest.raises(ns.SourceError, match=f"not readable as {kind}"):
        ns.dedup(str(junk), audit=False)
    (junk.parent / "a.jsonl").write_text('{"text": "a rose"}\n{"text": "a rose"}\n', "utf-8")
    found = ns.dedup(str(junk.parent), audit=False)
    stats = found.write(tmp_path / "out")
    assert (1, 1, 1) == (stats.skipped, stats.removed, stats.kept)
    assert junk.read_bytes() == (tmp_path / "out" / "kept" / junk.name).read_bytes()
    assert 1 == found.kept().num_rows
    found.write(tmp_path / "without", drop_unreadable=True)
    assert not (tmp_path / "without" / "kept" / junk.name).exists()
    found.write(tmp_path / "annotated", annotate=True)


def _told(path: Path, **options: object) -> tuple[list[str], int]:
    found = ns.dedup(str(path), audit=False, **options)
    return found.kept().column("url").to_pylist(), found.stats.skipped


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("ends", [b"WARC/1.1\r\n", b"\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n", b"a.example/1\r\n"])
def test_a_header_that_breaks_off_takes_no_other_record(
    packed: Callable[[bytes], bytes], ends: bytes, tmp_path: Path
) -> None:
    """Its fields are not those of the record behind it, which is read as if it stood alone."""
    whole = [_record(number, f"{number} " + "a rose is a rose " * number) for number in (1, 2, 3)]
    torn = whole[0][: whole[0].index(ends) + len(ends)] if ends in whole[0] else b"WARC/1.1\r\nWARC-Type: request\r\n"
    (tmp_path / "torn.warc").write_bytes(packed(whole[0]) + packed(torn) + packed(whole[1]) + packed(whole[2]))
    urls, skipped = _told(tmp_path / "torn.warc", use=["url", "text"])
    assert [f"http://a.example/{number}" for number in (1, 2, 3)] == urls
    assert 1 == skipped


def _frame(kind: int, data: bytes = b"of no use") -> bytes:
    return bytes([kind]) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def _zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


def test_frames_without_data_are_passed_over(tmp_path: Path) -> None:
    """Zstandard has them before, between and behind others."""
    records = [_zstd(_record(number, f"{number} " + "a rose is a rose " * number)) for number in (1, 2, 3)]
    data = _frame(0x50) + _frame(0x5E, b"") + records[0] + _frame(0x51) + b"".join(records[1:]) + _frame(0x50)
    (tmp_path / "a.warc.zst").write_bytes(data)
    urls, skipped = _told(tmp_path / "a.warc.zst")
    assert ([f"http://a.example/{number}" for number in (1, 2, 3)], 0) == (urls, skipped)


@pytest.mark.parametrize("how", ["before", "within"])
def test_no_record_is_made_of_a_dictionary(how: str, tmp_path: Path) -> None:
    """What was compressed with one is not read, and says so; the records in the dictionary are nobody's."""
    record, other = _record(1, "a rose is a rose is a rose"), tmp_path / "other.warc"
    frame = _zstd(record)
    told = frame[:4] + bytes([frame[4] | 1, *frame[5:6], 7]) + frame[6:]
    data = _frame(0x5D, record + record) + frame if how == "before" else told
    (tmp_path / "a.warc.zst").write_bytes(data)
    other.write_bytes(record)
    found = ns.dedup((str(tmp_path / "a.warc.zst"), str(other)), audit=False)
    assert (1, 0, 1) == (found.stats.documents, found.stats.removed, found.stats.skipped)
    assert "dictionary" in found.skipped.column("reason").to_pylist()[0]


def test_a_record_in_segments_is_no_document(tmp_path: Path) -> None:
    """Two that begin alike may end otherwise; both stay."""
    both = b"".join(_record(number, "a rose is a rose is a rose") for number in (1, 2))
    (tmp_path / "a.warc").write_bytes(both.replace(b"WARC-Date", b"WARC-Segment-Number: 1\r\nWARC-Date"))
    found = ns.dedup(str(tmp_path / "a.warc"), audit=False)
    assert 0 == found.stats.documents
    assert {"record cut into segments": 2} == found.stats.pages["passed_over"]


@pytest.mark.parametrize("at", [30, 60, 90, 120, 150, 180])
def test_a_record_behind_a_header_that_breaks_off_in_a_line_is_read(at: int, tmp_path: Path) -> None:
    """It begins in the middle of that line."""
    whole = [_record(number, f"{number} " + "a rose is a rose " * number) for number in (1, 2, 3)]
    (tmp_path / "torn.warc").write_bytes(whole[0] + whole[0][:at] + whole[1] + whole[2])
    urls, skipped = _told(tmp_path / "torn.warc")
    assert ([f"http://a.example/{number}" for number in (1, 2, 3)], 1) == (urls, skipped)


@pytest.mark.parametrize(
    "field", ["WARC-Target-URI: http://a.example/{}", "WARC-Date: 2020-01-01T00:00:00Z", "WARC-Payload-Digest: sha1:A"]
)
def test_a_field_that_stands_there_twice_is_of_one_record(field: str, tmp_path: Path) -> None:
    """If it says the same; and digests may be of several algorithms."""
    made = []
    for number in (1, 2):
        more = f"WARC-Payload-Digest: sha256:B\r\n{field.format(number)}\r\nContent-Type".encode()
        made.append(_record(number, f"{number} a rose is a rose").replace(b"Content-Type", more, 1))
    (tmp_path / "a.warc").write_bytes(b"".join(made))
    assert ([f"http://a.example/{number}" for number in (1, 2)], 0) == _told(tmp_path / "a.warc")
