"""Lines of JSON through one request: in groups, with bounds, and with an answer to each."""

import asyncio
import contextlib
import json
import socket
import threading
from contextlib import ExitStack
from typing import ClassVar

import httpx
import pytest

import nearsame as ns
from nearsame.service import streaming
from tests.patience import PATIENCE, eventually
from tests.service.fakes import Shelf
from tests.service.running import running

LINES = {"Content-Type": "application/x-ndjson"}


def lines_of(answer):
    """What was answered, line by line; the last one apart."""
    assert (200, "application/x-ndjson") == (answer.status_code, answer.headers["content-type"])
    *lines, last = [json.loads(line) for line in answer.iter_lines()]
    return lines, last


@pytest.fixture
def shelf():
    """An empty index."""
    return Shelf()


def test_lines_are_added_and_asked_about(shelf):
    """In order; empty lines count, and are passed over; the settings stand in the URL."""
    sent = (
        b'{"id": "a", "text": "one two three"}\n\n{"id": "b", "text": "one two three four", "columns": {"lang": "en"}}'
    )
    with running(shelf.open) as served:
        lines, last = lines_of(served.client.post("/documents", content=sent, headers=LINES))
        assert [(1, "a", "added"), (3, "b", "added")] == [(x["line"], x["id"], x["status"]) for x in lines]
        assert {"done": True, "lines": 3, "errors": 0, "added": 2} == last
        lines, last = lines_of(served.client.post("/documents?if_new=true", content=sent, headers=LINES))
        assert ["present", "present"] == [line["status"] for line in lines]
        more = b'{"id": "c", "text": "nine"}\n' + sent
        lines, last = lines_of(served.client.post("/documents?quiet=true", content=more, headers=LINES))
        assert ([2, 4], 1) == ([line["line"] for line in lines], last["added"])
        asked = b'{"text": "one two three"}\n{"text": "nothing"}\n'
        lines, last = lines_of(served.client.post("/query?limit=1&where=lang=en", content=asked, headers=LINES))
        assert [["b"], []] == [[match["id"] for match in line["matches"]] for line in lines]
        refused = served.client.post("/documents?id=a", content=sent, headers=LINES)
        assert (409, "settings") == (refused.status_code, refused.json()["code"])
        assert 415 == served.client.post("/compare", content=sent, headers=LINES).status_code


def test_a_wrong_line_is_answered_in_its_place(shelf):
    """Not as described, too long, or refused by the index: the others go on, in few transactions."""
    sent = [b'{"id": "%d", "text": "word%d"}' % (number, number) for number in range(64)]
    sent[3] = b'{"id": "3"'
    sent[5] = b'{"id": "5", "txt": "word"}'
    sent[7] = b'{"id": "7", "text": "%s"}' % (b"x" * 5000)
    sent[9] = b'{"id": "9", "text": "%s"}' % (b"x " * 900)
    with running(shelf.open, max_body=4000, max_text=1000) as served:
        lines, last = lines_of(served.client.post("/documents", content=b"\n".join(sent), headers=LINES))
        assert list(range(1, 65)) == [line["line"] for line in lines]
        faults = {line["line"]: line["error"]["code"] for line in lines if "error" in line}
        assert {4: "invalid", 6: "invalid", 8: "too-large", 10: "too-large"} == faults
        assert {"done": True, "lines": 64, "errors": 4, "added": 60} == last
        assert 60 == len(shelf.documents)


def test_what_the_index_refuses_is_refused_line_by_line(tmp_path):
    """A column that it does not keep, in one of many documents; the rest goes in."""
    sent = [{"id": str(number), "text": f"word{number}"} for number in range(50)]
    sent[20]["columns"] = {"lang": "en"}
    with ns.Index.create(tmp_path / "test.ns"):
        pass
    with running(lambda *, read_only: ns.Index.open(tmp_path / "test.ns", read_only=read_only)) as served:
        content = "\n".join(map(json.dumps, sent)).encode()
        lines, last = lines_of(served.client.post("/documents", content=content, headers=LINES))
        assert ["config"] == [line["error"]["code"] for line in lines if "error" in line]
        assert ({"done": True, "lines": 50, "errors": 1, "added": 49}, 21) == (
            last, next(line["line"] for line in lines if "error" in line)
        )  # fmt: skip
        assert 49 == served.client.get("/stats").json()["documents"]
        exported = served.client.get("/export?after=2").text.splitlines()
        assert [f"{n}" for n in range(3, 50) if n != 20] == [json.loads(line)["id"] for line in exported]


def test_lines_are_answered_while_others_are_still_to_come(shelf):
    """A client that waits for an answer before it sends on gets it; what was answered is stored when it hangs up."""
    with running(shelf.open, timeout=PATIENCE) as served:
        host, port = served.client.base_url.host, served.client.base_url.port
        with socket.create_connection((host, port)) as client, client.makefile("rb") as answers:
            head = "POST /documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            for number in range(3):
                line = b'{"id": "%d", "text": "word%d"}\n' % (number, number)
                client.sendall(b"%x\r\n%s\r\n" % (len(line), line))
                while b'"status":"added"' not in (answer := answers.readline()):
                    assert answer
                assert f"{number}" in shelf.documents
        assert eventually(lambda: served.metric("nearsame_request_bytes_held") == 0)
        assert {"0", "1", "2"} == set(shelf.documents)
        assert not [event for event in served.events() if event.get("level") == "error"]


