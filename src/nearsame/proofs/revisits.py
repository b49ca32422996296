"""Revisits in the copy of an archive: each in place of a removed response, of which another with its payload stays.

1. Records are cut by their own lengths here, without the readers of the product.
2. What differs from its source must be such a revisit, and must be able to give the record back.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from nearsame.named import NamedTuple

__all__ = ["Change", "Lead", "Place", "Stored", "changes", "stored_records"]

Place = tuple[str, int]  # a source and a position in it

_END = re.compile(rb"\r?\n\r?\n")
_BLANKS = b"\r\n"
_HEADER_MOST, _HELD_MOST = 1 << 20, 64 << 20
_KEPT = (
    b"warc-record-id",
    b"warc-date",
    b"warc-target-uri",
    b"warc-concurrent-to",
    b"warc-ip-address",
    b"warc-warcinfo-id",
)
_VERSION = (b"version", b"WARC/1.1")
_PROFILE = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


class Stored(NamedTuple):
    """A record as it stands in a file."""

    header: bytes  # with the empty line behind it
    block: bytes  # none, where it is too long to be held
    tail: bytes  # blank lines behind it
    digest: str  # SHA-256 of all of it

    @property
    def lines(self) -> list[tuple[bytes, bytes]]:
        """Of the header, names in lower case."""
        pairs = (line.partition(b":") for line in re.split(rb"\r?\n", self.header)[1:])
        return [(name.strip(b" \t").lower(), value.strip(b" \t")) for name, _, value in pairs if name.strip()]

    @property
    def fields(self) -> Mapping[bytes, bytes]:
        """The same by name."""
        return dict(self.lines)

    @property
    def pieces(self) -> tuple[bytes, bytes]:
        """The HTTP header, with the empty line, and the payload."""
        head, end, payload = self.block.partition(b"\r\n\r\n")
        return head + end, payload


class Lead(NamedTuple):
    """What a revisit may lead to."""

    place: Place
    fields: Mapping[bytes, bytes]
    payload: bytes  # SHA-256
    payload_digest: bytes  # as the record says it, or else by SHA-1

    @classmethod
    def of(cls, place: Place, record: Stored) -> "Lead":
        """What is to be known of a record."""
        payload, fields = record.pieces[1], record.fields
        sha1 = b"sha1:" + base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest())
        digest = fields.get(b"warc-payload-digest") or sha1
        return cls(place, fields, hashlib.sha256(payload).digest(), digest)


class Change(NamedTuple):
    """A place where a copy has something else than its source."""

    position: int
    problem: str  # nothing: it is a revisit, and right
    lead: Place | None = None  # what it leads to


class _Bytes:
    """A stream of which some can be looked at before it is taken."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.held = b""

    def more(self) -> bool:
        """Hold some more; whether there was any."""
        piece = next((piece for piece in self._chunks if piece), None)
        self.held += piece or b""
        return piece is not None

    def take(self, size: int) -> bytes:
        """Some bytes, as many as are held at most."""
        piece, self.held = self.held[:size], self.held[size:]
        return piece


def stored_records(chunks: Iterator[bytes]) -> Iterator[Stored]:
    """The records of a WARC file, decompressed.

    Raises:
        ValueError: Something other than a record stands where one should begin.
    """
    stream = _Bytes(chunks)
    while stream.held or stream.more():
        while (end := _END.search(stream.held)) is None and len(stream.held) < _HEADER_MOST and stream.more():
            pass
        if end is None or not stream.held.startswith(b"WARC/"):
            raise ValueError(f"no record begins with {stream.held[:20]!r}")
        header = stream.take(end.end())
        yield _rest(header, stream)


