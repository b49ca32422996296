"""Records of web archives, each with its place: WARC by FastWARC, by hand ARC and WARC of other capitals than usual.

1. What is damaged comes as a record of kind DAMAGE with its offset, and the reading goes on at the next record that
   can be found: the next compressed member, or the next line that begins a record, also inside a shared member.
2. A record is whole when what follows it begins another: a wrong Content-Length is damage, never part of a text.
3. Of a block at most `most` bytes are held, whatever it inflates to.
4. The same file gives the same records and offsets, however often it is walked: copies are made by them.
"""

import contextlib
import itertools
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

from nearsame.errors import MissingExtraError
from nearsame.files.compressions import Compression
from nearsame.files.systems import File, is_url
from nearsame.named import NamedTuple
from nearsame.sources.members import (
    ARC,
    STARTS,
    WARC,
    ArchiveForm,
    BrokenError,
    Plain,
    begins_member,
    begins_record,
    first_bytes,
    first_frame,
    mapped,
    member_end,
    needs_dictionary,
    next_member,
    next_start,
    only_zeros,
    packing,
    unread,
)
from nearsame.sources.streams import BrokenStreamError, chunks

__all__ = ["ARC", "DAMAGE", "WARC", "Archived", "local", "walk"]

DAMAGE = "damage"

_HEADS = {WARC: re.compile(rb"\r?\n\r?\n"), ARC: re.compile(rb"\n")}
_ARC_HEADER = re.compile(rb"(.+?) (\S*) (\d{12,14})(?: (\S*)(?: .*)?)? (\d+)\s*\Z", re.DOTALL)
_REPEATED = "warc-concurrent-to"  # the one field that may stand in a header several times
_ONE_VALUE = {"warc-type", "warc-record-id", "warc-date", "warc-target-uri"}  # of a record; two are of two
_VERSION = re.compile(rb"WARC/\d\.\d+\r{0,2}\n")
_RUNS_ON = "its header runs on into that of another record"
_HEADERS_MOST = 64 << 10
_BY_HAND = frozenset({None, "gzip"})  # compressions that are read without FastWARC, too
_MOST_SHARED, _MOST_RATIO = 64 << 20, 32  # bytes, and times the file's, that a shared member is inflated to


class Archived(NamedTuple):
    """A record, or a damaged stretch."""

    offset: int  # in the file as it is stored; several records of one compressed member share its offset
    kind: str  # the record's type in lower case, or DAMAGE
    headers: dict[str, str]  # names in lower case, those of WARC also for ARC
    block: bytes  # at most so many bytes as were asked for
    length: int  # as the record says it
    reason: str = ""  # of damage


_Stretch = Generator[Archived, None, int | None]  # returns where the next stretch begins


@contextlib.contextmanager
def local(file: File, compression: Compression | None = None, broken: list[str] | None = None) -> Iterator[str]:
    """The path of a file on this machine; a temporary copy where it is elsewhere, or to be decompressed first.

    Args:
        file: The file.
        compression: What is to be undone.
        broken: Gets the reason where it cannot be undone to the end: then what comes before stands in the copy.

    Raises:
        BrokenStreamError: Nothing of it can be decompressed.
    """
    if compression is None and not is_url(file.url):
        yield file.url
        return
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        try:
            for piece in chunks(file, compression):
                spool.write(piece)
        except BrokenStreamError as error:
            if not spool.tell():
                raise
            if broken is not None:
                broken.append(str(error))
        spool.flush()
        yield spool.name


def walk(path: str, form: ArchiveForm, most: int) -> Iterator[Archived]:
    """The records of a file.

    Args:
        path: Where it is.
        form: WARC or ARC.
        most: Bytes to hold of a block.
    """
    number, before, last = 0, -1, None
    with mapped(path) as data:
        if needs_dictionary(data):
            yield Archived(
                0, DAMAGE, {}, b"", 0, "it is compressed with a dictionary: decompress it first, with zstd -d"
            )
            return
        packed = packing(data, form)
        for record in _stretches(path, data, packed, form, most):
            number, before, last = number + 1, -1 if last is None else last.offset, record
            yield record
        if last is None or last.kind != DAMAGE or packed != "gzip":
            return
        if number == 1 or last.offset <= before or not begins_record(data, packed, form, last.offset):
            yield from _behind(last, number, data, form, most)


def _stretches(path: str, data: Any, packed: Compression | None, form: ArchiveForm, most: int) -> Iterator[Archived]:
    """The records of a file, from one damage to the next."""
    records = _READERS[form]
    start: int | None = first_frame(data) if len(data) else None
    while start is not None:
        start = yield from _run(data, records(path, data, packed, start, most), packed, form, start)


