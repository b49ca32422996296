"""An HTTP response as an archive holds it: status, headers, and the body without its encodings, as far as a bound.

1. No bytes raise. What contradicts its headers (a body that is not compressed, or not in chunks) is taken as it is.
2. Never more than `most` bytes of a body are made, whatever a compressed body would inflate to; `cut` says that there
   would have been more.
"""

import io
import re
import zlib
from typing import Any

from nearsame.named import NamedTuple

__all__ = ["Body", "Response", "charset_of", "inflated", "media_type", "response"]

_STATUS = re.compile(rb"HTTP/\d+(?:\.\d+)?\s+(\d{3})")
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_MOST_HEADERS = 64 << 10


class Body(NamedTuple):
    """Some bytes, and whether there would have been more."""

    data: bytes
    cut: bool = False


class Response(NamedTuple):
    """The answer of a web server: its header, and the body without its encodings."""

    status: int | None
    headers: dict[str, str]  # names in lower case; of repeated ones the first
    body: Body


def response(block: bytes, most: int) -> Response | None:
    r"""The response in a block, its body decoded and no longer than `most`; None if it is not an HTTP response.

    >>> response(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", 10).body
    Body(data=b'<p>', cut=False)
    """
    first = _STATUS.match(block)
    if first is None:
        return None
    end = _HEADERS_END.search(block, 0, _MOST_HEADERS)
    head = block[: end.start() if end else len(block)]
    headers = _fields(head)
    body = block[end.end() if end else len(block) :]
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    return Response(int(first[1]), headers, inflated(body, headers.get("content-encoding", ""), most))


def media_type(value: str) -> str:
    """The type without its parameters, in lower case.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return value.partition(";")[0].partition(",")[0].strip().lower()


def charset_of(value: str) -> str | None:
    """The charset parameter of a Content-Type.

    >>> charset_of('text/html; charset="ISO-8859-1"')
    'ISO-8859-1'
    """
    match = _CHARSET.search(value)
    return match[1] if match else None


def inflated(body: bytes, encodings: str, most: int) -> Body:
    """The body without its content encodings, no longer than `most`."""
    names = [name.strip() for name in encodings.lower().split(",") if name.strip() not in {"", "identity"}]
    cut = False
    for name in reversed(names):
        inner, more = _decoder(name)(body, most)
        if not inner and body:
            break  # it is not what it says, so it is taken as it is
        body, cut = inner, cut or more
    return Body(body[:most], cut or len(body) > most)


def _fields(head: bytes) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in head.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[1:]:
        if line[:1] in {" ", "\t"} and name:
            fields[name] += f" {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if colon and name not in fields:
            fields[name] = value.strip()
        else:
            name = ""
    return fields


def _unchunked(body: bytes) -> bytes:
    """The data of the chunks, up to the first that is none; the body itself if that is the very first."""
    pieces: list[bytes] = []
    at = 0
    while size := _CHUNK_SIZE.match(body, at):
        length = int(size[1], 16)
        pieces.append(body[size.end() : size.end() + length])
        at = size.end() + length
        if body.startswith(b"\r\n", at):
            at += 2
        elif body.startswith(b"\n", at):
            at += 1
        if not length:
            break
    return b"".join(pieces) if at else body


def _decoder(name: str) -> Any:
    match name:
        case "gzip" | "x-gzip":
            return lambda body, most: _inflate(body, most, 31)
        case "deflate":  # with its header, or as some servers send it without
            return lambda body, most: _inflate(body, most, 15) if _has_zlib_header(body) else _inflate(body, most, -15)
        case "br":
            return lambda body, most: _by_reader("BrotliReader", body, most)
        case "zstd":
            return lambda body, most: _by_reader("ZstdReader", body, most)
        case _:
            return lambda body, _: (body, False)


def _has_zlib_header(body: bytes) -> bool:
    return len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0  # RFC 1950


def _inflate(body: bytes, most: int, wbits: int) -> tuple[bytes, bool]:
    """All members; what comes before a break is kept."""
    plain = bytearray()
    while body and len(plain) <= most:
        decoder = zlib.decompressobj(wbits)
        try:
            plain += decoder.decompress(body, most + 1 - len(plain))
        except zlib.error:
            break
        body = decoder.unused_data
    return bytes(plain[:most]), len(plain) > most


def _by_reader(name: str, body: bytes, most: int) -> tuple[bytes, bool]:
    import fastwarc.stream_io  # noqa: PLC0415  (an optional package)

    plain = bytearray()
    try:
        reader = getattr(fastwarc.stream_io, name)(io.BytesIO(body))
        while len(plain) <= most and (piece := reader.read(min(most + 1 - len(plain), 1 << 20))):
            plain += piece
    except (OSError, ValueError, EOFError):
        pass  # what comes before a break is kept
    return bytes(plain[:most]), len(plain) > most
