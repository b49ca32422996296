"""What one client can do to the others: requests that cost far more than their bytes, connections that ask nothing."""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import numpy as np
import orjson
import pytest

import nearsame as ns
from nearsame.errors import ConfigError
from nearsame.index import documents
from nearsame.service import connections, lookups, receiving
from nearsame.service.limits import Limits
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem
from nearsame.service.settings import Settings
from nearsame.service.workers import WorkerProcesses
from nearsame.stages.pairs.passages import shared_passages
from tests.patience import PATIENCE, eventually

from .fakes import Shelf
from .running import running

AB, BA = "a b " * 30_000, "b a " * 30_000
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def shelf():
    """An empty index."""
    return Shelf()


@contextmanager
def working(**settings):
    """Workers of a test's own."""
    workers = WorkerProcesses(1, 10, Metrics(), **settings)
    try:
        yield workers
    finally:
        workers.close()


def refused(workers, seconds, task, *given):
    """The problem that a task ends with."""
    with pytest.raises(HttpProblem) as found:
        asyncio.run(workers.run(seconds, task, *given))
    return found.value.status, found.value.code


def test_a_task_whose_time_is_over_is_ended_with_its_process():
    """Its process is killed, the next task gets another one."""
    with working() as workers:
        first = asyncio.run(workers.run(PATIENCE, os.getpid))
        assert (503, "timeout") == refused(workers, 0.2, time.sleep, PATIENCE)
        second = asyncio.run(workers.run(PATIENCE, os.getpid))
        assert first != second
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)


@pytest.mark.slow
def test_a_task_that_takes_too_much_memory_is_alone_in_that():
    """413, whether it says so itself or its process dies; the next task is done."""
    with working(memory=1 << 28) as workers:
        assert (413, "too-large") == refused(workers, PATIENCE, bytes, 1 << 34)
        assert 6 == asyncio.run(workers.run(PATIENCE, sum, (1, 2, 3)))
        assert (413, "too-large") == refused(workers, PATIENCE, os.abort)
        assert 6 == asyncio.run(workers.run(PATIENCE, sum, (1, 2, 3)))


def test_what_a_task_says_is_passed_on():
    """Errors of the library with their hints; of others only the type, for a message could hold a text."""
    with working() as workers:
        with pytest.raises(ConfigError, match="-1 is below 1 token") as found:
            asyncio.run(workers.run(PATIENCE, shared_passages, np.zeros(0, np.uint64), np.zeros(0, np.uint64), -1))
        assert "Choose a length such as 8." == found.value.hint
        with pytest.raises(RuntimeError, match="ValueError in a worker"):
            asyncio.run(workers.run(PATIENCE, int, "a text"))


def test_workers_end_while_they_work():
    """Closing waits for no task."""
    with working() as workers:
        said = []
        clients = [
            threading.Thread(target=lambda: said.append(refused(workers, PATIENCE, time.sleep, PATIENCE)))
            for _ in range(2)
        ]
        for client in clients:
            client.start()
        while workers._queue.unfinished_tasks < 2:
            time.sleep(0.01)
    for client in clients:
        client.join(PATIENCE)
    assert [(503, "stopping")] * 2 == said
    assert (503, "stopping") == refused(workers, PATIENCE, os.getpid)


def test_long_texts_are_compared_by_a_worker_while_readers_answer(shelf):
    """With one reader, and what was left out named."""
    with running(shelf.open, readers=1, timeout=PATIENCE) as served:
        sides = {"a": {"text": AB}, "b": {"text": BA}}
        found = served.client.post("/compare", json=sides).json()
        assert (True, [], 0) == (found["complete"], found["left_out"], found["passages_left_out"])
        assert 60_000 == found["a"]["in_passages"]
        assert 200 == served.client.get("/readyz").status_code


