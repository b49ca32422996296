"""Lines of JSON in, lines of JSON out: any number of documents through one request, in memory that does not grow.

1. Lines are dealt with in groups, as they come: what is there is answered before more is waited for, and soon, however
   steadily more comes.
2. A line is measured before it is parsed. One that is wrong is answered in its place, and the others go on.
3. A line that says `added` is durable. If the connection breaks, what was not answered may have been written.
4. The time for a request is that of each group, and of the next line, however many bytes come before its end. The last
   line says that all went well, or why it did not.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from nearsame.errors import NearSameError
from nearsame.named import NamedTuple
from nearsame.service import problems
from nearsame.service.limits import NDJSON, seconds_left
from nearsame.service.problems import HttpProblem

__all__ = ["Line", "LineStream", "answered", "groups", "renew"]

_GROUP_BYTES = 1 << 20
_PAUSE = 0.02  # seconds in which more may come, before what is there is dealt with
_LONGEST = 0.2  # seconds after a group's first line, in which it is dealt with, although more comes all the time
_AGAIN = 0.05  # seconds, after which those who are busy are asked again
_LOOK = 1.0  # seconds, after which one sees whether a stream without news may go on
_OF_A_LINE = {409, 413, 422, 501}  # what is wrong with one document, and not with all

Work = Callable[[list[Any]], Awaitable[Sequence[dict[str, Any]]]]  # the answers to some documents


class Line(NamedTuple):
    """A line that came, and its number from 1 on; without its text where it is too long."""

    number: int
    text: bytes | None


class LineStream(Response):
    """An answer that is sent while it is made."""

    media_type = NDJSON

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head with the first piece: until then all may still be refused."""
        del scope, receive
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        piece = await anext(self._pieces, b"")
        await send(start)
        while piece:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await anext(self._pieces, b"")
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def groups(
    request: Request, most_bytes: int, most_lines: int, seconds: float, still: Callable[[], object]
) -> AsyncIterator[list[Line]]:
    """The lines of a body, as many at once as have come.

    Args:
        request: Whose body it is.
        most_bytes: Of a line.
        most_lines: Of a group.
        seconds: For what comes next, and for each group to be answered.
        still: Raises what ends the stream: its token is no more, or the service ends.
    """
    cut, group, is_last = _Cut(most_bytes), list[Line](), False
    size, due = 0, 0.0
    waiting: asyncio.Future[Any] | None = None
    renew(request, seconds)
    try:
        while not is_last:
            waiting = waiting or asyncio.ensure_future(_received(request))
            pause = min(_PAUSE, max(0, due - time.monotonic()))
            if group and not (pause and (await asyncio.wait({waiting}, timeout=pause))[0]):
                still()
                renew(request, seconds)
                yield group
                group, size = [], 0
            while not (await asyncio.wait({waiting}, timeout=_LOOK))[0]:
                still()
            piece, is_last = await waiting
            waiting = None
            for line in cut.lines(piece, is_last=is_last):
                renew(request, seconds)
                due = due if group else time.monotonic() + _LONGEST
                group.append(line)
                size += len(line.text or b"")
                if len(group) == most_lines or size >= _GROUP_BYTES:
                    still()
                    renew(request, seconds)
                    yield group
                    group, size = [], 0
        if group:
            still()
            renew(request, seconds)
            yield group
    finally:
        if waiting is not None:
            waiting.cancel()


async def answered(
    lines: AsyncIterator[list[Line]],
    parsed: Callable[[bytes], Any],
    work: Work,
    request: Request,
    *,
    quiet: bool = False,
) -> AsyncIterator[bytes]:
    """The answer to each line, in order, and a last line about all.

    Args:
        lines: In groups.
        parsed: Makes a document of a line.
        work: Answers documents.
        request: Whose lines they are.
        quiet: Whether what was added is counted in the last line only.

    Raises:
        Problem: Before anything is answered.
    """
    counts = {"lines": 0, "errors": 0, "added": 0}
    try:
        async for group in lines:
            answers = await _of_group(group, parsed, work, request)
            counts["lines"] = group[-1].number
            counts["errors"] += sum("error" in answer for answer in answers)
            counts["added"] += sum(answer.get("added", False) for answer in answers)
            told = [answer for answer in answers if not (quiet and answer.get("added"))]
            if told:
                yield b"".join(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE) for answer in told)
    except ClientDisconnect:
        return
    except (HttpProblem, NearSameError) as error:
        if not counts["lines"]:
            raise
        last = {"done": False, **counts, "error": _told(_problem(error))}
    else:
        last = {"done": True, **counts}
    yield orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE)


