"""Requests that ask for another protocol: as HTTP allows, they are answered as if they had not asked.

1. Clients of HTTP/2 ask so with the first request of a connection, a body or not (Java's own, curl --http2).
2. httptools takes what follows such a request's headers for the other protocol. It is the request's body, and then
   other requests: a new parser reads it, which is told first where the body ends.
3. Of CONNECT there is no body: what follows it is for somebody else.
"""

from contextlib import suppress
from typing import Any

__all__ = ["Parser"]

_FRAMING = (b"content-length", b"transfer-encoding")


class Parser:
    """A parser of httptools, and another one behind each request for another protocol."""

    def __init__(self, protocol: Any, parser: Any) -> None:
        self._protocol = protocol
        self._parser = parser

    def __getattr__(self, name: str) -> Any:
        """What it says of the request that it is at."""
        return getattr(self._parser, name)

    @property
    def is_interrupted(self) -> bool:
        """Whether what it takes for the end of a request is that of its headers."""
        return bool(self._parser.should_upgrade()) and self._parser.get_method() != b"CONNECT"

    def feed_data(self, data: bytes) -> None:
        """Read on."""
        from httptools import HttpParserUpgrade  # noqa: PLC0415  (who has this parser has the package)

        while True:
            try:
                self._parser.feed_data(data)
            except HttpParserUpgrade as upgrade:
                if not self.is_interrupted:
                    raise
                data = data[upgrade.args[0] :]
                self._go_on()
            else:
                return

    def _go_on(self) -> None:
        """Take a parser that stands where this one stopped; without a body the request ends with that."""
        told, before = _Told(self._protocol), self._parser
        self._parser = type(before)(told)
        with suppress(AttributeError):
            self._parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has the first one
        lines = [b"POST / HTTP/%s" % before.get_http_version().encode()]
        lines += [b"%s: %s" % header for header in self._protocol.headers if header[0] in _FRAMING]
        lines += [b"connection: %s" % (b"keep-alive" if before.should_keep_alive() else b"close"), b"\r\n"]
        self._parser.feed_data(b"\r\n".join(lines))
        told.is_new = True


class _Told:
    """What a parser calls: of the request whose headers are known already, only its body and its end are passed on."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self.is_new = False
        self.on_body = protocol.on_body
        self.on_message_complete = protocol.on_message_complete

    def on_message_begin(self) -> None:
        """A request begins."""
        if self.is_new:
            self._protocol.on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Some of its address."""
        if self.is_new:
            self._protocol.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        if self.is_new:
            self._protocol.on_header(name, value)

    def on_headers_complete(self) -> None:
        """There are no more."""
        if self.is_new:
            self._protocol.on_headers_complete()