def _rest(header: bytes, stream: _Bytes) -> Stored:
    """A record of which the header was read."""
    length = re.search(rb"(?im)^content-length:[ \t]*(\d+)[ \t]*\r?$", header)
    if length is None:
        raise ValueError("a record has no Content-Length")
    left, hashed, held = int(length[1]), hashlib.sha256(header), []
    is_held = left <= _HELD_MOST
    while left and (stream.held or stream.more()):
        piece = stream.take(left)
        left -= len(piece)
        hashed.update(piece)
        if is_held:
            held.append(piece)
    if left:
        raise ValueError("a record breaks off")
    tail = b""
    while stream.held[:1] in (b"\r", b"\n") or (not stream.held and stream.more()):
        tail += stream.take(len(stream.held) - len(stream.held.lstrip(_BLANKS)))
    hashed.update(tail)
    return Stored(header, b"".join(held), tail, hashed.hexdigest())


def changes(
    source: Iterator[Stored],
    copy: Iterator[Stored],
    witnesses: Mapping[int, Lead | None],
    leads: Mapping[bytes, Sequence[Lead]],
) -> Iterator[Change]:
    """The places where a copy has something else than its source.

    Args:
        source: The records that were read.
        copy: Those that were written.
        witnesses: By the position of each removed document its witness, if that is in an archive, as it was read.
        leads: By record id all removed documents and witnesses, as they were read.
    """
    for position, (mine, other) in enumerate(zip_longest(source, copy)):
        if mine is None or other is None:
            yield Change(position, "it ends too early" if other is None else "it goes on after the last record")
            return
        if mine.digest == other.digest:
            continue
        lead = _lead_of(mine, other, witnesses[position], leads) if position in witnesses else None
        if lead is None:
            yield Change(position, "it is not what was read")
        else:
            yield Change(position, _problem(mine, other, lead), lead.place)


def _lead_of(mine: Stored, other: Stored, witness: Lead | None, leads: Mapping[bytes, Sequence[Lead]]) -> Lead | None:
    """What a revisit names, if that may be led to; else what it might name: the witness."""
    named = leads.get(other.fields.get(b"warc-refers-to", b""), ())
    if witness in named:
        return witness
    payload = hashlib.sha256(mine.pieces[1]).digest()
    return next((lead for lead in named if lead.payload == payload), witness or next(iter(named), None))


def _problem(mine: Stored, other: Stored, lead: Lead) -> str:
    fields, was, leads = other.fields, mine.fields, lead.fields
    http, payload = mine.pieces
    wanted = [
        (b"warc-type", b"revisit"),
        *((name, value) for name, value in mine.lines if name in _KEPT),
        (b"warc-profile", _PROFILE),
        (b"warc-refers-to", leads.get(b"warc-record-id", b"")),
        (b"warc-refers-to-target-uri", leads.get(b"warc-target-uri", b"")),
        (b"warc-refers-to-date", leads.get(b"warc-date", b"")),
        (b"warc-payload-digest", lead.payload_digest),
        (b"nearsame-original", fields.get(b"nearsame-original", b"")),
        (b"nearsame-original-digest", b"sha256:" + mine.digest.encode()),
        (b"content-type", b"application/http; msgtype=response"),
        (b"content-length", b"%d" % len(http)),
    ]
    if other.lines != wanted or not other.header.startswith(b"WARC/1.1\r\n"):
        pairs = zip_longest(wanted, other.lines, fillvalue=(b"", b""))
        (name, value), (other_name, other_value) = next(
            (pair for pair in pairs if pair[0] != pair[1]), (_VERSION, _VERSION)
        )
        shown = other_value.decode("utf-8", "replace") if other_name == name else "not there"
        return f"its {name.decode('utf-8', 'replace')} is {shown}, and should be {value.decode('utf-8', 'replace')}"
    if any(fields.get(b"warc-type", b"").lower() != b"response" for fields in (was, leads)):
        return "it replaces a record that is not a response, or refers to none"
    if not payload or hashlib.sha256(payload).digest() != lead.payload:
        return "what it leads to has another payload"
    if other.block != http or other.tail != b"\r\n\r\n":
        return "it has another HTTP header than the record that it stands for"
    return "" if _unpacked(fields.get(b"nearsame-original", b"")) == mine.header else "it cannot give its record back"


def _unpacked(encoded: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        header = inflating.decompress(base64.b64decode(encoded, validate=True), _HEADER_MOST)
    except (ValueError, zlib.error):
        return b""
    return header if inflating.eof and not inflating.unused_data else b""
