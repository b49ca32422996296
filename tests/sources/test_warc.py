"""Web archives as sources: what is a document, what is counted, and what a copy leaves out."""

import gzip
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.sources import Columns, open_parts
from nearsame.sources.archives import ARC, DAMAGE, WARC, walk
from nearsame.sources.base import Aside, Skipped
from tests.examples import share
from tests.sources.archive import PAGE, gzipped, html, http, record, response

pytest.importorskip("fastwarc")


def _read(path: Path, **settings: Any) -> tuple[list[dict[str, Any]], list[Skipped], Counter[str]]:
    columns = Columns(**settings)
    (part,) = open_parts([str(path)], columns=columns)
    seen: list[Skipped | Aside] = []
    rows = [row for batch in part.read(columns, seen.append) for row in batch.to_pylist()]
    skipped = [each for each in seen if isinstance(each, Skipped)]
    return rows, skipped, Counter(each.what for each in seen if isinstance(each, Aside))


def _kinds(path: Path, form: str = WARC) -> list[str]:
    return [each.kind for each in walk(str(path), form, 1 << 20)]


def _written(home: Path, data: bytes, name: str = "a.warc") -> Path:
    path = home / name
    path.write_bytes(data)
    return path


def test_only_responses_of_status_200_and_a_textual_type_are_documents(tmp_path: Path) -> None:
    """The others are counted by status, type or kind of record, and nothing is unreadable."""
    data = b"".join(
        [
            record(b"software: test\r\n", kind="warcinfo"),
            response(1),
            record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=2),
            record(http(html("gone"), status="404 Not Found"), number=3),
            record(http(b"\x89PNG", kind="image/png"), number=4),
            record(http(b"body {}", kind="text/css"), number=5),
            record(http(b"plain words", kind="text/plain"), number=6),
        ]
    )
    rows, skipped, aside = _read(_written(tmp_path, data))
    assert [(1, "text/html"), (6, "text/plain")] == [(row["position"], row["mime"]) for row in rows]
    assert [] == skipped
    expected = {"record warcinfo": 1, "record request": 1, "status 404": 1, "type image/png": 1, "type text/css": 1}
    assert expected == dict(aside)


def test_what_an_archive_knows_of_a_page_stands_beside_it(tmp_path: Path) -> None:
    """URL, title, canonical URL, date, status, digest and record id come as they are."""
    page = b"<head><title> Roses\n here </title><link rel=canonical href=/rose></head><p>text"
    data = record(http(page), "WARC-Payload-Digest: sha1:ABC", number=7)
    names = ("url", "title", "canonical", "date", "status", "payload_digest", "record_id", "record_type")
    rows, _, _ = _read(_written(tmp_path, data), beside=names)
    expected = [
        "http://a.example/7", "Roses here", "http://a.example/rose", "2026-01-02T03:04:05Z", "200", "sha1:ABC",
        "<urn:uuid:00000000-0000-0000-0000-000000000007>", "response",
    ]  # fmt: skip
    assert expected == [rows[0][name] for name in names]
    assert "http://a.example/7" == rows[0]["id"]


def test_redirects_and_revisits_come_without_a_text_when_they_are_asked_for(tmp_path: Path) -> None:
    """With `bare`, each gives a row that says where it leads, or what it repeats."""
    moved = record(http(b"", "Location: /there", status="301 Moved"), number=1)
    again = record(
        b"HTTP/1.1 200 OK\r\n\r\n", "WARC-Refers-To-Target-URI: http://a.example/0",
        "WARC-Refers-To-Date: 2026-01-01T00:00:00Z", kind="revisit", number=2,
    )  # fmt: skip
    path = _written(tmp_path, moved + again)
    rows, _, _ = _read(path, bare=True, beside=("redirect", "revisit_of", "revisit_date"))
    assert [None, None] == [row["body"] for row in rows]
    assert "http://a.example/there" == rows[0]["redirect"]
    assert ("http://a.example/0", "2026-01-01T00:00:00Z") == (rows[1]["revisit_of"], rows[1]["revisit_date"])
    assert {"status 301": 1, "record revisit": 1} == dict(_read(path)[2])


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(html("packed words"))),
        ("deflate", zlib.compress(html("packed words"))),
        ("deflate", zlib.compress(html("packed words"))[2:-4]),
        ("gzip", html("packed words")),
        ("identity", html("packed words")),
    ],
    ids=["gzip", "deflate", "raw deflate", "a lie", "identity"],
)
def test_a_compressed_body_is_decoded(tmp_path: Path, encoding: str, packed: bytes) -> None:
    """Gzip and both kinds of deflate; a body that is not compressed, whatever its header says, is taken as it is."""
    rows, _, _ = _read(_written(tmp_path, record(http(packed, f"Content-Encoding: {encoding}"))))
    assert html("packed words") == rows[0]["body"]