def test_lines_that_come_steadily_are_answered_soon(monkeypatch):
    """They have no end and no pause, and fill no group."""
    monkeypatch.setattr(streaming, "_PAUSE", 2 * PATIENCE)

    class Steady:
        """A request with a line every now and then."""

        scope: ClassVar = {"state": {}}
        lines = 0

        async def receive(self):
            """The next one."""
            self.lines += 1
            assert self.lines < 10_000
            await asyncio.sleep(0.001)
            return {"type": "http.request", "body": b'{"text": "one"}\n', "more_body": True}

    async def numbers():
        groups = streaming.groups(Steady(), 1000, 10**9, PATIENCE, lambda: None)
        async with contextlib.aclosing(groups):
            return [[line.number for line in await anext(groups)] for _ in range(2)]

    first, second = asyncio.run(numbers())
    assert [*range(1, second[-1] + 1)] == first + second


@pytest.mark.parametrize("piece", [b"\n", b" "])
def test_bytes_that_end_no_line_win_no_time(shelf, piece):
    """Else a few connections that say nothing would hold the memory of all others without end."""
    with running(shelf.open, timeout=0.5) as served:
        host, port = served.client.base_url.host, served.client.base_url.port
        with socket.create_connection((host, port)) as client:
            head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())

            eventually(lambda: served.metric("nearsame_request_bytes_held") > 0)

            def has_ended():
                try:
                    client.sendall(b"1\r\n%s\r\n" % piece)
                except OSError:
                    return True
                return served.metric("nearsame_request_bytes_held") == 0

            assert eventually(has_ended)


def test_streams_that_say_nothing_stop_nobody_else(shelf):
    """However many there are: a quarter of the memory is not for them, nor the rest for one that is too many."""
    held = "nearsame_request_bytes_held"
    head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    with running(shelf.open, max_body=1000, memory=8000, timeout=PATIENCE) as served, ExitStack() as streams:
        host, port = served.client.base_url.host, served.client.base_url.port
        for number in range(9):
            client = streams.enter_context(socket.create_connection((host, port)))
            client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            most = min(number + 1, 6)
            eventually(lambda most=most: served.metric(held) == 1000 * most)
        eventually(lambda: served.metric("nearsame_refused_total", code="busy") == 3)
        for size in (10, 900):
            assert 200 == served.client.post("/query", json={"text": "x" * size}).status_code
        assert 6000 == served.metric(held)


def test_memory_is_bounded_by_groups_however_many_lines_come(shelf, monkeypatch):
    """No group is larger than it may be, none of the body is kept, and a stream counts as one of the largest bodies."""
    monkeypatch.setattr(streaming, "_GROUP_BYTES", 2_000)
    with running(shelf.open, max_body=5_000, memory=14_000, max_batch=20, timeout=PATIENCE) as served:
        sent = (b'{"text": "word%d %s"}\n' % (number, b"x" * (number % 700)) for number in range(500))
        answer = served.client.post("/documents", content=sent, headers=LINES)
        assert {"done": True, "lines": 500, "errors": 0, "added": 500} == lines_of(answer)[1]
        assert max(shelf.transactions) <= 20
        shelf.gate.clear()
        one = b'{"text": "one"}'
        waiting = [
            threading.Thread(
                target=httpx.post,
                args=(f"{served.url}/documents",),
                kwargs={"content": one, "headers": LINES, "timeout": PATIENCE},
            )
            for _ in range(2)
        ]
        for thread in waiting:
            thread.start()
        assert eventually(lambda: served.metric("nearsame_request_bytes_held") == 10_000)
        assert 429 == served.client.post("/documents", content=one, headers=LINES).status_code
        shelf.gate.set()
        for thread in waiting:
            thread.join()


def test_all_documents_are_exported_in_parts(shelf):
    """However many a part has; of an index that is empty, nothing."""
    with running(shelf.open) as served:
        assert "" == served.client.get("/export").text
        for number in range(70):
            shelf.documents[f"d{number}"] = {"id": f"d{number}", "text": "\ud800" if number == 3 else "word"}
        exported = [json.loads(line) for line in served.client.get("/export").text.splitlines()]
        assert (list(shelf.documents.values())) == exported
        assert 404 == served.client.get("/export?after=nobody").status_code


@pytest.mark.parametrize("sent", [b"", b"\n\n \n", b"\xff\xfe\n", b'null\n1\n[]\n"x"\n', b"[" * 100_000 + b"\n{}"])
def test_hostile_lines_are_answered(shelf, sent):
    """With an error each, and never by a 5xx."""
    with running(shelf.open) as served:
        lines, last = lines_of(served.client.post("/query", content=sent, headers=LINES))
        assert (True, sum(bool(line.strip()) for line in sent.splitlines())) == (last["done"], last["errors"])
        assert all(line["error"]["status"] == 422 for line in lines)
