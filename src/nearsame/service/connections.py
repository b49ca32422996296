"""The connections: how many there may be, and how long one may take to ask for something.

1. A connection that waits for nothing but its client (a new one, one between two requests, one whose headers do not
   end) is closed after some seconds, and earlier if others need its place: the one that has waited longest goes first.
2. One address has at most half of all places, so that others find one.
3. Where no place can be made, some more connections are taken, and answered if they ask for the service's health.
4. A client that does not read its answer is not waited for, either.
5. What stands before and behind a body has a bound in bytes: h11 has one of its own, httptools has none.
6. So have the headers of a request and the requests sent before their turn in number: each takes many times its bytes.
   h11 takes up one request at a time.
7. A connection that ends with an answer says so at once, and reads what is still on its way of the request's body for
   as long as a client has for headers: bytes that nobody reads make the system take the answer back.
"""

from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from uvicorn import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from nearsame.service.metrics import Metrics
from nearsame.service.upgrades import Parser

__all__ = ["Connections"]

_HEALTH = 50  # connections beyond the others
_HEADER_SECONDS = 10.0
_HEADER_BYTES = 1 << 16
_HEADERS = 100
_WAITING = 16  # requests of a connection behind the one that is answered
_IS_BOUNDED = not hasattr(AutoHTTPProtocol, "on_header")  # by h11