def test_brotli_is_decoded(tmp_path: Path) -> None:
    """Content-Encoding br."""
    brotli = pytest.importorskip("brotli")
    packed = http(brotli.compress(html("packed words")), "Content-Encoding: br")
    assert html("packed words") == _read(_written(tmp_path, record(packed)))[0][0]["body"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", b"hello world"),
        (b"5;name=value\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (b"hello, no chunks", b"hello, no chunks"),
        (b"5\r\nhello\r\nzz\r\nrest", b"hello"),
        (b"ffff\r\nhello", b"hello"),
    ],
    ids=["right", "extension and trailer", "none", "broken in the middle", "too long"],
)
def test_chunks_are_joined_as_far_as_they_go(tmp_path: Path, body: bytes, expected: bytes) -> None:
    """Bad chunking loses what cannot be told apart from it, and raises nothing."""
    data = record(http(body, "Transfer-Encoding: chunked", kind="text/plain"))
    assert expected == _read(_written(tmp_path, data))[0][0]["body"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_wrong_content_length_is_damage_with_its_offset(tmp_path: Path, packed: bool) -> None:
    """Too long would swallow the next record, too short would leave half a page: neither becomes a text."""
    block = http(html("the damaged one"))
    for wrong in (-7, 7, 300):
        records = [response(1), record(block, number=2, length=len(block) + wrong), response(3), response(4)]
        first = len(gzipped(records[0]) if packed else records[0])
        data = gzipped(*records) if packed else b"".join(records)
        rows, skipped, _ = _read(_written(tmp_path, data, "a.warc.gz" if packed else "a.warc"))
        assert [1, 3, 4] == [int(row["id"].rpartition("/")[2]) for row in rows], wrong
        assert [1] == [each.position for each in skipped]
        assert (
            f"at byte {first:,}: its Content-Length of {len(block) + wrong:,} is not where it ends" == skipped[0].reason
        )


def test_a_damaged_member_is_one_skip_and_the_next_is_read(tmp_path: Path) -> None:
    """Bytes that do not decompress end a record, not the file."""
    members = [gzipped(response(number)) for number in range(5)]
    broken = members[2][:40] + bytes(60) + members[2][100:]
    data = b"".join([*members[:2], broken, *members[3:]])
    rows, skipped, _ = _read(_written(tmp_path, data, "a.warc.gz"))
    assert [0, 1, 3, 4] == [int(row["id"].rpartition("/")[2]) for row in rows]
    assert [2] == [each.position for each in skipped]
    assert f"at byte {len(b''.join(members[:2])):,}: " in skipped[0].reason


def test_a_truncated_member_is_counted(tmp_path: Path) -> None:
    """The last record breaks off: what is before it is read."""
    data = gzipped(response(0), response(1))
    rows, skipped, _ = _read(_written(tmp_path, data[:-90], "a.warc.gz"))
    assert 1 == len(rows)
    assert "breaks off" in skipped[0].reason


def test_a_bomb_is_cut_at_the_bound(tmp_path: Path) -> None:
    """500 MB of zeros in half a megabyte give no more than --max-document, and the next record is read."""
    bomb = http(gzip.compress(bytes(1 << 20) * 500, 1), "Content-Encoding: gzip")
    rows, skipped, aside = _read(_written(tmp_path, record(bomb) + response(1)), max_document=1 << 20)
    assert [1 << 20, len(html(PAGE.format(1)))] == [len(row["body"]) for row in rows]
    assert ([], 1) == (skipped, aside["cut"])


def test_an_endless_page_is_cut_at_the_bound(tmp_path: Path) -> None:
    """A record of 30 MB of text is read up to the bound."""
    data = gzipped(record(http(b"<p>" + b"endless " * (30 << 17))), response(1))
    rows, _, aside = _read(_written(tmp_path, data, "a.warc.gz"), max_document=1 << 20)
    assert ([1 << 20, 1], 1) == ([len(rows[0]["body"]), int(rows[1]["id"][-1])], aside["cut"])


def test_a_copy_holds_the_other_records_byte_for_byte(tmp_path: Path) -> None:
    """The removed response goes with its request, its metadata and a revisit of it; every other member is unchanged."""
    identity = "<urn:uuid:00000000-0000-0000-0000-000000000001>"
    records = [
        record(b"software: test\r\n", kind="warcinfo", number=9),
        record(b"GET /1 HTTP/1.1\r\n\r\n", f"WARC-Concurrent-To: {identity}", kind="request", number=10),
        response(1),
        record(b"fetchTimeMs: 1\r\n", f"WARC-Concurrent-To: {identity}", kind="metadata", number=11),
        record(
            b"HTTP/1.1 200 OK\r\n\r\n", "WARC-Refers-To-Target-URI: http://a.example/1",
            "WARC-Refers-To-Date: 2026-01-02T03:04:05Z", kind="revisit", number=12,
        ),
        record(b"GET /2 HTTP/1.1\r\n\r\n", kind="request", number=13),
        response(2),
    ]  # fmt: skip
    for name, pack in (("a.warc", b"".join), ("a.warc.gz", lambda all_of_them: gzipped(*all_of_them))):
        (part,) = open_parts([str(_written(tmp_path, pack(records), name))], columns=Columns())
        part.copy(tmp_path / "kept" / name, np.array([2]))
        assert pack([records[0], *records[5:]]) == (tmp_path / "kept" / name).read_bytes()


def test_records_that_share_a_member_are_copied_too(tmp_path: Path) -> None:
    """A file that was compressed as a whole comes back with each record in a member of its own."""
    path = _written(tmp_path, gzip.compress(response(1) + response(2) + response(3)), "a.warc.gz")
    (part,) = open_parts([str(path)], columns=Columns())
    part.copy(tmp_path / "kept.warc.gz", np.array([1]))
    assert ["http://a.example/1", "http://a.example/3"] == [row["id"] for row in _read(tmp_path / "kept.warc.gz")[0]]


@pytest.mark.parametrize("damaged", [1, 2])
def test_behind_damage_a_shared_member_is_read_on_and_copied(tmp_path: Path, damaged: int) -> None:
    """A wrong Content-Length loses one record of a file that was compressed as a whole, as of a plain one."""
    records = [response(number) for number in range(1, 6)]
    length = re.search(rb"(?m)^Content-Length: (\d+)", records[damaged - 1])
    assert length is not None
    records[damaged - 1] = records[damaged - 1].replace(length.group(), b"Content-Length: 9", 1)
    path = _written(tmp_path, gzip.compress(b"".join(records)), "a.warc.gz")
    expected = [f"http://a.example/{number}" for number in range(1, 6) if number != damaged]
    rows, skipped, *_ = _read(path)
    assert (expected, 1) == ([row["id"] for row in rows], len(skipped))
    (part,) = open_parts([str(path)], columns=Columns())
    part.copy(tmp_path / "kept.warc.gz", np.array([4]))
    assert expected[:-1] == [row["id"] for row in _read(tmp_path / "kept.warc.gz")[0]]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2", ".xz", ".lz4"])
def test_dedup_writes_an_archive_of_the_same_format(tmp_path: Path, suffix: str) -> None:
    """What stays can be read again, whatever the compression, and has no duplicates any more."""
    import bz2
    import lzma

    import pyarrow as pa

    plain = [
        response(1),
        response(2, PAGE.format(1)),
        response(3, "Something else altogether, about the sea and ships."),
    ]
    packers = {
        "": b"".join, ".gz": lambda r: gzipped(*r), ".bz2": lambda r: bz2.compress(b"".join(r)),
        ".xz": lambda r: lzma.compress(b"".join(r)),
        ".zst": lambda r: b"".join(pa.compress(each, "zstd", asbytes=True) for each in r),
        ".lz4": lambda r: b"".join(pa.compress(each, "lz4", asbytes=True) for each in r),
    }  # fmt: skip
    path = _written(tmp_path, packers[suffix](plain), f"a.warc{suffix}")
    ns.dedup(str(path)).write(tmp_path / "clean")
    again = ns.dedup(str(tmp_path / "clean" / "kept" / path.name))
    assert (2, 0) == (again.stats.documents, again.stats.removed)


def test_kept_tables_have_the_text_and_what_is_known(tmp_path: Path) -> None:
    """`kept()` gives the extracted text, the URL and the title of each document."""
    path = _written(tmp_path, response(1) + response(2, PAGE.format(1)))
    found = ns.dedup(str(path)).kept().to_pylist()
    assert [(PAGE.format(1), "http://a.example/1", "Roses")] == [
        (r["text"].strip(), r["url"], r["title"]) for r in found
    ]


def _arc(*pages: tuple[str, bytes]) -> list[bytes]:
    version = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
    head = b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain %d\n" % len(version) + version + b"\n"
    made = [f"{url} 127.0.0.1 20260102030405 text/html {len(block)}\n".encode() + block + b"\n" for url, block in pages]
    return [head, *made]


@pytest.mark.parametrize("packed", [False, True])
def test_arc_files_are_read(tmp_path: Path, packed: bool) -> None:
    """The older format, plain and compressed; a URL may hold spaces."""
    records = _arc(("http://a.example/1 2", http(html("one"))), ("http://a.example/3", http(html("two"))))
    path = _written(tmp_path, gzipped(*records) if packed else b"".join(records), "a.arc.gz" if packed else "a.arc")
    rows, skipped, _ = _read(path, beside=("date",))
    assert ["http://a.example/1 2", "http://a.example/3"] == [row["id"] for row in rows]
    assert ("2026-01-02T03:04:05Z", []) == (rows[0]["date"], skipped)
    (part,) = open_parts([str(path)], columns=Columns())
    part.copy(tmp_path / "kept", np.array([1]))
    left = [records[0], records[2]]
    assert (gzipped(*left) if packed else b"".join(left)) == (tmp_path / "kept").read_bytes()


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_arc_record_is_one_skip(tmp_path: Path, packed: bool) -> None:
    """A header that is none: the reading goes on at the next."""
    records = _arc(*((f"http://a.example/{number}", http(html("page"))) for number in range(4)))
    records[2] = b"?" * 70 + records[2][70:]
    path = _written(tmp_path, gzipped(*records) if packed else b"".join(records), "a.arc.gz" if packed else "a.arc")
    rows, skipped, _ = _read(path)
    assert ["http://a.example/0", "http://a.example/2", "http://a.example/3"] == [row["id"] for row in rows]
    assert 1 == len(skipped)


def test_wet_conversions_are_texts(tmp_path: Path) -> None:
    """Common Crawl's extracted texts: the block is the document."""
    data = record("grüne Wörter".encode(), "Content-Type: text/plain", kind="conversion")
    rows, _, _ = _read(_written(tmp_path, data, "a.warc.wet"))
    assert [("grüne Wörter".encode(), "text/plain", "utf-8")] == [(r["body"], r["mime"], r["charset"]) for r in rows]


@settings(deadline=None, max_examples=share(150))
@given(st.data())
def test_arbitrary_damage_never_raises_and_never_loses_a_whole_record_after_it(data: st.DataObject) -> None:
    """Bytes overwritten anywhere: records are read or counted, and those two members behind the damage are intact."""
    import tempfile

    members = [gzipped(response(number)) for number in range(4)]
    whole = b"".join(members)
    at = data.draw(st.integers(0, len(members[0]) + len(members[1]) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=40))
    damaged = whole[:at] + noise + whole[at + len(noise) :]
    with tempfile.TemporaryDirectory() as home:
        rows, _, _ = _read(_written(Path(home), damaged, "a.warc.gz"))
    last = 3 if at + len(noise) > len(members[0]) + len(members[1]) else 2
    assert set(range(last, 4)) <= {int(row["id"].rpartition("/")[2]) for row in rows}


@settings(deadline=None, max_examples=share(150))
@given(st.binary(max_size=400), st.sampled_from(["", ".gz"]), st.sampled_from(["a.warc", "a.arc"]))
def test_arbitrary_bytes_are_an_archive_without_documents(noise: bytes, suffix: str, name: str) -> None:
    """Nothing raises, and what is there is one damage at most a byte."""
    import tempfile

    with tempfile.TemporaryDirectory() as home:
        path = _written(Path(home), gzip.compress(noise) if suffix else noise, name + suffix)
        kinds = _kinds(path, ARC if name == "a.arc" else WARC)
    assert DAMAGE in kinds or len(noise.strip()) == 0 or "unknown" in kinds


def _spelled(stored: bytes, how: str) -> bytes:
    """A record whose names of fields have other capitals."""
    header, end, block = stored.partition(b"\r\n\r\n")
    first, *lines = header.split(b"\r\n")
    return (
        b"\r\n".join([first, *(re.sub(rb"^[\w-]+", lambda name: getattr(name[0], how)(), at) for at in lines)])
        + end
        + block
    )


@given(
    lengths=st.lists(st.sampled_from([0, 0, 0, 0, -7, 7, 300]), min_size=1, max_size=5),
    spelled=st.lists(st.sampled_from(["lower", "upper", "title"]), min_size=5, max_size=5),
    packing=st.sampled_from(["plain", "members", "one member"]),
    cut=st.sampled_from([0, 0, 1, 4, 5, 60, 400]),
)
@settings(max_examples=share(150))
def test_names_of_fields_may_have_any_capitals(
    lengths: list[int], spelled: list[str], packing: str, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By the standard they have no case; damage is told of the same records."""
    home = tmp_path_factory.mktemp("capitals")
    block = http(html("a rose"))
    records = [record(block, number=number, length=len(block) + wrong) for number, wrong in enumerate(lengths)]
    records[-1] = records[-1][: len(records[-1]) - cut]
    found = []
    for name, stored in (("usual", records), ("other", [*map(_spelled, records, spelled)])):
        pack = {"plain": b"".join, "members": lambda all_of_them: gzipped(*all_of_them)}.get(packing)
        data = gzip.compress(b"".join(stored), mtime=0) if pack is None else pack(stored)
        path = _written(home, data, f"{name}.warc" if packing == "plain" else f"{name}.warc.gz")
        read = list(walk(str(path), WARC, 1 << 20))
        found.append([
            (one.kind, one.block, one.offset if packing == "plain" else 0, one.headers if one.kind != DAMAGE else {})
            for one in read
        ])  # fmt: skip
    assert found[0] == found[1]


def test_behind_damage_a_shared_member_is_read_on_though_capitals_differ_in_it(tmp_path: Path) -> None:
    """The reader changes at the first record that is spelt in another way."""
    block = http(html("a rose"))
    lengths = [len(block), len(block), len(block) - 7, len(block)]
    records = [record(block, number=number, length=length) for number, length in enumerate(lengths)]
    spelt = [*map(_spelled, records, ["title", "title", "lower", "lower"])]
    path = _written(tmp_path, gzip.compress(b"".join(spelt), mtime=0), "a.warc.gz")
    kinds = [one.kind for one in walk(str(path), WARC, 1 << 20)]
    assert ["response", "response", DAMAGE, "response"] == kinds


@pytest.mark.parametrize("packing", ["plain", "members", "one member"])
def test_lines_of_headers_may_end_in_line_feeds_alone(packing: str, tmp_path: Path) -> None:
    """However the file is compressed; a wrong length is damage there, too."""
    block = http(html("a rose"))
    lengths = [len(block)] * 3 + [len(block) + 9, len(block)]
    usual = [record(block, number=number, length=length) for number, length in enumerate(lengths)]
    heads = [each.partition(b"\r\n\r\n")[0].replace(b"\r\n", b"\n") for each in usual]
    stored = [head + b"\n\n" + block + b"\n\n" for head in heads]
    data = {
        "plain": b"".join(stored),
        "members": gzipped(*stored),
        "one member": gzip.compress(b"".join(stored), mtime=0),
    }[packing]
    name = "a.warc" if packing == "plain" else "a.warc.gz"
    found = [(one.kind, one.block) for one in walk(str(_written(tmp_path, data, name)), WARC, 1 << 20)]
    assert [("response", block)] * 3 == found[:3]
    assert DAMAGE == found[3][0]
    assert ("response", block) == found[4]