def test_the_passages_of_an_answer_are_bounded(shelf, monkeypatch):
    """The longest are given, in their order, the others counted."""
    monkeypatch.setattr(lookups, "_MOST_PASSAGES", 2)
    words = [" ".join(f"{part}{n}" for n in range(10 + part)) for part in range(4)]
    with running(shelf.open) as served:
        sides = {"a": {"text": " x ".join(words)}, "b": {"text": " y ".join(words)}}
        found = served.client.post("/compare", json=sides).json()
    assert ([12, 13], 2, False) == (
        [part["tokens"] for part in found["passages"]],
        found["passages_left_out"],
        found["complete"],
    )


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"documents": [{}] * 200_000}, 413, "200,000 documents, more than 1,000"),
        ({"documents": [{"id": 1}] * 1000}, 422, "documents.0"),
        ({str(n): n for n in range(50_000)}, 422, "an object has 50,000 names"),
        ({"documents": [{str(n): n for n in range(50_000)}]}, 422, "an object has 50,000 names"),
        ({"features": ["x"] * 200_000}, 422, "features.0"),
        ({"text": "a" * 2_000_000}, 413, "a text of 2,000,000 characters"),
        ({"documents": [{"html": "a" * 2_000_000}]}, 413, "a text of 2,000,000 characters"),
    ],
)
def test_a_body_of_mistakes_is_refused_for_the_first(shelf, body, status, said):
    """Its size is looked at before its model is, and no list of mistakes is made."""
    with running(shelf.open, max_text=1_000_000) as served:
        answer = served.client.post("/query", content=orjson.dumps(body), headers=JSON)
    assert status == answer.status_code
    assert said in answer.json()["detail"]
    assert len(answer.json().get("errors", [])) <= 4


def test_ready_items_are_not_looked_at_one_by_one(shelf, monkeypatch):
    """A body of 10 MB holds five million; and a question with many is asked alone, not with 31 of its like."""
    monkeypatch.setattr(documents, "_number", lambda *_: pytest.fail("an item was looked at"))
    many = list(range(lookups.SMALL + 1))
    assert (many[0], many[-1]) == documents.input_of({"features": many}).features[:: lookups.SMALL]
    for part in ("features", "sketch"):
        assert lookups.query([{part: many}], seconds=PATIENCE).kind is None
        assert lookups.query([{part: many[:-1]}], seconds=PATIENCE).kind is not None


def test_pages_are_measured_before_they_are_parsed(shelf, monkeypatch):
    """As a body of its own, in JSON, and of both sides of a comparison."""
    monkeypatch.setattr(receiving.lookups, "extracted", lambda *_: pytest.fail("it was parsed"))
    page = "<td>" * 1000
    with running(shelf.open, max_text=3999) as served:
        client = served.client
        for path in ("/query", "/documents"):
            assert 413 == client.post(path, content=page, headers={"Content-Type": "text/html"}).status_code
            assert 413 == client.post(path, json={"html": page}).status_code
        assert 413 == client.post("/compare", json={"a": {"text": "a"}, "b": {"html": page}}).status_code
        assert 413 == client.post("/", files={"file": ("a.html", page.encode())}).status_code


def test_a_large_page_is_parsed_by_a_worker(shelf):
    """It is ended with its time, and so is a batch of small ones."""
    with running(shelf.open, timeout=PATIENCE) as served:
        page = "<html><main><p>one two three four" + "<td>x" * 10_000
        found = served.client.post("/documents?id=x", content=page, headers={"Content-Type": "text/html"})
        assert "added" == found.json()["status"]
        assert shelf.documents["x"]["text"].startswith("one two three four")
        batch = [{"id": f"p{n}", "html": f"<main><p>page {n} of some</p></main>" + " " * 1000} for n in range(30)]
        assert 30 == served.client.post("/documents", json={"documents": batch}).json()["added"]
        assert "page 7 of some" == shelf.documents["p7"]["text"]


def connected(served):
    """A connection that says nothing yet."""
    place = urlsplit(served.url)
    return socket.create_connection((place.hostname, place.port), timeout=PATIENCE)


