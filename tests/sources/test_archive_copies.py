"""Copies of archives: what goes with a removed page, and that all else stands there byte for byte."""

import gzip
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.sources import Columns, open_parts
from nearsame.sources.base import Skipped
from tests.examples import share
from tests.sources.archive import PAGE, gzipped, html, http, record, response

pytest.importorskip("fastwarc")

_ID = "<urn:uuid:00000000-0000-0000-0000-{:012d}>"


def _concurrent(*numbers: int) -> list[str]:
    return [f"WARC-Concurrent-To: {_ID.format(number)}" for number in numbers]


def _kept(home: Path, data: bytes, removed: Sequence[int], name: str = "a.warc") -> bytes:
    path = home / name
    path.write_bytes(data)
    (part,) = open_parts([str(path)], columns=Columns())
    part.copy(home / "kept" / name, np.array(sorted(removed), np.int64))
    return (home / "kept" / name).read_bytes()


def _request(number: int, *headers: str) -> bytes:
    return record(b"GET / HTTP/1.1\r\n\r\n", *headers, kind="request", number=number)


def test_a_request_that_its_response_names_goes_with_it(tmp_path: Path) -> None:
    """As wget writes it: the link stands in the response, and the request comes first."""
    records = [_request(11), response(1, None, *_concurrent(11)), _request(12), response(2, None, *_concurrent(12))]
    assert b"".join(records[2:]) == _kept(tmp_path, b"".join(records), [1])


def test_all_that_a_response_names_goes_with_it(tmp_path: Path) -> None:
    """`WARC-Concurrent-To` may stand in a header several times."""
    metadata = record(b"a: b\r\n", kind="metadata", number=13)
    records = [_request(11), metadata, response(1, None, *_concurrent(11, 13)), response(2)]
    assert records[3] == _kept(tmp_path, b"".join(records), [2])


def test_what_was_written_for_a_request_goes_with_it(tmp_path: Path) -> None:
    """Metadata that names the request, which the response names."""
    metadata = record(b"a: b\r\n", *_concurrent(11), kind="metadata", number=13)
    records = [_request(11), response(1, None, *_concurrent(11)), metadata, response(2)]
    assert records[3] == _kept(tmp_path, b"".join(records), [1])


@pytest.mark.parametrize("named", ["by the request", "by the responses"])
def test_a_request_of_two_responses_goes_with_the_last(tmp_path: Path, named: str) -> None:
    """While one of them stays, it means something."""
    links = [] if named == "by the request" else _concurrent(11)
    request = _request(11, *([] if links else _concurrent(1, 2)))
    records = [request, response(1, None, *links), response(2, None, *links), response(3)]
    assert records[0] + b"".join(records[2:]) == _kept(tmp_path, b"".join(records), [1])
    assert records[3] == _kept(tmp_path, b"".join(records), [1, 2])


def test_the_request_of_a_revisit_goes_with_it(tmp_path: Path) -> None:
    """A revisit of what is removed goes, and what was written for the revisit."""
    refers = f"WARC-Refers-To: {_ID.format(1)}"
    revisit = record(b"HTTP/1.1 200 OK\r\n\r\n", refers, *_concurrent(12), kind="revisit", number=2)
    records = [response(1), _request(12), revisit, response(3)]
    assert records[3] == _kept(tmp_path, b"".join(records), [0])


def _arc(*heads: str) -> bytes:
    version = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
    made = b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain %d\n" % len(version) + version + b"\n"
    for number, head in enumerate(heads):
        block = http(html(PAGE.format(number)))
        made += head.format(f"http://a.example/{number} 127.0.0.1 20260102030405", len(block)).encode() + block + b"\n"
    return made


def test_an_arc_record_without_a_type_is_read(tmp_path: Path) -> None:
    """The field is empty, or not there at all; the HTTP header says the type."""
    path = tmp_path / "a.arc"
    path.write_bytes(_arc("{}  {}\n", "{} text/html {}\n", "{} {}\n", "{} text/html 200 - - 0 a.arc {}\r\r\n"))
    (part,) = open_parts([str(path)], columns=Columns())
    skipped: list[object] = []
    rows = [row for batch in part.read(Columns(), skipped.append) for row in batch.to_pylist()]
    assert [f"http://a.example/{number}" for number in range(4)] == [row["id"] for row in rows]
    assert [] == [each for each in skipped if isinstance(each, Skipped)]


@pytest.mark.parametrize("pack", [b"".join, lambda all_of_them: gzipped(*all_of_them)], ids=["plain", "gzip"])
def test_lines_that_end_in_two_returns_are_told_as_such(tmp_path: Path, pack: Callable[[list[bytes]], bytes]) -> None:
    """A copy in text mode has lengthened every line: each record is told with its place, and what is whole is read."""
    records = [
        response(0),
        response(1).replace(b"\r\n", b"\r\r\n"),
        response(2).replace(b"\r\n", b"\r\r\n"),
        response(3),
    ]
    path = tmp_path / f"a.warc{'' if pack is b''.join else '.gz'}"
    path.write_bytes(pack(records))
    (part,) = open_parts([str(path)], columns=Columns())
    seen: list[object] = []
    rows = [row for batch in part.read(Columns(), seen.append) for row in batch.to_pylist()]
    assert ["http://a.example/0", "http://a.example/3"] == [row["id"] for row in rows]
    skipped = [each for each in seen if isinstance(each, Skipped)]
    assert [1, 2] == [each.position for each in skipped]
    assert all("its lines end in CR CR LF" in each.reason for each in skipped)


