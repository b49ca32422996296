"""Around everything: a number for each request, a line in the log, the counters, and the headers of every answer.

1. No request ends without an answer in our own shape, and none without a line.
2. Every answer forbids what our pages don't do: scripts, frames, content from elsewhere, guessing of types, caching.
"""

import random
import re
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearsame.service import problems
from nearsame.service.logs import Log
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem

__all__ = ["POLICY", "RequestWatch"]

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

Answer = Callable[[Scope, HttpProblem, str], Response]


class RequestWatch:
    """The outermost layer: it logs and counts each request, and answers what nothing inside has caught."""

    def __init__(self, app: ASGIApp, log: Log, metrics: Metrics, answer: Answer) -> None:
        self._app = app
        self._log = log
        self._metrics = metrics
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and see how it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _Seen(scope, receive, send)
        try:
            await self._app(scope, seen.receive, seen.send)
        except HttpProblem as problem:
            await self._fail(seen, problem)
        except Exception as error:  # noqa: BLE001  (no request ends without an answer)
            if isinstance(error.__cause__, HttpProblem):  # of an answer that had begun, and breaks off here
                scope["state"]["problem"] = error.__cause__.code
                return
            self._log.failure("unexpected", error, request_id=seen.request_id)
            await self._fail(seen, problems.unexpected())
        finally:
            self._note(seen)

    async def _fail(self, seen: "_Seen", problem: HttpProblem) -> None:
        if seen.status is None:
            seen.scope["state"]["problem"] = problem.code
            await self._answer(seen.scope, problem, seen.request_id)(seen.scope, seen.receive, seen.send)

    def _note(self, seen: "_Seen") -> None:
        scope, seconds = seen.scope, time.perf_counter() - seen.began
        route = getattr(scope.get("route"), "path", "") or "unmatched"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        status = seen.status or 499  # the client has gone
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        code = scope["state"].get("problem")
        if code:
            self._metrics.refused.labels(code).inc()
        if self._log.requests:
            holder, client = scope["state"].get("holder"), scope.get("client")
            self._log.event(
                "request",
                request_id=seen.request_id,
                method=method,
                route=route,
                status=status,
                ms=round(seconds * 1000, 2),
                bytes_in=seen.bytes_in,
                bytes_out=seen.bytes_out,
                client=client[0] if client else None,
                **({"holder": holder} if holder else {}),
                **({"problem": code} if code else {}),
            )


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class _Seen:
    """What is seen of one request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        self.scope = scope
        self.began = time.perf_counter()
        self.request_id = given if _GIVEN_ID.fullmatch(given) else f"{random.getrandbits(128):032x}"
        self.bytes_in = self.bytes_out = 0  # of bodies, as far as they were read or sent
        self.status: int | None = None
        self._receive = receive
        self._send = send
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = self.request_id

    async def receive(self) -> Message:
        """What comes next, counted."""
        message = await self._receive()
        self.bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """Add the headers, and count."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message.get("headers", ())
            names = {name.lower() for name, _ in given}
            ours = (header for header in _HEADERS if header[0] not in names)
            message["headers"] = [*given, *ours, (b"x-request-id", self.request_id.encode())]
        self.bytes_out += len(message.get("body", b""))
        await self._send(message)