def ended(connection):
    """Whether the other side closes it, without an answer."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_that_ask_nothing_make_way(shelf):
    """Those that have waited longest, of the same address; others are answered all the time."""
    with running(shelf.open, connections=20) as served, ExitStack() as stack:
        idle = [stack.enter_context(connected(served)) for _ in range(40)]
        for connection in idle[::2]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert [200, 200, 200] == [
            httpx.get(f"{served.url}{path}", timeout=PATIENCE).status_code for path in ("/healthz", "/readyz", "/stats")
        ]
        assert all(ended(connection) for connection in idle[:30])


def test_headers_have_a_time_however_they_trickle(shelf):
    """Bytes that come meanwhile win nothing."""
    with running(shelf.open, timeout=0.5) as served, connected(served) as half, connected(served) as silent:
        stop = threading.Event()

        def trickle():
            half.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            while not stop.wait(0.05):
                try:
                    half.sendall(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        assert ended(silent)
        assert ended(half)
        stop.set()
        thread.join()
        assert 2 == served.metric("nearsame_refused_total", code="idle")


KIND = b"Content-Type: %s\r\n"
POST = b"POST %s HTTP/1.1\r\nHost: %s\r\n"
REFUSED = {
    "too-large": (413, 11_000_000, POST % (b"/documents", b"localhost") + KIND % b"application/json"),
    "media-type": (415, 9_000_000, POST % (b"/documents", b"localhost") + KIND % b"application/pdf"),
    "not-found": (404, 9_000_000, POST % (b"/nothing", b"localhost")),
    "host": (421, 9_000_000, POST % (b"/documents", b"elsewhere.example")),
}


@pytest.mark.parametrize(("status", "size", "head"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("closing", [b"Connection: close\r\n", b""], ids=["close", "stay"])
def test_a_refused_body_is_read_so_that_its_client_can_read_the_answer(shelf, status, size, head, closing):
    """Clients that send all before they read, and say that they send no more, get the answer and no reset."""
    with running(shelf.open, timeout=PATIENCE) as served, connected(served) as client:
        client.sendall(head + closing + b"Content-Length: %d\r\n\r\n" % size)
        answer = client.recv(1 << 16)
        client.sendall(b"x" * size)
        client.shutdown(socket.SHUT_WR)
        answer += b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.endswith(b"}")


def test_a_refused_body_that_does_not_end_has_a_time(shelf):
    """What is thrown away is read no longer than a client has for its headers; its answer is there, and ends."""
    with running(shelf.open, timeout=0.5) as served, connected(served) as endless:
        endless.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
        endless.sendall(b"Transfer-Encoding: chunked\r\n\r\n")
        answer = b"".join(iter(lambda: endless.recv(1 << 16), b""))
        assert answer.startswith(b"HTTP/1.1 404 ")
        with pytest.raises(OSError, match=r"reset|[Pp]ipe"):
            flood(endless)


def flood(connection):
    """Send without end."""
    while True:
        connection.sendall(b"a" * 1_000_000)


CHUNKS = b"POST /query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"


ENDLESS = {
    "address": b"GET /" + b"a" * 100,
    "headers": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    "trailers": CHUNKS + b"X-Long: ",
}


@pytest.mark.parametrize("begun", ENDLESS.values(), ids=ENDLESS)
def test_what_stands_around_a_body_has_an_end(shelf, begun, monkeypatch):
    """An address, headers and trailers that go on and on: the connection is closed before much of them is held."""
    monkeypatch.setattr(connections, "_HEADER_SECONDS", PATIENCE)
    with running(shelf.open, timeout=PATIENCE) as served, connected(served) as endless:
        endless.sendall(begun)
        with pytest.raises(OSError, match=r"reset|[Pp]ipe"):
            endless.sendall(b"a" * 100_000_000)
        assert not served.metric("nearsame_refused_total", code="idle")


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
ASK = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def test_headers_are_bounded_in_number(shelf):
    """Each takes many times its bytes: the connection of one with thousands is closed."""
    with running(shelf.open) as served, connected(served) as usual, connected(served) as many:
        usual.sendall(HEALTH + b"a: b\r\n" * 90 + b"\r\n")
        assert usual.recv(1000).startswith(b"HTTP/1.1 200 ")
        many.sendall(HEALTH + b"a:\r\n" * 2000 + b"\r\n")
        assert ended(many)
        assert 1 == served.metric("nearsame_refused_total", code="headers")
        with connected(served) as long:  # all of it at once, too
            long.sendall(HEALTH + b"a: " + b"b" * 70_000 + b"\r\n\r\n")
            assert ended(long)
        usual.sendall(HEALTH + b"a: " + b"b" * 60_000 + b"\r\n\r\n")
        assert usual.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_requests_sent_ahead_of_their_answers_are_bounded(shelf):
    """Some are answered in their order; thousands would be held as objects, many times their bytes."""
    with running(shelf.open) as served, connected(served) as some, connected(served) as many:
        some.sendall((HEALTH + b"\r\n") * 10 + HEALTH + b"Connection: close\r\n\r\n")
        assert 11 == b"".join(iter(lambda: some.recv(1 << 16), b"")).count(b"HTTP/1.1 200 ")
        many.sendall((HEALTH + b"\r\n") * 1000)
        assert ended(many)
        assert 1 == served.metric("nearsame_refused_total", code="pipeline")


def test_no_request_is_answered_by_what_is_said_of_the_bytes_behind_it(shelf):
    """A request, then what is no HTTP: the connection ends without a 400 that the client would take for its answer."""
    shelf.gate.clear()
    body = b'{"text": "a"}'
    with running(shelf.open, timeout=PATIENCE) as served, connected(served) as mixed:
        mixed.sendall(ASK % len(body) + body)
        eventually(lambda: served.metric("nearsame_request_bytes_held"))
        mixed.sendall(b"nothing that HTTP knows\r\n\r\n")
        closed = ended(mixed)
        shelf.gate.set()
        assert closed


def test_health_is_answered_when_every_connection_is_busy(shelf):
    """Those that ask for something else are told to come back."""
    with running(shelf.open, connections=4, timeout=PATIENCE) as served, ExitStack() as stack:
        shelf.gate.clear()
        busy = [stack.enter_context(connected(served)) for _ in range(2)]  # one address has half of all
        body = json.dumps({"text": "a"}).encode()
        lines = ["POST /query HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
        for connection in busy:
            connection.sendall(head.encode() + body)
        while served.metric("nearsame_request_bytes_held") < 2 * len(body):
            time.sleep(0.01)
        answers = [httpx.get(f"{served.url}{path}", timeout=PATIENCE) for path in ("/healthz", "/readyz", "/stats")]
        shelf.gate.set()
        assert [200, 200, 503] == [answer.status_code for answer in answers]
        assert ("connections", "1") == (answers[2].json()["code"], answers[2].headers["retry-after"])
        assert all(b" 200 " in connection.recv(1000) for connection in busy)


def test_a_client_that_does_not_read_is_not_waited_for(shelf):
    """An answer that stays in its way is thrown away with the connection."""
    shelf.documents["x"] = {"id": "x", "text": "word " * 1_000_000}
    with running(shelf.open, timeout=0.5) as served, connected(served) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /documents/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        eventually(lambda: served.metric("nearsame_refused_total", code="idle"))
        assert 1 == served.metric("nearsame_refused_total", code="idle")


def test_a_client_that_hangs_up_is_no_error_of_ours(shelf):
    """In the middle of its body: status 499 in the log, and nothing unexpected."""
    with running(shelf.open) as served:
        for path, kind in (
            ("/query", "text/plain"),
            ("/", "multipart/form-data; boundary=x"),
            ("/documents", "application/json"),
        ):
            with connected(served) as gone:
                head = (
                    f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: 100\r\n\r\n--x"
                )
                gone.sendall(head.encode())
        assert [499] * 3 == [event["status"] for event in served.events("request", 3)]
        assert [] == served.events("unexpected")


def test_a_client_that_hangs_up_behind_several_questions_is_no_error_of_ours(shelf):
    """Its connection has gone for all of them, not for the last alone."""
    shelf.gate.clear()
    body = b'{"text": "a"}'
    with running(shelf.open, timeout=PATIENCE) as served:
        with connected(served) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # hang up at once
            gone.sendall((ASK % len(body) + body) * 3)
            eventually(lambda: served.metric("nearsame_request_bytes_held"))
        shelf.gate.set()
        served.events("request", 1)
        assert [] == served.events("unexpected")


STUCK = textwrap.dedent("""
    import sys, threading
    from tests.service.fakes import FakeIndex, Shelf
    from nearsame.service.server import serve
    from nearsame.service.settings import Settings
    FakeIndex.query = lambda *_, **__: threading.Event().wait() if stuck else [[]]
    stuck = False
    def say(address):
        global stuck
        stuck = True
        print(address, flush=True)
    serve(Shelf().open, "stuck", Settings(port=0, timeout=0.5, readers=1), say=say)
