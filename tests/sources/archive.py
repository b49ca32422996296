"""Web archives made by hand, record by record, so that a test knows every byte."""

import gzip
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping

from nearsame import surt

__all__ = ["PAGE", "gzipped", "html", "http", "record", "response", "wacz"]

PAGE = "A rose is a rose is a rose, and a daisy is another flower that grows in the meadow number {}."


def html(text: str, title: str = "Roses") -> bytes:
    """A page with navigation, a script and one paragraph."""
    nav = "<nav><ul><li><a href=/>Home</a></li><li><a href=/about>About us</a></li></ul></nav>"
    body = f"{nav}<main><article><p>{text}</p></article></main><script>var advertisement = 1;</script>"
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>".encode()


def http(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> bytes:
    """An HTTP response."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def record(
    block: bytes,
    *headers: str,
    kind: str = "response",
    number: int = 0,
    length: int | None = None,
    url: str | None = None,
) -> bytes:
    """A WARC record; `length` may be wrong."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012d}>",
        "WARC-Date: 2026-01-02T03:04:05Z",
        f"WARC-Target-URI: {url or f'http://a.example/{number}'}",
        f"Content-Length: {len(block) if length is None else length}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(number: int, text: str | None = None, *headers: str) -> bytes:
    """The record of a page with a text."""
    return record(http(html(text or PAGE.format(number))), *headers, number=number)


def gzipped(*records: bytes) -> bytes:
    """Each record in a member of its own."""
    return b"".join(gzip.compress(each, mtime=0) for each in records)


def wacz(
    archives: Mapping[str, bytes], *, zipnum: bool = True, more: Mapping[str, bytes] | None = None, packed: bool = False
) -> bytes:
    """A WACZ of gzip archives with a record in each member: its index, its pages, and the digests of all."""
    lines, pages = [], [b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n']
    for name, data in archives.items():
        for offset, length, url, digest in _members(data):
            told = {"url": url, "mime": "text/html", "status": "200", "digest": digest}
            told |= {"length": str(length), "offset": str(offset), "filename": name}
            lines.append(f"{surt(url)} 20260102030405 {json.dumps(told)}\n".encode())
            pages.append(json.dumps({"id": str(offset), "url": url, "ts": "2026-01-02T03:04:05Z"}).encode() + b"\n")
    lines.sort()
    files = {f"archive/{name}": data for name, data in archives.items()}
    if zipnum:
        block = gzip.compress(b"".join(lines), mtime=0)
        key = lines[0].partition(b" {")[0].decode() if lines else ""
        told = {"offset": 0, "length": len(block), "digest": _sha256(block), "filename": "index.cdx.gz"}
        meta = json.dumps({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})
        files["indexes/index.idx"] = f"!meta 0 {meta}\n{key} {json.dumps(told)}\n".encode()
        files["indexes/index.cdx.gz"] = block
    else:
        files["indexes/index.cdxj"] = b"".join(lines)
    files |= {"pages/pages.jsonl": b"".join(pages), **(more or {})}
    resources = [
        {"name": path.rpartition("/")[2], "path": path, "hash": _sha256(data), "bytes": len(data)}
        for path, data in files.items()
    ]
    package = json.dumps({"profile": "data-package", "wacz_version": "1.1.1", "resources": resources}).encode()
    signed = {"path": "datapackage.json", "hash": _sha256(package), "signedData": {"signature": "of this"}}
    files |= {"datapackage.json": package, "datapackage-digest.json": json.dumps(signed).encode()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as made:
        for path, data in files.items():
            made.writestr(zipfile.ZipInfo(path), data, made.compression)
    return out.getvalue()


def _members(data: bytes) -> Iterator[tuple[int, int, str, str]]:
    """Offset, length, URL and digest of each response, a gzip member by itself."""
    at = 0
    while at < len(data):
        decoder = zlib.decompressobj(31)
        plain = decoder.decompress(data[at:])
        length = len(data) - at - len(decoder.unused_data)
        head, _, block = plain.partition(b"\r\n\r\n")
        if b"WARC-Type: response" in head:
            url = next(line[17:] for line in head.split(b"\r\n") if line.startswith(b"WARC-Target-URI: "))
            payload = block.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
            yield at, length, url.decode(), f"sha-256:{hashlib.sha256(payload).hexdigest()}"
        at += length


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
