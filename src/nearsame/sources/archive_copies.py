"""Archives without some of their records: what goes with these, and how the others' bytes are copied.

1. What was written for a removed record, and for no other that stays, goes with it: the link may stand on either side.
2. Bytes of records that stay are copied as they are, and so is every compressed member without a removed record.
3. The records that are copied are those that were read: where a second reading finds others, nothing is written.
"""

import bisect
import contextlib
import gzip
import itertools
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.files.compressions import Compression
from nearsame.named import NamedTuple
from nearsame.sources.archives import DAMAGE, Archived, walk
from nearsame.sources.members import STARTS, ArchiveForm, Member, first_bytes, mapped, members, packing
from nearsame.sources.streams import sink

__all__ = ["ASIDE", "RecordPlace", "are_apart", "copy_without", "places_of", "pour", "stored_spans", "with_companions"]

_CHUNK = 4 << 20
ASIDE = frozenset({"request", "metadata"})  # what stands for nothing but what it was written for

Span = tuple[int, int]


class RecordPlace(NamedTuple):
    """What a copy needs to know of a record."""

    offset: int
    kind: str
    id: str
    target: tuple[str, str]  # URL and date
    concurrent: tuple[str, ...]  # ids of what was written at the same time
    refers_to: str
    refers_to_target: tuple[str, str]


def places_of(path: str, form: ArchiveForm) -> list[RecordPlace]:
    """The places of all records."""
    return [_place(record) for record in walk(path, form, 1)]


def _place(record: Archived) -> RecordPlace:
    headers = record.headers
    target = (headers.get("warc-target-uri", ""), headers.get("warc-date", ""))
    origin = (headers.get("warc-refers-to-target-uri", ""), headers.get("warc-refers-to-date", ""))
    concurrent = tuple(headers.get("warc-concurrent-to", "").split())
    own, refers_to = (headers.get(name, "") for name in ("warc-record-id", "warc-refers-to"))
    return RecordPlace(record.offset, record.kind, own, target, concurrent, refers_to, origin)


def with_companions(
    places: Sequence[RecordPlace], removed: npt.NDArray[np.int64], *, of_revisits: bool = True
) -> set[int]:
    """The positions that go: those that are removed, and what means nothing without them.

    Args:
        places: Of all records.
        removed: Positions.
        of_revisits: Whether the revisits of what is removed go, too: not where they are documents, decided about.
    """
    gone = {position for position in removed.tolist() if position < len(places)}
    lost = [places[position] for position in gone if places[position].kind != DAMAGE]
    ids, targets = {place.id for place in lost} - {""}, {place.target for place in lost} - {("", "")}
    for position, place in enumerate(places):
        if of_revisits and place.kind == "revisit" and (place.refers_to in ids or place.refers_to_target in targets):
            gone.add(position)
    return gone | _companions(places, gone)


def _companions(places: Sequence[RecordPlace], gone: set[int]) -> set[int]:
    """Requests and metadata that are linked with what goes, if only through one another, and nothing that stays."""
    links = _links(places)
    pages = {position for position, place in enumerate(places) if place.kind not in {*ASIDE, "warcinfo", DAMAGE}}
    return _reached(links, places, gone & pages) - _reached(links, places, pages - gone)


def _links(places: Sequence[RecordPlace]) -> Mapping[int, set[int]]:
    """Which records are linked, by the words of either."""
    named: dict[str, list[int]] = {}
    for position, place in enumerate(places):
        named.setdefault(place.id, []).append(position)
    links: dict[int, set[int]] = {}
    for position, place in enumerate(places):
        words = {*place.concurrent, place.refers_to if place.kind == "metadata" else ""} - {""}
        for other in itertools.chain.from_iterable(named.get(word, ()) for word in words):
            links.setdefault(position, set()).add(other)
            links.setdefault(other, set()).add(position)
    return links


def _reached(links: Mapping[int, set[int]], places: Sequence[RecordPlace], start: set[int]) -> set[int]:
    """Requests and metadata to which links lead, over no other record."""
    companions: set[int] = set()
    waiting = list(start)
    while waiting:
        for other in links.get(waiting.pop(), ()):
            if other not in companions and places[other].kind in ASIDE:
                companions.add(other)
                waiting.append(other)
    return companions


def copy_without(  # noqa: PLR0913, PLR0917  (what is copied, without what, whereto, how it is packed)
    path: str,
    source: tuple[str, ArchiveForm],
    places: Sequence[RecordPlace],
    gone: set[int],
    target: Path,
    compression: Compression | None,
) -> None:
    """Write the records that stay.

    Args:
        path: Where the file is.
        source: What it is called, and its form.
        places: Of its records.
        gone: Positions of those that go.
        target: Where to write.
        compression: What the copy is compressed by as a whole; None: it is as the file is.

    Raises:
        SourceError: A second reading finds other records.
    """
    with mapped(path) as data:
        packed = packing(data, source[1])
        if packed is not None and not are_apart(data, packed, source[1], places):
            _copy_shared(data, packed, source, places, gone, target)
            return
        with sink(target, compression) as out:
            for start, end in _staying([place.offset for place in places], len(data), gone):
                pour(data, start, end, out)