_RECORDS = [response(number, " ".join(f"{number}-{word}" for word in range(300))) for number in range(6)]
_PLAIN = b"".join(_RECORDS)


def _frames(codec: str, *pieces: bytes) -> bytes:
    return b"".join(gzip.compress(p, mtime=0) if codec == "gz" else pa.compress(p, codec, asbytes=True) for p in pieces)


_SUFFIX = {"gz": ".gz", "zstd": ".zst", "lz4": ".lz4"}


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".lz4", ".bz2", ".xz"])
def test_an_archive_without_removed_records_is_copied_byte_for_byte(tmp_path: Path, suffix: str) -> None:
    """However it is compressed, and at whatever level."""
    import bz2
    import lzma

    packed = {
        "": _PLAIN, ".gz": gzip.compress(_PLAIN, 9), ".bz2": bz2.compress(_PLAIN), ".xz": lzma.compress(_PLAIN),
        ".zst": _frames("zstd", _PLAIN), ".lz4": _frames("lz4", _PLAIN),
    }[suffix]  # fmt: skip
    assert packed == _kept(tmp_path, packed, [], f"a.warc{suffix}")


def test_members_without_removed_records_are_copied_byte_for_byte(tmp_path: Path) -> None:
    """Only the member that holds a removed record is compressed anew, as one member again."""
    shared = [b"".join(_RECORDS[:2]), b"".join(_RECORDS[2:4]), b"".join(_RECORDS[4:])]
    members = [gzip.compress(each, 9, mtime=7) for each in shared]
    found = _kept(tmp_path, b"".join(members), [2], "a.warc.gz")
    assert found.startswith(members[0])
    assert found.endswith(members[2])
    assert _RECORDS[3] == gzip.decompress(found[len(members[0]) : -len(members[2])])
    assert len(found) < len(b"".join(members))


@pytest.mark.parametrize("codec", ["gz", "zstd", "lz4"])
@settings(deadline=None, max_examples=share(60))
@given(data=st.data())
def test_a_copy_has_all_records_but_the_removed_however_members_are_cut(codec: str, data: st.DataObject) -> None:
    """Members may hold several records, or end in the middle of one (as block compressors write them)."""
    import tempfile

    starts = list(itertools.accumulate(map(len, _RECORDS), initial=0))
    at = st.one_of(st.sampled_from(starts), st.integers(0, len(_PLAIN)))
    cuts = sorted({0, len(_PLAIN), *data.draw(st.lists(at, max_size=8))})
    removed = data.draw(st.sets(st.integers(0, 5), max_size=6))
    packed = _frames(codec, *(_PLAIN[a:b] for a, b in itertools.pairwise(cuts)))
    with tempfile.TemporaryDirectory() as home:
        found = _kept(Path(home), packed, sorted(removed), f"a.warc{_SUFFIX[codec]}")
        if codec == "gz":
            plain = gzip.decompress(found) if found else b""
        else:
            plain = b""
            if found:
                with pa.CompressedInputStream(pa.BufferReader(found), codec) as stream:
                    plain = stream.read()
    assert b"".join(each for number, each in enumerate(_RECORDS) if number not in removed) == plain


def test_what_cannot_be_decompressed_in_shared_members_stays(tmp_path: Path) -> None:
    """Behind a damaged member of several records the others are copied, and the damaged one as it is."""
    members = [gzip.compress(b"".join(_RECORDS[at : at + 2]), mtime=0) for at in (0, 2, 4)]
    broken = members[1][:300] + bytes(60) + members[1][360:]
    found = _kept(tmp_path, members[0] + broken + members[2], [0], "a.warc.gz")
    assert _RECORDS[1] == gzip.decompress(found[: -len(broken + members[2])])
    assert found.endswith(broken + members[2])


@pytest.mark.parametrize("annotate", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz", ".shared.gz"])
def test_kept_archives_hold_under_verify(tmp_path: Path, suffix: str, annotate: bool) -> None:
    """With requests that responses name, of one and of several records a member."""
    records = [
        each
        for number in range(6)
        for each in (_request(20 + number), response(number, PAGE.format(number // 2) * 3, *_concurrent(20 + number)))
    ]
    path = tmp_path / f"a{suffix.removesuffix('.gz')}.warc{'.gz' if suffix else ''}"
    path.write_bytes({"": b"".join(records), ".gz": gzipped(*records)}.get(suffix, gzip.compress(b"".join(records))))
    ns.dedup(str(path)).write(tmp_path / "out", annotate=annotate)
    found = ns.verify(tmp_path / "out")
    assert found.holds, found
    copy = (tmp_path / "out" / "kept" / path.name).read_bytes()
    plain = gzip.decompress(copy) if suffix else copy
    assert (12 if annotate else 6) == plain.count(b"WARC/1.0\r\n")
