"""More keys in lines of JSON, before their closing brace: all else stays byte for byte."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from nearsame.sources.jsonvalues import json_object
from nearsame.sources.tables import ANNOTATIONS

__all__ = ["annotate_line", "extend_lines", "keys_among"]

_BLANKS = b" \t\r\n"


def annotate_line(line: bytes, values: tuple[Any, ...]) -> bytes:
    """A line with the three keys before its closing brace; a line that is not an object as it is."""
    if values[2] is None and isinstance(json_object(line), str):
        return line
    return _extended(line, dict(zip(ANNOTATIONS.names, values, strict=True)))


def extend_lines(pieces: Iterable[Any], more: Mapping[str, Any]) -> Iterator[bytes]:
    """Lines with more keys, unless they have them; what is not an object stays as it is."""
    for line in _lines(pieces):
        record = json_object(line) if line.strip(_BLANKS) else ""
        lacking = {} if isinstance(record, str) else {name: more[name] for name in more if name not in record}
        yield (_extended(line, lacking) if lacking else line) + b"\n" * bool(line)


def keys_among(pieces: Iterable[Any], names: Iterable[str]) -> set[str]:
    """Those of some names that any line has as a key."""
    left, found = set(names), set[str]()
    for line in _lines(pieces):
        if b"\\u" in line or any(name.encode() in line for name in left):
            record = json_object(line)
            found |= set() if isinstance(record, str) else left & record.keys()
            left -= found
        if not left:
            break
    return found


def _lines(pieces: Iterable[Any]) -> Iterator[bytes]:
    """Lines without their ends."""
    rest = b""
    for piece in itertools.chain(pieces, [b"\n"]):
        *lines, rest = (rest + bytes(piece)).split(b"\n")
        yield from lines


def _extended(line: bytes, more: Mapping[str, Any]) -> bytes:
    head, brace, tail = line.rpartition(b"}")
    comma = b"" if head.rstrip(_BLANKS) == b"{" else b","
    return head + comma + orjson.dumps(more)[1:-1] + brace + tail
