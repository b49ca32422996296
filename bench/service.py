"""The service: what one process of `nearsame serve` sustains over loopback, and whether its memory stays flat.

1. The index is of made documents, on disk; clients mix questions with additions, each of a document of its own. All
   connections are one process that does little, so that it is the service which is measured.
2. Every answer is checked: its status, that a question in a document's own words finds it, that what is new is added.
   Of a document with one word of sixty changed MinHash may miss a few: they are counted.
3. Memory is what the server's process holds that is not a file's pages, read twenty times. A run fails with a 5xx, a
   wrong answer, many that are missed, or memory that grows by more than the store's caches take until they are full.
4. With `--lines` that many small documents go into an empty index through one request, and come out through another;
   what comes out is held to what went in.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import limit
import report
import uvloop

PAGE = report.ROOT / "docs" / "performance.md"
PACKAGES = ("nearsame", "fastapi", "uvicorn", "pydantic", "numba")
HEADER = ("", "requests/s", "p50 ms", "p99 ms", "max ms", "answers", "5xx", "429", "wrong")
WORDS = 60  # of a document
KNOWN = 20_000  # documents that are asked for
VOCABULARY = 50_000
LINES_HEADER = ("", "lines", "seconds", "lines/s", "MB", "MB held at 10 %", "at the end", "at most")
LINE_WORDS = 12
GROWTH = 40_000_000  # bytes that threads and buffers may still take after the first quarter
CACHES = 3 * (64 << 20)  # SQLite's, of the writer and two readers: additions fill them, by about a kilobyte each


@dataclass
class Seen:
    """What the clients saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"query": [], "add": []})
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0  # a question in a document's own words that does not find it, an addition that adds nothing
    changed: int = 0  # questions in all but one of a document's words
    missed: int = 0  # of those: documents not found


@dataclass(frozen=True)
class Request:
    """What is sent, and what an answer has if it is right."""

    kind: str
    content: bytes
    expected: bytes
    is_changed: bool = False


def text_of(number: int) -> str:
    """Document so and so: always the same."""
    source = random.Random(number)
    return " ".join(f"w{source.randrange(VOCABULARY)}" for _ in range(WORDS))