def _behind(last: Archived, number: int, data: Any, form: ArchiveForm, most: int) -> Iterator[Archived]:
    """What stands behind a damaged record in a member that several records share; found in a decompressed copy."""
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        left = _MOST_SHARED + _MOST_RATIO * len(data)
        with contextlib.suppress(BrokenError):
            for _, piece in Plain.pieces(data, 0):
                spool.write(piece[:left])
                left -= len(piece)
                if left <= 0:
                    break  # a bomb, not an archive
        spool.flush()
        for record in itertools.islice(walk(spool.name, form, most), number, None):
            yield record._replace(offset=last.offset)


def _run(data: Any, records: Iterator[Archived], packed: Compression | None, form: ArchiveForm, start: int) -> _Stretch:
    """The records from a start on; where they break off, the damage, and where to begin again."""
    last, reason = yield from _but_the_last(records)
    if last is not None and last.kind == DAMAGE and not reason:
        yield last
        return _within(data, packed, last) or next_start(data, packed, form, last.offset + 1)
    begins: int | None = start
    if last is not None:
        if reason or packed is None:
            begins, said = _end(data, packed, form, last), f"its Content-Length of {last.length:,} is not where it ends"
        else:
            own = begins_member(data, packed, last.offset)  # records that share one may have its end for a place
            begins, said = unread(data, packed, last.offset if own else start)
        if begins is None or (said and begins == last.offset):
            yield last._replace(kind=DAMAGE, block=b"", reason=said)
            return next_start(data, packed, form, last.offset + 1)
        yield last
        reason = reason or ("" if packed is None else said)
    if begins is None or not data[begins : begins + _HEADERS_MOST].strip(b"\r\n") or only_zeros(data, begins, start):
        return None
    yield Archived(begins, DAMAGE, {}, b"", 0, reason or "no record begins here")
    return next_start(data, packed, form, begins + 1)


def _within(data: Any, packed: Compression | None, last: Archived) -> int | None:
    """Where another record begins in the middle of a line of a header that breaks off."""
    if packed is not None or last.reason != _RUNS_ON:
        return None
    head = _HEADS[WARC].search(data, last.offset)
    found = _VERSION.search(data, last.offset + 1, len(data) if head is None else head.start())
    return None if found is None else found.start()


def _but_the_last(records: Iterator[Archived]) -> Generator[Archived, None, tuple[Archived | None, str]]:
    """The records before the last; returns that (or the first that is damaged), and why no more can be read."""
    last: Archived | None = None
    try:
        for record in records:
            if last is not None:
                yield last
            last = record
            if record.kind == DAMAGE:
                break
    except (BrokenError, OSError, ValueError) as error:
        return last, str(error) or type(error).__name__
    return last, ""


def _end(data: Any, packed: Compression | None, form: ArchiveForm, last: Archived) -> int | None:
    """The byte behind a record that was read without complaint; None if it is not where its length says."""
    if packed is None:
        head = _HEADS[form].search(data, last.offset)
        behind = 0 if head is None else head.end() + last.length
        ending = data[behind : behind + (1 if form == ARC else 4)]  # as far as the file goes
        whole = head is not None and behind <= len(data) and not ending.strip(b"\r\n")
        return behind + len(ending) if whole else None
    if packed != "gzip":
        return next_member(data, packed, last.offset + 1)
    return member_end(data, last.offset, last.length, _HEADS[form])


def _warc(path: str, data: Any, packed: Compression | None, start: int, most: int) -> Iterator[Archived]:
    """The records of a WARC file from an offset on, as FastWARC reads them, and what it passes over as damage."""
    iterator = _fastwarc().ArchiveIterator
    line, end, _ = first_bytes(data, packed, start).lstrip(b"\r\n").partition(b"\n")
    quirks = bool(end) and b"\r" not in line  # lines end in line feeds alone
    if quirks and packed == "gzip":  # behind a wrong length FastWARC passes over records then
        yield from _warc_by_hand(data, packed, start, most)
        return
    behind = start  # the record before, where the file is not compressed
    with Path(path).open("rb") as raw:
        raw.seek(start)
        records = iterator(path if start == 0 else raw, parse_http=False, quirks_mode=quirks and packed is None)
        for number, record in enumerate(records):
            headers, runs_on = _fields(record.headers.items())
            if packed in _BY_HAND and not record.content_length and _is_positive(headers.get("content-length", "")):
                at, before = (record.stream_pos, 0) if packed is None else (start, number)  # members may be shared
                yield from itertools.islice(_warc_by_hand(data, packed, at, most), before, None)
                return
            block = record.reader.read(most)
            size = len(block) + (record.reader.consume() if len(block) == most else 0)
            archived = Archived(
                record.stream_pos, headers.get("warc-type", "unknown").lower(), headers, block, record.content_length
            )
            if runs_on:
                archived = _damaged(archived, _RUNS_ON, data, packed)
            elif "content-length" not in headers:
                archived = _damaged(archived, "its header breaks off, or has no Content-Length", data, packed)
            elif size < archived.length:
                reason = f"breaks off after {size:,} of {archived.length:,} bytes"
                archived = _damaged(archived, reason, data, packed)
            if packed is None:
                if data[behind : archived.offset].strip(b"\r\n"):
                    yield Archived(behind, DAMAGE, {}, b"", 0, "no record begins here")
                head = _HEADS[WARC].search(data, archived.offset)
                behind = archived.offset if head is None else head.end() + archived.length
            yield archived


