"""Web archives made by hand, record by record, so that a test knows every byte."""

import gzip

__all__ = ["PAGE", "gzipped", "html", "http", "record", "response"]

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


def record(block: bytes, *headers: str, kind: str = "response", number: int = 0, length: int | None = None) -> bytes:
    """A WARC record; `length` may be wrong."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012d}>",
        "WARC-Date: 2026-01-02T03:04:05Z",
        f"WARC-Target-URI: http://a.example/{number}",
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
