"""Archives whose compression breaks off, or was none: what is there is read, the rest told, and nothing is lost."""

import bz2
import functools
import gzip
import lzma
import random
from pathlib import Path

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
