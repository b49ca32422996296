"""The bounds of a request, kept before anything else sees it: bytes, seconds, and bytes of all requests together.

1. A body that says it is too large is refused before it is read; one that does not say, as soon as it is.
2. What of a refused body is still on its way is thrown away by the server, so that the client can read the answer.
3. The bytes of all requests that are being dealt with are bounded together: memory is, too. Streams, which may be quiet
   for as long as they like, leave a part of it to others.
4. One clock runs from a request's first line to its answer; of a stream of lines, for each group (streaming.py).
5. A connection beyond those that there may be is answered where it asks for health, and nowhere else.
6. What would be taken for something else is refused: a body that is compressed, or another number of bytes than it
   says, a length beyond all numbers, an address that is not UTF-8.
"""

import asyncio
import time
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem, busy
from nearsame.service.settings import Settings

__all__ = ["NDJSON", "Limits", "seconds_left"]

NDJSON = "application/x-ndjson"

_PARTS = 4  # of the memory, of which streams leave one to others
_DIGITS = 20  # of a length; h11 takes no more
_HEALTH = {"/healthz", "/readyz"}


class Limits:
    """The layer that gives each request its deadline, and bounds the bodies that are held at a time."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._held = self._streamed = 0  # the second by streams alone
        metrics.held.set_function(lambda: self._held)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, its body watched."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["deadline"] = time.monotonic() + self._settings.timeout
        if state.get("only_health") and scope["path"].removeprefix(scope.get("root_path", "")) not in _HEALTH:
            detail = "there are too many connections"
            raise HttpProblem(503, "connections", detail, headers={"Retry-After": "1", "Connection": "close"})
        _require_readable(scope)
        body = _Body(self, scope, receive)
        try:
            body.declare()
            await self._app(scope, body.receive, send)
        finally:
            self._held -= body.held
            self._streamed -= body.held if body.is_stream else 0

    @property
    def max_body(self) -> int:
        """Bytes of a body, at most."""
        return self._settings.max_body

    def require(self, num_bytes: int) -> None:
        """Refuse a body of so many bytes if that is too large."""
        if num_bytes > self._settings.max_body:
            detail = f"the request has more than {self._settings.max_body:,} bytes"
            raise HttpProblem(413, "too-large", detail, hint="Send fewer documents at once.")

    def hold(self, num_bytes: int, *, is_stream: bool) -> None:
        """Take so many more bytes on, or refuse to."""
        all_of_it = max(self._settings.memory, self._settings.max_body)
        for_streams = max(self._settings.memory * (_PARTS - 1) // _PARTS, self._settings.max_body)
        fits = self._held + num_bytes <= all_of_it
        if is_stream:
            fits = fits and self._streamed + num_bytes <= for_streams
        if not fits:
            raise busy(f"requests under way may take {self._held:,} bytes")
        self._held += num_bytes
        self._streamed += num_bytes if is_stream else 0


def _require_readable(scope: Scope) -> None:
    """Refuse a body that is not sent as it is, and an address of which two could be read alike."""
    encoding = Headers(scope=scope).get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        detail, hint = "a body is sent as it is, without Content-Encoding", "Send it without compression."
        raise HttpProblem(415, "media-type", detail, hint=hint, headers={"Accept-Encoding": "identity"})
    query = scope["query_string"]
    try:
        plain = (scope.get("raw_path") or b"").isascii() and query.isascii()
        unquote_to_bytes(query).decode()
    except UnicodeDecodeError:
        plain = False
    if not plain:
        detail, hint = "the address is not UTF-8 in percent-encoding", "Percent-encode the UTF-8 bytes of each value."
        raise HttpProblem(422, "invalid", detail, hint=hint)


class _Body:
    """One request's body on its way in."""

    def __init__(self, limits: Limits, scope: Scope, receive: Receive) -> None:
        headers = Headers(scope=scope)
        self.is_stream = headers.get("content-type", "").partition(";")[0].strip().lower() == NDJSON
        self._limits = limits
        self._scope = scope
        self._receive = receive
        self._declared = _length(headers.get("content-length", ""))
        self._arrived = 0
        self._complete = False
        self.held = 0

    def declare(self) -> None:
        """Refuse at once what says that it is too large; lines count as one of the largest bodies, however many."""
        if self.is_stream:
            self._hold(self._limits.max_body)
        elif self._declared is not None:
            self._limits.require(self._declared)
            self._hold(self._declared)

    async def receive(self) -> Message:
        """The next message, counted; behind the last one a disconnection is waited for, as long as it takes."""
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(seconds_left(self._scope)):
                message = await self._receive()
        except TimeoutError:
            raise HttpProblem(408, "slow", "the request did not arrive in time", hint="Send less at once.") from None
        self._arrived += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._complete and message["type"] == "http.request" and self._declared not in (None, self._arrived):
            detail = f"the body has {self._arrived:,} bytes, not {self._declared:,} as its Content-Length says"
            raise HttpProblem(422, "invalid", detail, hint="Send it again.")
        if self._declared is None and not self.is_stream:
            self._limits.require(self._arrived)
            self._hold(self._arrived - self.held)
        return message

    def _hold(self, num_bytes: int) -> None:
        self._limits.hold(num_bytes, is_stream=self.is_stream)
        self.held += num_bytes


def _length(given: str) -> int | None:
    """How many bytes a body says that it has."""
    if not given.isdecimal():
        return None
    if len(given) > _DIGITS:
        detail = f"the Content-Length has {len(given):,} digits, more than {_DIGITS}"
        raise HttpProblem(422, "invalid", detail, hint="Write it without leading zeros.")
    return int(given)


def seconds_left(scope: Scope) -> float:
    """Until the request should have been answered."""
    deadline: float = scope["state"]["deadline"]
    return max(0.001, deadline - time.monotonic())