def _is_positive(length: str) -> bool:
    return length.isdecimal() and int(length) > 0


def _warc_by_hand(data: Any, packed: Compression | None, start: int, most: int) -> Iterator[Archived]:
    """The same, of which FastWARC finds no length: the names of fields may have capitals anywhere, or none."""
    plain = Plain(data, packed, start)
    while line := plain.line():
        if not line.strip(b"\r\n"):
            continue
        if not STARTS[WARC].match(line):
            raise BrokenError(f"no header of a record: {line[:40].decode('utf-8', 'replace')!r}", plain.began)
        offset, lines, size = plain.began, [], 0
        while (line := plain.line()).strip(b"\r\n") and (size := size + len(line)) <= _HEADERS_MOST:
            lines.append(line)
        headers, runs_on = _fields(_named(lines))
        said = headers.get("content-length", "")
        kind = headers.get("warc-type", "unknown").lower()
        if runs_on or not said.isdecimal():
            reason = _RUNS_ON if runs_on else "it says no Content-Length"
            yield Archived(offset, DAMAGE, headers, b"", 0, reason)
            return
        block = plain.take(int(said), most)
        reason = f"breaks off after {int(said) - plain.missing:,} of {int(said):,} bytes" if plain.missing else ""
        yield Archived(offset, DAMAGE if reason else kind, headers, b"" if reason else block, int(said), reason)
        if reason:
            return


def _named(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Names and values of a header's lines; one that begins with white space goes on with the value before."""
    name, value = "", ""
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text[:1] in {" ", "\t"}:
            value = f"{value} {text.strip()}"
            continue
        if name:
            yield name, value
        name, _, value = (part.strip() for part in text.partition(":"))
    if name:
        yield name, value


def _fields(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], bool]:
    """A header, the first of what is repeated (where that is allowed, all of it); whether it has another's fields."""
    fields: dict[str, str] = {}
    runs_on = False
    for name, value in pairs:
        key = name.lower()
        is_another = key in fields and key in _ONE_VALUE and fields[key] != value
        runs_on = runs_on or is_another or (key == "content-length" and key in fields)
        fields[key] = f"{fields[key]} {value}" if key == _REPEATED and key in fields else fields.get(key, value)
    return fields, runs_on


def _damaged(record: Archived, reason: str, data: Any, packed: Compression | None) -> Archived:
    """A record that cannot be read; where a copy in text mode has lengthened its lines, that is why."""
    first, _, _ = first_bytes(data, packed, record.offset).lstrip(b"\r\n").partition(b"\n")
    if first.endswith(b"\r\r"):
        reason = "its lines end in CR CR LF, as after a copy in text mode, so its Content-Length is not where it ends"
    return record._replace(kind=DAMAGE, block=b"", reason=reason)


def _fastwarc() -> Any:
    try:
        from fastwarc import warc  # noqa: PLC0415  (an optional package)
    except ImportError as error:
        raise MissingExtraError.of("fastwarc is not installed", "web") from error
    return warc


def _arc(path: str, data: Any, packed: Compression | None, start: int, most: int) -> Iterator[Archived]:  # noqa: ARG001  (as for WARC)
    """The records of an ARC file from an offset on."""
    plain = Plain(data, packed, start)
    while True:
        line = plain.line()
        while line and not line.strip(b"\r\n"):
            line = plain.line()
        if not line:
            return
        match = _ARC_HEADER.match(line)
        if match is None:
            raise BrokenError(f"not the header of a record: {line[:40].decode('utf-8', 'replace')!r}")
        offset, length = plain.began, int(match[5])
        block = plain.take(length, most)
        url, date = match[1].decode("utf-8", "replace"), match[3].decode()
        kind = "warcinfo" if url.startswith("filedesc:") else "response" if block.startswith(b"HTTP/") else "resource"
        headers = {
            "warc-target-uri": url,
            "warc-date": f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14] or '00'}Z",
            "content-type": (match[4] or b"").decode("utf-8", "replace"),
        }
        if plain.missing:
            reason = f"breaks off after {length - plain.missing:,} of {length:,} bytes"
            yield Archived(offset, DAMAGE, headers, b"", length, reason)
            return
        yield Archived(offset, kind, headers, block, length)


_READERS: dict[ArchiveForm, Callable[..., Iterator[Archived]]] = {WARC: _warc, ARC: _arc}
