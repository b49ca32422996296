"""Revisit records: responses whose payload another one has too, byte for byte; and the way back.

1. Only what can be given back becomes a revisit: a whole record of at most MAX_RECORD bytes, to which no revisit of the
   source leads, if a response with the same bytes and encodings stays: its witness, or another removed one.
2. A revisit keeps the id, the URL and the date of the record, so whatever names it still finds it.
3. The header that the record had stands, packed, in a field of the revisit, with the digest of the whole record.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.named import NamedTuple
from nearsame.sources.base import Annotations, Part
from nearsame.sources.members import WARC
from nearsame.sources.payload_digests import comparable

__all__ = [
    "ORIGINAL",
    "ORIGINAL_DIGEST",
    "Origin",
    "Responses",
    "Revisiting",
    "given_back",
    "led_to",
    "origin_of",
    "require_archives",
    "revisit",
    "with_revisits",
]

PROFILE = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
ORIGINAL, ORIGINAL_DIGEST = "nearsame-original", "nearsame-original-digest"

_END = b"\r\n\r\n"
_VERSION = re.compile(rb"WARC/(?:0\.1[78]|1\.[01])")  # drafts before 1.0 are what archives of 2008 and 2009 are in
_DATE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")
_FIELD = re.compile(rb"([!-9;-~]+):(.*)")
_KEPT = (
    b"warc-record-id",
    b"warc-date",
    b"warc-target-uri",
    b"warc-concurrent-to",
    b"warc-ip-address",
    b"warc-warcinfo-id",
)
_SECONDS = len("2024-01-01T00:00:00")
_NEVER = {b"warc-segment-number", b"warc-truncated"}  # what says that a record is not all of it
_HEADER_MOST = 64 << 10


class Origin(NamedTuple):
    """What a revisit says of a response that stays, and what says whether another has the same payload."""

    id: bytes
    url: bytes
    date: bytes
    digest: bytes  # of the payload, as the record says it or by SHA-1
    is_told: bool  # by the record
    payload: bytes  # SHA-256
    codings: tuple[bytes, ...]  # what the bytes have to be decoded by


class Responses(NamedTuple):
    """What an archive says of some of its responses, and of the revisits in it."""

    origins: dict[int, Origin]  # by position
    is_whole: bool  # its records can be taken one by one; else none is an origin
    ids: set[str]  # to which revisits lead
    targets: set[tuple[str, str]]  # likewise: URLs, with their seconds


class _Response(NamedTuple):
    header: bytes  # with the empty line behind it, as the HTTP header
    fields: list[tuple[bytes, bytes]]  # names in lower case
    http: bytes
    payload: bytes


def _parsed(raw: bytes) -> _Response | None:
    """The pieces of a response record; None if it is anything else, or not whole."""
    header, end, rest = raw.partition(_END)
    first, *lines = header.split(b"\r\n")
    matches = [_FIELD.fullmatch(line) for line in lines]
    if not end or not _VERSION.fullmatch(first) or len(header) > _HEADER_MOST or None in matches:
        return None
    fields = [(match[1].lower(), match[2].strip(b" \t")) for match in matches if match]
    headers = dict(fields)
    if headers.get(b"warc-type", b"").lower() != b"response" or not _NEVER.isdisjoint(headers):
        return None
    if (
        not headers.get(b"content-type", b"application/http").lower().startswith(b"application/http")
        or not headers.get(b"content-length", b"").isdigit()
    ):
        return None
    length = int(headers[b"content-length"])
    block = rest[:length]
    http, split, payload = block.partition(_END)
    if rest[length:] != _END or len(block) < length or not block.startswith(b"HTTP/") or not split or not payload:
        return None
    return _Response(header + _END, fields, http + split, payload)


def origin_of(raw: bytes) -> Origin | None:
    """What is to be known of a record; None: it cannot be a revisit, nor what a revisit leads to."""
    response = _parsed(raw)
    if response is None:
        return None
    headers = dict(response.fields)
    names = [headers.get(name, b"") for name in (b"warc-record-id", b"warc-target-uri", b"warc-date")]
    once = all(sum(name == key for name, _ in response.fields) == 1 for key in (*_KEPT[:3], b"content-length"))
    if not once or not all(names) or not _DATE.fullmatch(names[2]):
        return None
    own = headers.get(b"warc-payload-digest", b"")
    sha1 = b"sha1:" + base64.b32encode(hashlib.sha1(response.payload, usedforsecurity=False).digest())
    http = [line.partition(b":") for line in response.http.split(b"\r\n")[1:]]
    wanted = (b"transfer-encoding", b"content-encoding")
    codings = tuple(value.strip().lower() for name, _, value in http if name.strip().lower() in wanted)
    return Origin(
        names[0], names[1], names[2], own or sha1, bool(own), hashlib.sha256(response.payload).digest(), codings
    )


def _are_equal(one: Origin, other: Origin) -> bool:
    """Whether one record may stand for the payload of another: by its bytes, and by what both records say of them."""
    digests = {comparable(response.digest.decode("latin-1")) for response in (one, other) if response.is_told}
    return one.payload == other.payload and one.codings == other.codings and len(digests) < 2 and one.id != other.id


def led_to(own: str, url: str, date: str) -> tuple[str, str]:
    """Where a revisit leads to, as replay finds it: a URL and a second, or what was seen there at any time.

    Args:
        own: The revisit's URL.
        url: The one that it names; it may name none, and mean its own.
        date: When that was seen, if it says so.
    """
    bare = (url or own).partition("://")[2] or url or own  # https and http are one place to who replays
    return bare, date[:_SECONDS] if url and date else ""


def _target_of(one: Origin) -> tuple[str, str]:
    url, date = one.url.decode("latin-1"), one.date.decode("latin-1")
    return led_to(url, url, date)


class _Leads:
    """The responses that stay, by what they hold: revisits lead to them."""

    def __init__(self) -> None:
        self._of: dict[tuple[bytes, tuple[bytes, ...]], list[Origin]] = {}

    def add(self, origin: Origin | None) -> None:
        """A response that stays; None: no response, or one that revisits cannot lead to."""
        if origin is not None:
            self._of.setdefault((origin.payload, origin.codings), []).append(origin)

    def of(self, one: Origin, witness: Origin | None) -> Origin | None:
        """What may stand for the payload of a response: its witness, or else the first that may."""
        others = self._of.get((one.payload, one.codings), [])
        return next((lead for lead in (witness, *others) if lead is not None and _are_equal(one, lead)), None)


def revisit(raw: bytes, origin: Origin) -> bytes:
    """The revisit of a response, in place of its record."""
    response = _parsed(raw)
    if response is None:
        raise ValueError("no response can be read here any more")
    lines = [b"WARC/1.1", b"WARC-Type: revisit"]
    spelt = (line.partition(b":") for line in response.header.split(b"\r\n")[1:])
    lines += [name + b":" + value for name, _, value in spelt if name.lower() in _KEPT]
    lines += [
        b"WARC-Profile: " + PROFILE,
        b"WARC-Refers-To: " + origin.id,
        b"WARC-Refers-To-Target-URI: " + origin.url,
        b"WARC-Refers-To-Date: " + origin.date,
        b"WARC-Payload-Digest: " + origin.digest,
        b"Nearsame-Original: " + base64.b64encode(zlib.compress(response.header, 9)),
        b"Nearsame-Original-Digest: sha256:" + hashlib.sha256(raw).hexdigest().encode(),
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: %d" % len(response.http),
    ]
    return b"\r\n".join(lines) + _END + response.http + _END


def given_back(raw: bytes, headers: Mapping[str, str], origins: Iterable[bytes]) -> bytes | None:
    """The record that a revisit stands for, with the payload of one of the records; None: none has made it."""
    try:
        packed = base64.b64decode(headers[ORIGINAL], validate=True)
        inflating = zlib.decompressobj()
        header = inflating.decompress(packed, _HEADER_MOST + 8)
    except (ValueError, zlib.error):
        return None
    http = raw.partition(_END)[2].removesuffix(_END)
    for record in origins:
        origin = _parsed(record)
        if origin is not None:
            made = header + http + origin.payload + _END
            if f"sha256:{hashlib.sha256(made).hexdigest()}" == headers[ORIGINAL_DIGEST]:
                return made
    return None


@dataclass(frozen=True)
class Revisiting:
    """A part that is copied with revisits in place of some responses."""

    part: Any
    origins: Mapping[int, Origin] = field(default_factory=dict)
    is_whole: bool = True  # its records can be taken one by one, as far as that matters

    copied_last: ClassVar[bool] = True  # as archives are

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.part.name)

    @property
    def target(self) -> str:
        """Its path below kept/."""
        return str(self.part.target)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write it; where there are revisits, with all records."""
        if not self.origins:
            self.part.copy(target, removed, annotations, drop_unread=drop_unread)
            return
        made = {position: partial(revisit, origin=origin) for position, origin in self.origins.items()}
        places = self.part.copy_with(target, made)
        if annotations is not None:
            self.part.annotate(target, places, set(), annotations)