async def _of_group(
    group: Sequence[Line], parsed: Callable[[bytes], Any], work: Work, request: Request
) -> list[dict[str, Any]]:
    documents, faults = await asyncio.to_thread(_parsed, group, parsed)
    found = await _worked(list(documents.values()), work, request)
    by_number = dict(zip(documents, found, strict=True)) | faults
    return [{"line": number, **by_number[number]} for number in sorted(by_number)]


def _parsed(group: Sequence[Line], parsed: Callable[[bytes], Any]) -> tuple[dict[int, Any], dict[int, dict[str, Any]]]:
    """(documents, faults), by the numbers of their lines."""
    documents: dict[int, Any] = {}
    faults: dict[int, dict[str, Any]] = {}
    for line in group:
        try:
            if line.text is not None:
                documents[line.number] = parsed(line.text)
                continue
            problem = HttpProblem(413, "too-large", "the line is too long", hint="Start with a larger --max-body.")
        except HttpProblem as error:
            problem = error
        faults[line.number] = {"error": _told(problem)}
    return documents, faults


async def _worked(documents: list[Any], work: Work, request: Request) -> Sequence[dict[str, Any]]:
    """The answers to documents; where one of them is wrong, halves are tried, until it is clear which one."""
    if not documents:
        return []
    try:
        return await _patiently(lambda: work(documents), request)
    except (HttpProblem, NearSameError) as error:
        if _problem(error).status not in _OF_A_LINE:
            raise
        if len(documents) == 1:
            return [{"error": _told(_problem(error))}]
    middle = len(documents) // 2
    return [*await _worked(documents[:middle], work, request), *await _worked(documents[middle:], work, request)]


async def _patiently(
    call: Callable[[], Awaitable[Sequence[dict[str, Any]]]], request: Request
) -> Sequence[dict[str, Any]]:
    """What a call answers, made again while there is too much to do, and time."""
    deadline = time.monotonic() + seconds_left(request.scope)
    while True:
        try:
            return await call()
        except HttpProblem as problem:
            if problem.code != "busy" or time.monotonic() > deadline:
                raise
        await asyncio.sleep(_AGAIN)


async def _received(request: Request) -> tuple[bytes, bool]:
    """(some bytes, whether they are the last); only a line that is complete wins time."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), not message.get("more_body", False)


def renew(request: Request, seconds: float) -> None:
    """Give a request this time from now on."""
    request.scope["state"]["deadline"] = time.monotonic() + seconds


def _problem(error: HttpProblem | NearSameError) -> HttpProblem:
    return problems.of_error(error) if isinstance(error, NearSameError) else error


def _told(problem: HttpProblem) -> Mapping[str, Any]:
    hint = {"hint": problem.hint} if problem.hint else {}
    return {"status": problem.status, "code": problem.code, "detail": problem.detail, **hint}


class _Cut:
    """Bytes into lines; one that is too long is thrown away as it comes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._rest = bytearray()
        self._is_too_long = False
        self._number = 0

    def lines(self, piece: bytes, *, is_last: bool) -> Iterator[Line]:
        """The lines that are complete now; empty ones are passed over."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            yield from self._end(part)
        self._extend(rest)
        if is_last and (self._rest or self._is_too_long):
            yield from self._end(b"")

    def _extend(self, part: bytes) -> None:
        if len(self._rest) + len(part) > self._most:
            self._is_too_long = True
            self._rest.clear()
        elif not self._is_too_long:
            self._rest += part

    def _end(self, part: bytes) -> Iterator[Line]:
        self._extend(part)
        self._number += 1
        if self._is_too_long:
            yield Line(self._number, None)
        elif text := bytes(self._rest).strip():
            yield Line(self._number, text)
        self._rest.clear()
        self._is_too_long = False