def stored_spans(path: str, form: ArchiveForm, places: Sequence[RecordPlace]) -> list[Span | None]:
    """Where an index has each record: its bytes, or all of the compressed member that it shares with others.

    None: where members are damaged, a second reading may not find it.
    """
    with mapped(path) as data:
        packed = packing(data, form)
        if packed != "gzip" or are_apart(data, packed, form, places):
            return list(itertools.pairwise([*(place.offset for place in places), len(data)]))
        with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
            cut = members(data, form, spool)
            spool.flush()
            again: dict[RecordPlace, deque[int]] = {}
            for place in places_of(spool.name, form):
                again.setdefault(place._replace(offset=0), deque()).append(place.offset)
        starts = [member.data_start for member in cut]

        def span(place: RecordPlace) -> Span | None:
            found = again.get(place._replace(offset=0))
            if not found:
                return None
            member = cut[bisect.bisect_right(starts, found.popleft()) - 1]
            return member.start, member.end

        return list(map(span, places))


def are_apart(data: Any, packed: Compression, form: ArchiveForm, places: Sequence[RecordPlace]) -> bool:
    """Whether each record begins a member of its own: only then can members be copied one by one."""
    if any(a.offset >= b.offset for a, b in itertools.pairwise(places)):
        return False
    heads = (first_bytes(data, packed, place.offset) for place in places if place.kind != DAMAGE)
    return all(STARTS[form].match(head.lstrip(b"\r\n")) for head in heads)


def _staying(offsets: Sequence[int], size: int, gone: set[int]) -> list[Span]:
    """The stretches of a file that stay, as few as can be; what comes before the first record belongs to it."""
    spans: list[Span] = []
    for position, (start, end) in enumerate(itertools.pairwise([0, *offsets[1:], size])):
        if position not in gone:
            joined = bool(spans) and spans[-1][1] == start
            spans.append((spans.pop()[0] if joined else start, end))
    return spans


def pour(data: Any, start: int, end: int, out: Any) -> None:
    """Write what stands between two places."""
    for at in range(start, end, _CHUNK):
        out.write(data[at : min(at + _CHUNK, end)])


def _copy_shared(  # noqa: PLR0913, PLR0917  (as above)
    data: Any,
    packed: Compression,
    source: tuple[str, ArchiveForm],
    places: Sequence[RecordPlace],
    gone: set[int],
    target: Path,
) -> None:
    """The same where members hold several records, or pieces of them: by a decompressed copy."""
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        cut = members(data, source[1], spool) if packed == "gzip" else _inflate(data, packed, spool)
        spool.flush()
        again = places_of(spool.name, source[1])
        damaged = {position for position in gone if places[position].kind == DAMAGE}
        if not _are_same(places, again, gone - damaged):
            message = (
                f"{source[0]} is damaged where several records share a compressed member, so no record can be left out"
            )
            raise SourceError(message, hint="Compress it again, each record by itself, and run again.")
        with mapped(spool.name) as plain:
            if damaged:
                gone = gone - damaged | {position for position, place in enumerate(again) if place.kind == DAMAGE}
            spans = _staying([place.offset for place in again], len(plain), gone)
            if packed == "gzip":
                torn = {member.start for member in cut if member.is_broken and damaged}
                _copy_members((data, plain), cut, spans, target, anew=torn)
                return
            with sink(target, packed) as out:
                for start, end in spans:
                    pour(plain, start, end, out)


def _are_same(places: Sequence[RecordPlace], again: Sequence[RecordPlace], gone: set[int]) -> bool:
    """Whether a second reading has found the records that go, and the same ones before; of damage it may tell more."""
    last = max(gone, default=-1)
    pairs = enumerate(zip(places[: last + 1], again, strict=False))
    return last < len(again) and all(
        a[1:] == b[1:] or (position not in gone and DAMAGE in {a.kind, b.kind}) for position, (a, b) in pairs
    )


def _inflate(data: Any, packed: Compression, spool: Any) -> list[Member]:
    """What can be decompressed; nothing is known of members."""
    with (
        contextlib.suppress(OSError, pa.ArrowException),
        pa.CompressedInputStream(pa.BufferReader(memoryview(data)), packed) as stream,
    ):
        while piece := stream.read(_CHUNK):
            spool.write(piece)
    return []


def _copy_members(
    data: tuple[Any, Any], cut: Sequence[Member], spans: Sequence[Span], target: Path, *, anew: AbstractSet[int]
) -> None:
    """Members as they are, and of those that hold what goes (or begin at `anew`) the rest, as one member again."""
    stored, plain = data
    with sink(target, None) as out:
        for member in cut:
            rest = list(_within(spans, member.data_start, member.data_end))
            whole = rest == [(member.data_start, member.data_end)] or member.data_start == member.data_end
            if whole and member.start not in anew:
                pour(stored, member.start, member.end, out)
            elif rest:
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as packed:
                    for start, end in rest:
                        pour(plain, start, end, packed)


def _within(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The parts of the spans between two places."""
    first = bisect.bisect_right(spans, start, key=lambda span: span[1])
    for a, b in itertools.takewhile(lambda span: span[0] < end, itertools.islice(spans, first, None)):
        yield max(a, start), min(b, end)
