"""Requests of a client to the service, over a connection that is kept; its problems as the library's own exceptions.

1. Nothing but the standard library: whoever asks a service needs nothing of what runs one.
2. Who is too busy is asked again until the time is over: such an answer says that nothing was written.
3. A question whose connection broke is asked once more. A change is not: it may have been made.
4. Threads that share a connection have it in turn, and whoever is interrupted hangs up.
"""

import http.client
import json
import os
import select
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from nearsame import errors
from nearsame.errors import ConfigError, InterruptedChangeError, NearSameError, StoreBusyError, StoreError
from nearsame.recipes.arguments import shown
from nearsame.turns import Turns

__all__ = ["Wire", "dumped", "in_query", "loaded"]

_SCHEMES = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
_IDLE_SECONDS = 10.0  # the service closes connections that ask nothing for 15
_PAUSE = 0.1  # seconds, before whoever is busy is asked again, if nothing else was said
_BUSY = {429, 503}
_LINES, _PIECE = "application/x-ndjson", 1 << 16
_LEAST_SECONDS, _MOST_SECONDS = 0.001, 2_000_000.0  # that a socket can wait for


class Wire:
    """A connection to a service, made when it is needed."""

    def __init__(self, url: str, token: str | None, timeout_seconds: float) -> None:
        self.url = url.rstrip("/")
        self._seconds = min(max(timeout_seconds, _LEAST_SECONDS), _MOST_SECONDS)
        self._connection, self._path = _connection(url, self._seconds)
        if token is not None and not (token.isascii() and token.isprintable()):
            message = "the token holds what no header of HTTP does"
            raise ConfigError(message, hint="Give it as its file has it, without the end of the line.")
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._last_used = time.monotonic()
        self._pid = os.getpid()
        self._turns = Turns(self.url, self._seconds)

    def ask(self, method: str, path: str, body: Any = None, *, again: bool = True) -> Any:
        """The answer to a request, as JSON.

        Args:
            method: Of HTTP.
            path: Below the address of the service, with its settings.
            body: What is sent as JSON.
            again: Whether it may be asked twice.

        Raises:
            NearSameError: It is refused, or the service cannot be reached.
        """
        with self._alone():
            deadline = time.monotonic() + self._seconds
            while True:
                with closing(self._sent(method, path, body, again=again)) as answer:
                    content = self._read(answer)
                if answer.status // 100 == 2:
                    with self.understood():
                        return _object(loaded(content))
                self._wait(answer, content, deadline)

    def lines(self, path: str) -> Generator[bytes]:
        """The lines of an answer, as they come.

        Raises:
            NearSameError: It is refused, the service cannot be reached, or the answer ends before its end.
        """
        with self._alone():
            deadline = time.monotonic() + self._seconds
            answer = self._sent("GET", path, None, again=True)
            while answer.status >= 400:
                with closing(answer):
                    content = self._read(answer)
                self._wait(answer, content, deadline)
                answer = self._sent("GET", path, None, again=True)
            with closing(answer):
                if answer.status != 200 or answer.headers.get_content_type() != _LINES:
                    self.close()
                    raise self._another()
                try:
                    yield from _lines(answer)
                except (http.client.HTTPException, OSError) as error:
                    raise self._unreachable(error) from None
                finally:
                    if not answer.isclosed():
                        self.close()  # what was not read would be taken for the next answer

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """This thread's turn; what an interrupt leaves of an answer would be taken for the next one."""
        if self._pid != os.getpid():  # the connection is another process's, and so are its answers
            self.close()
            self._pid, self._turns = os.getpid(), Turns(self.url, self._seconds)
        with self._turns.taken():
            try:
                yield
            except NearSameError:
                raise
            except BaseException:
                self.close()
                raise

    def _wait(self, answer: http.client.HTTPResponse, content: bytes, deadline: float) -> None:
        """Wait as long as a busy service says; a problem of another kind, or at the end of all patience, is raised."""
        problem = _problem(content, answer.status)
        pause = _seconds(answer.headers.get("Retry-After"))
        is_busy = answer.status in _BUSY and problem["code"] != InterruptedChangeError.code
        if not is_busy or time.monotonic() + pause > deadline:
            raise _error(problem, self.url)
        time.sleep(pause)

    def end(self) -> None:
        """Hang up, behind what other threads ask."""
        with self._alone():
            self.close()

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    @contextmanager
    def understood(self) -> Iterator[None]:
        """What is read of an answer: one that does not say it is not of a service.

        Raises:
            StoreError: It is such.
        """
        try:
            yield
        except NearSameError:
            raise
        except (AttributeError, IndexError, LookupError, TypeError, ValueError):
            raise self._another() from None

    def _another(self) -> StoreError:
        message = f"{self.url} did not answer as a service of nearsame does"
        return StoreError(message, hint="Check the address: a proxy, or another server, may stand there.")

    def _sent(self, method: str, path: str, body: Any, *, again: bool) -> http.client.HTTPResponse:
        if time.monotonic() - self._last_used > _IDLE_SECONDS or self._is_closed_there():
            self.close()
        is_new = self._connection.sock is None
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        try:
            self._connection.request(method, f"{self._path}{path}", None if body is None else dumped(body), headers)
            return self._connection.getresponse()
        except (http.client.HTTPException, OSError, UnicodeError) as error:  # the last of a name that is none
            self.close()
            if is_new or not again or isinstance(error, TimeoutError):
                raise self._unreachable(error) from None
        finally:
            self._last_used = time.monotonic()
        return self._sent(method, path, body, again=False)

    def _is_closed_there(self) -> bool:
        """Whether the other end has hung up: between two requests it has nothing else to say."""
        sock = self._connection.sock
        if sock is None:
            return False
        asked = select.poll()
        asked.register(sock, select.POLLIN)
        return bool(asked.poll(0))

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        try:
            return answer.read()
        except (http.client.HTTPException, OSError) as error:
            self.close()
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> StoreError:
        if isinstance(error, TimeoutError):
            return StoreBusyError(f"{self.url} did not answer within {self._seconds:g} s", hint="Try again later.")
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return StoreError(f"{self.url} cannot be reached: {why}", hint="Check the address, and that the service runs.")