class Requests:
    """Questions and additions without end: made of texts that were made before, so that clients cost little."""

    def __init__(self, host: str, documents: int, adds: float) -> None:
        self._host, self._documents, self._adds, self._turn = host, documents, adds, 0
        self._source = random.Random(-1)
        self._known = self._source.sample(range(documents), min(documents, KNOWN))
        self._texts = {number: text_of(number) for number in self._known}

    def next(self) -> Request:
        """Another one."""
        self._turn += 1
        if self._source.random() < self._adds:
            number = self._documents + self._turn
            body = f'{{"id":"n{number}","text":"{text_of(number)}","if_new":true}}'
            return Request("add", self._post("/documents", body), b'"added":true')
        number = self._source.choice(self._known)
        words, is_changed = self._texts[number], self._turn % 2 == 1
        if is_changed:
            every = words.split(" ")
            every[WORDS // 2] = f"t{self._turn}"
            words = " ".join(every)
        content = self._post("/query", f'{{"text":"{words}","limit":5}}')
        return Request("query", content, b'"id":"d%d"' % number, is_changed)

    def _post(self, path: str, body: str) -> bytes:
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json"
        return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode("ascii")


class Client(asyncio.Protocol):
    """One connection: the next request as soon as the last one is answered, until the time is over."""

    def __init__(self, requests: Requests, seen: Seen, end: float, over: asyncio.Future[None]) -> None:
        self._requests, self._seen, self._end, self._over = requests, seen, end, over
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        """Send the first one."""
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        """Take note of an answer that is complete."""
        self._received += data
        head, _, body = self._received.partition(b"\r\n\r\n")
        sized = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if sized is None or len(body) < int(sized[1]):
            return
        asked, seen, status, self._received = self._asked, self._seen, int(head[9:12]), b""
        seen.seconds[asked.kind].append(time.perf_counter() - self._began)
        seen.statuses[status] += 1
        if status == 200:
            is_right = asked.expected in body
            seen.changed += asked.is_changed
            seen.missed += asked.is_changed and not is_right
            seen.wrong += not asked.is_changed and not is_right
        if status == 429:
            again = re.search(rb"retry-after: *(\d+)", head, re.IGNORECASE)
            asyncio.get_running_loop().call_later(float(again[1]) if again else 1, self._send)
        else:
            self._send()

    def connection_lost(self, _error: Exception | None) -> None:
        """Done, or broken off by the service."""
        self._seen.wrong += time.monotonic() < self._end
        self._over.set_result(None)

    def _send(self) -> None:
        if time.monotonic() > self._end:
            self._transport.close()
            return
        self._asked = self._requests.next()
        self._began = time.perf_counter()
        self._transport.write(self._asked.content)


def clients(url: str, settings: dict[str, Any], results: Any) -> None:
    """Ask and add over several connections until the time is over."""

    async def ask() -> Seen:
        loop, place, seen = asyncio.get_running_loop(), urlsplit(url), Seen()
        requests = Requests(place.netloc, settings["documents"], settings["adds"])
        end = time.monotonic() + settings["seconds"]
        overs: list[asyncio.Future[None]] = [loop.create_future() for _ in range(settings["clients"])]
        for over in overs:
            made = partial(Client, requests, seen, end, over)
            await loop.create_connection(made, place.hostname, place.port)
        await asyncio.gather(*overs)
        return seen

    results.put(uvloop.run(ask()))


def build(path: Path, documents: int) -> None:
    """An index of made documents."""
    from nearsame.index.index import Index  # noqa: PLC0415  (clients are started without it)

    with Index.create(path, overwrite=True) as index:
        for start in range(0, documents, 5000):
            numbers = range(start, min(start + 5000, documents))
            index.add([{"id": f"d{number}", "text": text_of(number)} for number in numbers], matches=False)


class Server:
    """A running `nearsame serve`, and its memory."""

    def __init__(self, index: Path) -> None:
        nearsame = str(Path(sys.executable).with_name("nearsame"))
        command = [nearsame, "serve", str(index), "--port", "0", "--no-request-log"]
        self._run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://\S+", self._run.stdout.readline() if self._run.stdout else "")
        if not found:
            raise SystemExit("the service did not start")
        self.url = found[0]

    def held(self) -> int:
        """Bytes of memory that are not a file's."""
        status = Path(f"/proc/{self._run.pid}/status").read_text("ascii")
        return 1024 * int(re.findall(r"^RssAnon:\s*(\d+) kB", status, re.MULTILINE)[0])

    def spent(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self._run.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """End it; its exit code."""
        self._run.terminate()
        return self._run.wait(60)


def load(server: Server, settings: dict[str, Any]) -> tuple[Seen, list[int]]:
    """Run all clients; what they saw, and the server's memory five times a quarter."""
    context = get_context("spawn")
    results = context.Queue()
    asking = context.Process(target=clients, args=(server.url, settings, results))
    memory: list[int] = []
    asking.start()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(settings["seconds"] / 20):
            memory.append(server.held())

    watcher = threading.Thread(target=watch)
    watcher.start()
    found = results.get()
    over.set()
    for each in (asking, watcher):
        each.join()
    return found, memory


def rows(seen: Seen, seconds: float) -> list[tuple[str, ...]]:
    """The table: questions, additions, both."""
    failed = sum(number for status, number in seen.statuses.items() if status >= 500)
    table = []
    for name, kinds in (("query", ["query"]), ("add, if new", ["add"]), ("together", ["query", "add"])):
        times = sorted(value for kind in kinds for value in seen.seconds[kind])
        if times:
            cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
            figures = (f"{cuts[49] * 1000:.1f}", f"{cuts[98] * 1000:.1f}", f"{times[-1] * 1000:.0f}", f"{len(times):,}")
            table.append((name, f"{len(times) / seconds:,.0f}", *figures))
    last = (str(failed), str(seen.statuses[429]), str(seen.wrong))
    return [(*row, *(("", "", "") if place < len(table) - 1 else last)) for place, row in enumerate(table)]


def verdict(seen: Seen, memory: list[int]) -> list[str]:
    """What is wrong with a run."""
    complaints = []
    failed = sum(number for status, number in seen.statuses.items() if status >= 500)
    if failed:
        complaints.append(f"{failed} answers were 5xx")
    if seen.wrong:
        complaints.append(f"{seen.wrong} answers were wrong")
    if seen.missed > max(2, seen.changed / 200):  # MinHash finds all but a few in 10,000
        complaints.append(f"{seen.missed} of {seen.changed:,} changed documents were not found")
    additions, quarter, half = len(seen.seconds["add"]), len(memory) // 4, len(memory) // 2
    filling = [(quarter, min(CACHES, 2000 * additions))] + [(half, 0)] * (500 * additions > CACHES)
    for part, caches in filling:
        if part and memory[-1] - max(memory[:part]) > GROWTH + caches:
            complaints.append(f"memory grew from {max(memory[:part]):,} to {memory[-1]:,} bytes")
    return complaints


def service(given: argparse.Namespace, folder: Path) -> tuple[str, list[str]]:
    """Measure; the text for the page, and what was wrong."""
    index, busy = folder / "bench.ns", os.getloadavg()[0]
    print(f"an index of {given.documents:,} documents", flush=True)
    build(index, given.documents)
    server = Server(index)
    settings = {"documents": given.documents, "clients": given.clients, "adds": given.adds}
    try:
        load(server, {**settings, "clients": 2, "seconds": 5.0, "adds": 0.0})  # warm
        print(f"{given.minutes * 60:.0f} s of load", flush=True)
        spent = -server.spent()
        found, memory = load(server, {**settings, "seconds": given.minutes * 60})
        spent += server.spent()
    finally:
        code = server.stop()
    complaints = verdict(found, memory) + ([f"the exit code was {code}"] if code else [])
    table = rows(found, given.minutes * 60)
    answers = max(1, found.statuses.total())
    megabytes = [f"{value / 1e6:,.0f}" for value in (memory[0], memory[len(memory) // 2], memory[-1])]
    about = (
        f"{given.documents:,} documents in the index at the start; {given.clients} connections from the same machine,"
        f" for {given.minutes:g} minutes: {1 - given.adds:.0%} questions, {given.adds:.0%} additions with `if_new`,"
        f" durable when answered. Of {found.changed:,} questions with a word changed {found.missed} missed their"
        f" document, as MinHash may. A request took {spent * 1e6 / answers:.0f} µs of the service's processors. Memory"
        f" of the service, besides the pages of files, at the start, in the middle and at the end:"
        f" {', '.join(megabytes)} MB.{limit.others(busy)}"
    )
    return page_of(f"--minutes {given.minutes:g} --documents {given.documents}", about, HEADER, table), complaints


def page_of(options: str, about: str, header: report.Row, table: list[tuple[str, ...]]) -> str:
    """The text for the page, printed as well."""
    made_by = report.made_by(f"service {options}", PACKAGES)
    report.show(about, header, table)
    print(made_by)
    return f"{about}\n\n{report.markdown(header, table)}\n\n{made_by}"


class Stream:
    """Lines that go through one request: what they are, and what the server holds of memory meanwhile."""

    def __init__(self, server: Server, number: int) -> None:
        self._server, self._total = server, number
        self._digest = hashlib.sha256()
        self.lines = self.bytes = 0
        self.held: list[int] = []  # a hundred times on the way
        self.seconds = 0.0

    def through(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The same lines, watched."""
        for line in lines:
            self.lines += 1
            self.bytes += len(line)
            self._digest.update(f"{json.loads(line)['id']}\n".encode())
            if self.lines % max(1, self._total // 100) == 0:
                self.held.append(self._server.held())
            yield line

    def timed(self, work: "Callable[[Stream], None]") -> None:
        """Do it, and see how long it takes."""
        began = time.perf_counter()
        work(self)
        self.seconds = time.perf_counter() - began

    @property
    def ids(self) -> str:
        """What tells which ids there were, and in which order."""
        return self._digest.hexdigest()

    def row(self, name: str) -> tuple[str, ...]:
        """A line of the table."""
        chosen = self.held[(len(self.held) - 1) // 10], self.held[-1], max(self.held)
        memory = (f"{value / 1e6:,.0f}" for value in chosen)
        pace = f"{self.lines / self.seconds:,.0f}"
        return (name, f"{self.lines:,}", f"{self.seconds:,.0f}", pace, f"{self.bytes / 1e6:,.0f}", *memory)

    def complaints(self, name: str) -> list[str]:
        """What is wrong with it."""
        early, late = max(self.held[: len(self.held) // 10 + 1]), max(self.held)
        grew = f"{name}: memory grew from {early:,} to {late:,} bytes"
        return [*([grew] if late - early > GROWTH else [])]


def batched(lines: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    """Some lines at once."""
    return iter(lambda: list(islice(lines, size)), [])


def lines_of(number: int) -> Iterator[bytes]:
    """Small documents, all different."""
    for at in range(number):
        source = random.Random(at)
        text = " ".join(f"w{source.randrange(VOCABULARY)}" for _ in range(LINE_WORDS))
        yield b'{"id": "d%d", "text": "%s"}\n' % (at, text.encode())


def lines(given: argparse.Namespace, folder: Path) -> tuple[str, list[str]]:
    """Send documents through one request, and get them through another; the text, and what was wrong."""
    from nearsame.index.index import Index  # noqa: PLC0415  (clients are started without it)

    Index.create(folder / "lines.ns", store="text").close()
    server, busy, complaints = Server(folder / "lines.ns"), os.getloadavg()[0], list[str]()
    connection = HTTPConnection(urlsplit(server.url).hostname or "", urlsplit(server.url).port, timeout=600)

    def add(stream: Stream) -> None:
        headers = {"Content-Type": "application/x-ndjson"}
        blocks = map(b"".join, batched(stream.through(lines_of(given.lines)), 500))
        connection.request("POST", "/documents?quiet=true", blocks, headers)
        told = connection.getresponse().read().splitlines()
        expected = {"done": True, "lines": given.lines, "errors": 0, "added": given.lines}
        if [json.loads(line) for line in told] != [expected]:
            complaints.append(f"the last of {len(told):,} answers was {told[-1:]}")

    def export(stream: Stream) -> None:
        connection.request("GET", "/export")
        for _ in stream.through(iter(connection.getresponse().readline, b"")):
            pass

    streams = {"added": Stream(server, given.lines), "exported": Stream(server, given.lines)}
    try:
        for stream, work in zip(streams.values(), (add, export), strict=True):
            stream.timed(work)
    finally:
        code = server.stop()
    complaints += [f"the exit code was {code}"] if code else []
    complaints += [complaint for name, stream in streams.items() for complaint in stream.complaints(name)]
    if len({(stream.lines, stream.ids) for stream in streams.values()}) > 1:
        complaints.append("what was exported is not what was added")
    table = [stream.row(name) for name, stream in streams.items()]
    about = (
        f"{given.lines:,} documents of {LINE_WORDS} words into an empty index that stores texts, through one request"
        f" of lines of JSON, and out of it through another; what came out was what went in.{limit.others(busy)}"
    )
    return page_of(f"--lines {given.lines}", about, LINES_HEADER, table), complaints


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench service", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="of load")
    parser.add_argument("--documents", type=int, default=100_000, help="in the index at the start")
    parser.add_argument("--clients", type=int, default=16, help="connections at the same time")
    parser.add_argument("--adds", type=float, default=0.1, help="share of requests that add")
    parser.add_argument("--lines", type=int, help="instead: so many documents through one request, and out of another")
    parser.add_argument("--folder", type=Path, help="where the index is made; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    with limit.working_folder(given.folder) as folder:
        text, complaints = lines(given, folder) if given.lines else service(given, folder)
    if not given.no_write and not (given.lines and complaints):
        report.write_between(PAGE, "service lines" if given.lines else "service", text)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