class Connections:
    """All that are open; called by uvicorn for each new one."""

    def __init__(self, most: int, timeout: float, metrics: Metrics) -> None:
        self._most = most
        self._metrics = metrics
        self.seconds = timeout  # for a client to read
        self.header_seconds = min(timeout, _HEADER_SECONDS)
        self._open: dict[_Connection, str] = {}  # in the order of their coming, with their addresses
        self._reserved: dict[_Connection, str] = {}

    def __call__(self, config: Config, **given: Any) -> "_Connection":
        """A protocol for a connection that a client has opened."""
        return _Connection(self, config, **given)

    def __len__(self) -> int:
        return len(self._open) + len(self._reserved)

    def admit(self, new: "_Connection", address: str) -> None:
        """Give it a place, or one of those for health."""
        of_address = [connection for connection, other in self._open.items() if other == address]
        has_place = len(of_address) < max(1, self._most // 2) or self._close_one(of_address)
        if has_place and (len(self._open) < self._most or self._close_one(list(self._open))):
            self._open[new] = address
        else:
            self._reserve(new, address)

    def forget(self, gone: "_Connection") -> None:
        """Give the place of a closed connection to others."""
        self._open.pop(gone, None)
        self._reserved.pop(gone, None)

    def close(self, one: "_Connection", why: Literal["idle", "headers", "pipeline"] = "idle") -> None:
        """Do not wait for it any longer."""
        self.forget(one)
        self._metrics.refused.labels(why).inc()
        one.transport.abort()

    def _close_one(self, some: "list[_Connection]") -> bool:
        waiting = [connection for connection in some if connection.waits]
        if waiting:
            self.close(min(waiting, key=lambda connection: connection.since))
        return bool(waiting)

    def _reserve(self, new: "_Connection", address: str) -> None:
        new.app_state = {**new.app_state, "only_health": True}
        if len(self._reserved) >= _HEALTH and not self._close_one(list(self._reserved)):
            self.close(new)
        else:
            self._reserved[new] = address


class _Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """One connection, watched from outside: how it speaks HTTP is uvicorn's affair (h11's or httptools')."""

    def __init__(self, all_of_them: Connections, config: Config, **given: Any) -> None:
        super().__init__(config, **given)
        if not _IS_BOUNDED:
            self.parser: Any = Parser(self, self.parser)
        self._all = all_of_them
        self._asking = _Timer(self.loop, all_of_them.header_seconds, self._expire)
        self._reading = _Timer(self.loop, all_of_them.seconds, partial(all_of_them.close, self))
        self.since = self.loop.time()
        self._unread = 0  # bytes that came since the last ones of a body
        self._header_bytes = 0  # of a request, as far as they are read
        self._begun: deque[Any] = deque()  # requests that are not answered, by httptools
        self._answered: Any = None  # the last request, once it has all of its answer
        self._parting: _Parting | None = None

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def connection_made(self, transport: Any) -> None:
        """A client has connected: it gets a place, and its time to send a request's headers begins."""
        self._parting = _Parting(transport, self)
        super().connection_made(self._parting)
        self._asking.start()
        self._all.admit(self, self.client[0] if self.client else "")

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request; more of them before its headers are complete win no time."""
        if self._parting is not None and self._parting.has_begun:
            return
        waited = self.waits
        self._unread += len(data)
        super().data_received(data)
        if self._unread > _HEADER_BYTES and not _IS_BOUNDED:
            self._all.close(self, "headers")
        elif self.waits:
            self._asking.start()
        elif waited:
            self._asking.stop()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; called by httptools alone."""
        self._header_bytes += len(name) + len(value)
        if len(self.headers) >= _HEADERS or self._header_bytes > _HEADER_BYTES:
            self._refuse("headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """What came so far was headers; called by httptools alone."""
        self._unread = self._header_bytes = 0
        if len(self.pipeline) >= _WAITING:
            self._refuse("pipeline")
        super().on_headers_complete()
        self._begun.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        """Some of a body; called by httptools alone."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has ended; called by httptools alone."""
        if not self.parser.is_interrupted:
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP; said only where it is not taken for the answer to an earlier request."""
        if self.transport.is_closing():
            return
        if self.waits:
            super().send_400_response(msg)
        else:
            self._all.close(self, "pipeline")

    def on_response_complete(self) -> None:
        """The client's turn again."""
        self.since = self.loop.time()
        if self._begun:
            self._begun.popleft()
        if self.waits:
            self._answered = self.cycle
        super().on_response_complete()

    def part(self) -> bool:
        """Whether the connection ends with an answer whose request has not arrived; then it is read on, for a time."""
        cycle = self.cycle
        if cycle is None or cycle is self._answered or not (cycle.response_complete and cycle.more_body):
            return False
        self.flow.resume_reading()
        self._asking.start()
        return True

    def pause_writing(self) -> None:
        """The client does not read as fast as it is written."""
        super().pause_writing()
        self._reading.start()

    def resume_writing(self) -> None:
        """It has read on."""
        super().resume_writing()
        self._reading.stop()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came; what was written and is not read is not waited for."""
        super().timeout_keep_alive_handler()
        self._asking.start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give its place to others, stop its timers, and tell each request that nobody waits for its answer."""
        self._all.forget(self)
        super().connection_lost(exc)
        for cycle in self._begun:  # uvicorn tells the last one
            cycle.disconnected = True
            cycle.message_event.set()
        self._asking.stop()
        self._reading.stop()

    def _refuse(self, why: Literal["headers", "pipeline"]) -> None:
        self._all.close(self, why)
        raise ValueError(why)  # ends the parser: nothing is made of the bytes that it still has

    def _expire(self) -> None:
        if self.waits:
            self._all.close(self)


class _Parting:
    """A transport that ends only its own side, where the other one has not said all."""

    def __init__(self, transport: Any, connection: _Connection) -> None:
        self._transport = transport
        self._connection = connection
        self.has_begun = False

    def __getattr__(self, name: str) -> Any:
        """All else is the transport's affair."""
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self.has_begun or self._transport.is_closing()

    def close(self) -> None:
        """End it, behind what was written."""
        if self.has_begun or self._transport.is_closing() or not self._connection.part():
            self._transport.close()
        else:
            self.has_begun = True
            self._transport.write_eof()


class _Timer:
    """Calls once, some seconds after it was first started, unless it is stopped before."""

    def __init__(self, loop: AbstractEventLoop, seconds: float, call: Callable[[], None]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._call = call
        self._handle: TimerHandle | None = None

    def start(self) -> None:
        """Let it run; one that runs goes on."""
        if self._handle is None:
            self._handle = self._loop.call_later(self._seconds, self._fire)

    def stop(self) -> None:
        """Nothing will be called."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._call()