def _connection(url: str, seconds: float) -> tuple[http.client.HTTPConnection, str]:
    """What connects to a service when it is needed, and the path at which the service is."""
    with suppress(ValueError, http.client.HTTPException):  # of a port, or a name, that is none
        parts = urlsplit(url)
        if parts.scheme in _SCHEMES and parts.hostname and not parts.query and not parts.fragment:
            return _SCHEMES[parts.scheme](parts.hostname, parts.port, timeout=seconds), parts.path.rstrip("/")
    raise ConfigError(f"{url!r} is not the address of a service", hint="Give it as http://HOST:PORT.")


def _lines(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The lines of an answer, to its end: reading by lines, the library takes a broken connection for the end."""
    if answer.length is None and not answer.chunked:
        raise http.client.HTTPException("its answer does not say where it ends")
    rest = b""
    while piece := answer.read1(_PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest or answer.length:
        raise http.client.HTTPException("its answer broke off")


def in_query(settings: Any) -> str:
    """Settings as what stands behind a path."""
    try:
        return urlencode(settings)
    except UnicodeEncodeError:
        message = f"{shown(settings)} has half a surrogate pair, which no address can have"
        raise ConfigError(message, hint="Give a text that is UTF-8.") from None


def loaded(content: bytes) -> Any:
    """What an answer says as JSON, half a surrogate pair as well."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:  # a text with half a surrogate pair
        return json.loads(content)


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise TypeError
    return answer


def dumped(body: Any) -> bytes:
    """What is sent, as JSON."""
    try:
        return orjson.dumps(body)
    except TypeError:  # a text with half a surrogate pair: the service says what is wrong
        return json.dumps(body).encode()


def _problem(content: bytes, status: int) -> dict[str, Any]:
    try:
        given = orjson.loads(content)
    except orjson.JSONDecodeError:
        given = None
    said = {"detail": f"HTTP {status}", **given} if isinstance(given, dict) else {}
    return said if isinstance(said.get("code"), str) else {"code": "", "detail": f"HTTP {status}", "status": status}


def _seconds(given: str | None) -> float:
    return float(given) if given is not None and given.isdecimal() else _PAUSE


def _error(problem: dict[str, Any], url: str) -> NearSameError:
    """What the service says, as the exception that an index would have raised."""
    code, status = problem["code"], problem.get("status", 0)
    kinds = {kind.code: kind for name in errors.__all__ if issubclass(kind := getattr(errors, name), NearSameError)}
    kind = kinds.get(code) or (StoreBusyError if status in _BUSY else ConfigError if status // 100 == 4 else StoreError)
    return kind(f"{url}: {problem['detail']}", hint=problem.get("hint") or "")