def require_archives(parts: Sequence[Part]) -> None:
    """Refuse what has no revisit records.

    Raises:
        ConfigError: A part is not a WARC file.
    """
    for part in parts:
        if part.format != "warc" or getattr(part, "form", None) != WARC:
            what = "an ARC file" if part.format == "warc" else f"of format {part.format}"
            message = f"revisits (--revisits) are records of WARC files, and {part.name} is {what}"
            raise ConfigError(message, hint="Leave revisits out, or name only .warc files.")


def with_revisits(
    parts: Sequence[Any], removed: Sequence[tuple[int, int]], witnesses: Sequence[tuple[int, int]]
) -> list[Revisiting]:
    """The parts, to be copied with revisits in place of those removed responses that equal their witnesses.

    Args:
        parts: WARC files.
        removed: The part and the position of each removed document.
        witnesses: Those of its witness; a negative part is one of the other side, of which no copy is written.
    """
    wanted: dict[int, set[int]] = {}
    for number, position in (*removed, *witnesses):
        wanted.setdefault(number, set()).add(position)
    known = [part.responses(frozenset(wanted.get(number, ()))) for number, part in enumerate(parts)]
    ids = set[str]().union(*(responses.ids for responses in known))
    targets = set[tuple[str, str]]().union(*(responses.targets for responses in known))
    seen = {_target_of(origin) for responses in known for origin in responses.origins.values()}
    targets = {target if target in seen else (target[0], "") for target in targets}  # as for any second of that URL
    leads = _Leads()
    for number, at in sorted(set(witnesses)):
        leads.add(known[number].origins.get(at) if number >= 0 else None)
    origins: dict[int, dict[int, Origin]] = {}
    for (number, position), (other, at) in sorted(zip(removed, witnesses, strict=True)):
        one = known[number].origins.get(position)
        if one is None:
            continue
        witness = known[other].origins.get(at) if other >= 0 else None
        origin = leads.of(one, witness)
        target = _target_of(one)
        is_led_to = one.id.decode("latin-1") in ids or not targets.isdisjoint({target, (target[0], "")})
        if origin is None or is_led_to:
            leads.add(one)
        else:
            origins.setdefault(number, {})[position] = origin
    gone = {number for number, _ in removed}
    return [
        Revisiting(part, origins.get(number, {}), is_whole=responses.is_whole or number not in gone)
        for number, (part, responses) in enumerate(zip(parts, known, strict=True))
    ]