""")


@pytest.mark.slow
def test_a_signal_ends_the_process_whatever_it_does():
    """A reader that never ends: the client is told, and SIGTERM is the end of it, with an exit code that says so."""
    run = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = run.stdout.readline().strip()
        assert 503 == httpx.post(f"{url}/query", json={"text": "a"}, timeout=PATIENCE).status_code
        run.send_signal(signal.SIGTERM)
        _, log = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
        run.communicate()
    assert 1 == run.returncode
    assert "something took too long" in log


def test_a_text_that_is_not_unicode_is_answered_and_shown(tmp_path):
    """A file of JSON may have half a surrogate pair: where texts go out it is an escape, or stands as U+FFFD."""
    whole = "a rose is a rose by any other name would smell as sweet in my garden today"
    half = whole.replace("any other", "any \ud800 ot\udfffher")
    with ns.Index.create(tmp_path / "a.ns", method=ns.MinHash(threshold=0.3), store="text") as index:
        index.add([{"id": "whole", "text": whole}, {"id": "half", "text": half}])
        entry, likeness = index.get("half"), index.compare("whole", "half")

    def opened(*, read_only):
        return ns.Index.open(tmp_path / "a.ns", read_only=read_only)

    with running(opened, timeout=PATIENCE) as served, ns.Client(served.url, timeout_seconds=PATIENCE) as client:
        assert (entry, half) == (client.get("half"), client.text("half"))
        assert half == json.loads(served.client.get("/documents/half").content)["text"]
        for given in ({"a": "whole", "b": "half"}, {"a": {"text": whole}, "b": {"id": "half"}}):
            found = served.client.post("/compare", json=given).json()
            assert (likeness.similarity, likeness.similar) == (found["measures"][0]["similarity"], found["similar"])
        pages = [served.client.get(path) for path in ("/clusters", "/search?q=half", "/document?id=half")]
        pages += [served.client.get("/side-by-side?a=half&b=whole"), served.client.post("/", data={"text": whole})]
        assert [200] * 5 == [page.status_code for page in pages]
        assert all("\ufffd" in page.text for page in pages)
        assert not [event for event in served.events() if event.get("level") == "error"]


@pytest.mark.parametrize("place", ["//[", "http://[", "\\\\[", "//%5B"])
def test_an_address_that_is_none_is_answered(tmp_path, place):
    """Where to go on to, and where a request says that it comes from."""
    tokens, token = tmp_path / "tokens", "w" * 20
    tokens.write_text(f"write {token}\n")
    tokens.chmod(0o600)
    with running(Shelf().open, token_file=tokens) as served:
        assert 200 == served.client.get(f"/sign-in?next={place}").status_code
        signed = served.client.post("/sign-in", data={"next": place, "token": token}, follow_redirects=False)
        assert (303, "/") == (signed.status_code, signed.headers["location"])
        asked = served.client.post(
            "/query", json={"text": "a"}, headers={"Origin": place, "Authorization": f"Bearer {token}"}
        )
        assert 403 == asked.status_code
        assert not [event for event in served.events() if event.get("level") == "error"]


UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nHTTP2-Settings: AAMAAABk\r\n"
LENGTH, CHUNKS = b"Content-Length: 11\r\n\r\nhallo world", b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKS += b"5\r\nhallo\r\n6\r\n world\r\n0\r\n\r\n"


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"foo/2"])
def test_a_request_for_another_protocol_is_answered_as_without(shelf, protocol, cut):
    """Java's client asks for HTTP/2 with its first request: its body is no other protocol's, and nothing is lost."""
    asks = UPGRADE % protocol
    post = b"POST /documents?id=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    plain = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    sent = post % b"d" + asks + b"Content-Length: 0\r\n\r\n" + post % b"e" + asks + b"\r\n"  # no bodies
    sent += (
        post % b"a" + asks + LENGTH + plain + asks + b"\r\n" + post % b"b" + asks + CHUNKS + post % b"c" + LENGTH + last
    )
    with running(shelf.open, timeout=PATIENCE) as served:
        with socket.create_connection(("127.0.0.1", urlsplit(served.url).port), PATIENCE) as client:
            for start in range(0, len(sent), cut):
                client.sendall(sent[start : start + cut])
            answers = b"".join(iter(lambda: client.recv(1 << 16), b""))
        assert 7 == answers.count(b"HTTP/1.1 200 OK")
        assert dict.fromkeys("de", "") | dict.fromkeys("abc", "hallo world") == {
            id: one["text"] for id, one in shelf.documents.items()
        }


@pytest.mark.parametrize("kind", ["text/plain", "application/x-ndjson"])
def test_a_body_of_another_length_than_it_says_is_refused(kind):
    """Whatever takes bytes away: what is left of a document is none."""

    async def taken(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    async def received():
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"content-type", kind.encode()), (b"content-length", b"11")]
    scope = {"type": "http", "path": "/documents", "raw_path": b"/documents", "query_string": b"", "headers": headers}
    with pytest.raises(HttpProblem, match="0 bytes, not 11"):
        asyncio.run(Limits(taken, Settings(), Metrics())(scope, received, None))


def test_a_length_beyond_all_numbers_is_refused_and_logged(shelf):
    """Python makes no number of more than 4,300 digits; the log has the bytes that came, not those that were said."""
    kind = b"Content-Type: text/plain\r\n"
    with running(shelf.open) as served, connected(served) as zeros, connected(served) as chunks:
        zeros.sendall(POST % (b"/query", b"localhost") + kind + b"Content-Length: " + b"0" * 5000 + b"4\r\n\r\na b ")
        answer = zeros.recv(1 << 16)
        assert b'"code":"invalid","detail":"the Content-Length has 5,001 digits' in answer or b" 400 " in answer
        chunks.sendall(POST % (b"/query", b"localhost") + kind + CHUNKS)
        assert chunks.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        served.client.post("/nothing", content=b"a" * 10)
        assert {0, 11} == {event["bytes_in"] for event in served.events("request", 3)}


@pytest.mark.parametrize("charset", ["undefined", "punycode", "idna", "no-such"])
@pytest.mark.parametrize("path", ["/", "/side-by-side", "/document"])
def test_a_form_in_no_charset_is_refused(shelf, tmp_path, path, charset):
    """As a raw body is: what Python calls so raises what no reader of forms expects, or takes long."""
    part = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\na-b\xff\r\n--x--\r\n'
    with running(shelf.open, decisions=str(tmp_path / "d.tsv")) as served:
        headers = {"Content-Type": f'multipart/form-data; charset="{charset}"; boundary=x'}
        answer = served.client.post(path, content=part, headers=headers)
        assert (415, "media-type") == (answer.status_code, answer.json()["code"])
