"""A file that is cut at any byte: what is before is read, and the cut is told unless a record ends there."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

from nearsame.errors import SourceError

from .archive import record
from .corpora import FORMATS, compressed, encoded, only, read

ROWS = [{"id": f"i{number}", "text": f"text {number}", "n": number} for number in range(3)]
_HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello world %d"
_WARC = [record(_HTTP % number, number=number) for number in range(3)]
_ARC = [
    b"filedesc://x.arc 0.0.0.0 20260102030405 text/plain 20\n1 0 x\nURL IP-addres\n\n",
    *(b"http://a.org/%d 1.2.3.4 20260102030405 text/html 60\n%b\n" % (n, (_HTTP % n).ljust(60)) for n in range(2)),
]


def _outcome(path: Path, data: bytes) -> tuple[int, bool]:
    """How many records are read, and whether it is told that something is not."""
    path.write_bytes(data)
    try:
        rows, skipped = read(only(str(path)))
    except SourceError:
        return 0, True
    return len(rows), bool(skipped)


def _silent(path: Path, data: bytes, whole: Callable[[bytes], int | None]) -> list[tuple[int, int, bool]]:
    """The cuts that go wrong; `whole` says how many records a cut file has if nothing of another is left."""
    wrong = []
    for size in range(len(data)):
        rows, told = _outcome(path, data[:size])
        due = whole(data[:size])
        if (due is None and not told) or (due is not None and not told and rows != due):
            wrong.append((size, rows, told))
    return wrong


def _lines(data: bytes) -> int | None:
    """All lines that are objects; None where one is not."""
    try:
        return len([orjson.loads(line) for line in io.BytesIO(data)])
    except orjson.JSONDecodeError:
        return None


def _quoted(data: bytes) -> int | None:
    """All lines behind the header, where every quote is closed and every record has its fields."""
    lines = data.decode().splitlines()
    if any(line.count('"') % 2 or line.count(",") + line.count("\t") != 2 for line in lines[1:]):
        return None
    return max(len(lines) - 1, 0)


def _at(parts: list[bytes], first: int = 0) -> Callable[[bytes], int | None]:
    """The records of an archive up to a border; line ends at the end of a record are not missed."""
    borders = {0: 0}
    ends = [sum(map(len, parts[: number + 1])) for number in range(len(parts))]
    for number, (end, part) in enumerate(zip(ends, parts, strict=True)):
        blank = len(part) - len(part.rstrip(b"\r\n"))
        borders |= dict.fromkeys(range(end - blank, end + 1), max(number + 1 - first, 0))
    return lambda data: borders.get(len(data))


def test_cut_json_lines_are_told(tmp_path: Path) -> None:
    """A line that is cut is not an object."""
    assert [] == _silent(tmp_path / "a.jsonl", encoded(ROWS, "jsonl"), _lines)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_cut_delimited_records_are_told(tmp_path: Path, kind: str) -> None:
    """As soon as a field is missing, or a quote is not closed."""
    data = encoded(ROWS, kind)
    start = data.index(b"\n")
    assert [] == [cut for cut in _silent(tmp_path / f"a.{kind}", data, _quoted) if cut[0] > start]


@pytest.mark.parametrize("compression", [".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize("kind", FORMATS)
def test_cut_compressed_files_are_told(tmp_path: Path, kind: str, compression: str) -> None:
    """At every byte but the first, before which there is nothing."""
    data = compressed(encoded(ROWS, kind), compression)
    found = _silent(tmp_path / f"a.{kind}{compression}", data, lambda data: None if data else 0)
    assert [] == found


def test_a_cut_between_members_is_the_end(tmp_path: Path) -> None:
    """Of gzip: a file may end there; a cut in the header of the next member is told."""
    parts = [gzip.compress(encoded([row], "jsonl")) for row in ROWS]
    borders = {sum(map(len, parts[:number])): number for number in range(4)}
    assert [] == _silent(tmp_path / "a.jsonl.gz", b"".join(parts), lambda data: borders.get(len(data)))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_cut_files_with_a_footer_are_refused(tmp_path: Path, kind: str) -> None:
    """What they hold is said at their end."""
    data = encoded(ROWS, kind)
    sizes = range(len(data) - 1, 0, -7)
    assert [] == [size for size in sizes if not _outcome(tmp_path / f"a.{kind}", data[:size])[1]]


def test_a_cut_arrow_stream_is_told(tmp_path: Path) -> None:
    """Unless a message ends there: a stream may do without a mark of its end."""
    out, table = io.BytesIO(), pa.Table.from_pylist(ROWS)
    schema = table.schema.serialize().size
    borders = dict.fromkeys((0, schema, schema + 4), 0)
    with pa.ipc.new_stream(out, table.schema) as writer:
        for number, batch in enumerate(table.to_batches(max_chunksize=1)):
            writer.write_batch(batch)
            borders |= {out.tell(): number + 1, out.tell() + 4: number + 1}
    data = out.getvalue()
    found = _silent(tmp_path / "a.arrow", data, lambda data: borders.get(len(data)))
    assert [] == found


@pytest.mark.parametrize("kind", ["warc", "arc"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_cut_web_archive_is_told(tmp_path: Path, kind: str, packed: str) -> None:
    """In a header as well as in a block, in the header of a compressed member as well as in its check sum."""
    plain = _WARC if kind == "warc" else _ARC
    parts = [gzip.compress(each) for each in plain] if packed else plain
    found = _silent(tmp_path / f"a.{kind}{packed}", b"".join(parts), _at(parts, int(kind == "arc")))
    assert [] == found


def test_a_cut_archive_in_one_member_is_told(tmp_path: Path) -> None:
    """Records that share a member are read as far as they go."""
    for kind, plain in (("warc", _WARC), ("arc", _ARC)):
        data = gzip.compress(b"".join(plain))
        assert [] == _silent(tmp_path / f"a.{kind}.gz", data, lambda data: None if data else 0)


def test_a_cut_saved_page_is_told(tmp_path: Path) -> None:
    """MHTML ends at the line that closes its last boundary, in whichever part it is cut."""
    head = b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=AA\r\n\r\n"
    page = b"--AA\r\nContent-Type: text/html\r\n\r\n<p>one two three four\r\n"
    image = b"--AA\r\nContent-Type: image/png\r\n\r\nxxxx\r\n"
    data = head + page + image + b"--AA--\r\n"
    found = _silent(tmp_path / "a.mhtml", data, lambda data: 1 if data.rstrip().endswith(b"--AA--") else None)
    assert [] == found
    assert (1, False) == _outcome(tmp_path / "a.mhtml", data)


@pytest.mark.parametrize("junk", [b"some junk\n", b"\n\nsome\njunk\n", b"x: y\r\n\r\n"])
@pytest.mark.parametrize("place", range(4))
def test_what_is_no_record_is_told_wherever_it_stands(tmp_path, junk, place):
    """Before the first, between two, or behind the last of an archive; all records are read."""
    data = b"".join([*_WARC[:place], junk, *_WARC[place:]])
    assert (3, True) == _outcome(tmp_path / "a.warc", data)
    assert (3, False) == _outcome(tmp_path / "a.warc", b"".join([*_WARC[:place], b"\r\n\r\n", *_WARC[place:]]))


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.warc.gz"])
def test_zeros_behind_a_gzip_file_are_padding_and_nothing_else_is(tmp_path, name):
    """As for gzip itself: zeros as a tape has them hold nothing, but what stands behind them does."""
    members = _WARC[:2] if name == "a.warc.gz" else [b'{"text": "a"}\n', b'{"text": "b"}\n']
    first, second = (gzip.compress(member) for member in members)
    for zeros in (b"\0", b"\0" * 600_000):
        assert (2, False) == _outcome(tmp_path / name, first + second + zeros)
        assert _outcome(tmp_path / name, first + zeros + second)[1]
        assert _outcome(tmp_path / name, first + second + zeros + b"x")[1]
    assert _outcome(tmp_path / name, first + second[:-8] + b"\0" * 8)[1]
