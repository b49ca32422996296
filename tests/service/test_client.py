"""The client of the service: as the index itself, by the same names, with the same answers and exceptions."""

import http.client
import json
import os
import pickle
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import nearsame as ns
from nearsame.service.client import ELSEWHERE
from tests.patience import PATIENCE, eventually
from tests.service.fakes import Shelf
from tests.service.running import running

ROOT = Path(__file__).parents[2]
ROSE = "a rose is a rose is a rose is a rose by any other name would smell as sweet as this one rose in my garden"
SOURCE = [
    {"id": "a/b ü", "text": ROSE, "url": "https://example.org/1", "lang": "en"},
    {"id": "b", "text": f"{ROSE} today", "lang": "de"},
    {"id": "c", "text": f"{ROSE} today and tomorrow"},
]
METHODS = [ns.MinHash(), "simhash", "digest", "url"]
DAY = datetime(2024, 1, 2, 3, 4, tzinfo=UTC)
CALLS = {
    "add": lambda index: index.add(SOURCE),
    "add again": lambda index: index.add({"id": "b", "text": "other"}, limit=1),
    "replace": lambda index: index.add(SOURCE[1] | {"lang": "fr"}, replace=True, matches=False),
    "if new": lambda index: index.add([ROSE, "something else altogether"], if_new=True),
    "query": lambda index: index.query(ROSE, limit=2),
    "ask many": lambda index: index.query([ROSE, {"url": "https://example.org/1", "text": ""}], where="lang=en|fr"),
    "exact values": lambda index: index.query(ROSE, where={"lang": ["en", "fr"]}, threshold=0.9),
    "below": lambda index: index.query(ROSE, threshold=0.5).recall,
    "duplicates": lambda index: index.duplicates("a/b ü", where={"lang": "fr"}),
    "odd values": lambda index: [
        found
        for value in (None, [], {"en"}, ("en", None), DAY, 2024, np.int64(2024), True)
        for found in (index.query(ROSE, where={"lang": value}), index.duplicates("a/b ü", where={"lang": value}))
    ],
    "odd numbers": lambda index: index.query(ROSE, limit=np.int64(1), where=("lang=en",)),
    "compare": lambda index: index.compare("a/b ü", "b"),
    "get": lambda index: index.get("a/b ü"),
    "text": lambda index: index.text("b"),
    "clusters": lambda index: index.clusters(members=2),
    "search": lambda index: [*index.ids(containing="Example.ORG /1")],
    "grouped": lambda index: index.grouped(),
    "ids": lambda index: [*index.ids(after="a/b ü", limit=3)],
    "records": lambda index: index.records(),
    "records behind an id": lambda index: index.records(after="a/b ü", number=7, limit=2),
    "records behind a number": lambda index: index.records(number=index.records(limit=2)[-1][0]),
    "no more records": lambda index: index.records(number=(1 << 63) - 1),
    "stats": lambda index: replace(index.stats(), where="", bytes=0, bytes_per_document=0),
    "a day": lambda index: index.add({"id": "t", "text": ROSE, "lang": DAY}),
    "of the day": lambda index: [index.query(ROSE, where={"lang": day}) for day in (DAY, [DAY], str(DAY))],
    "a year": lambda index: index.add({"id": "y", "text": ROSE, "lang": 2024}, limit=np.int64(1)),
    "of the year": lambda index: [index.duplicates("b", where={"lang": year}) for year in (2024, [2024, None], "2024")],
    "remove": lambda index: index.remove(["b", "nobody"]),
    "every id": lambda index: [*index.ids()],
}  # fmt: skip
MISTAKES = [
    lambda index: index.get("nobody"),
    lambda index: index.remove("nobody", missing_ok=False),
    lambda index: index.query(ROSE, where="lnag=en"),
    lambda index: index.query(ROSE, limit=0),
    lambda index: index.records(limit=0),
    lambda index: index.records(number=-1),
    lambda index: index.records(after="nobody"),
    lambda index: index.add({"id": 3.5, "text": ROSE}),
    lambda index: index.add(ROSE, if_new=True, replace=True),
]


@pytest.fixture
def both(tmp_path):
    """An index, and a client of another one's service."""
    for name in "ab":
        ns.Index.create(tmp_path / f"{name}.ns", method=METHODS, store="text", keep_columns="lang").close()

    def opened(*, read_only):
        return ns.Index.open(tmp_path / "b.ns", read_only=read_only)

    with (
        ns.Index.open(tmp_path / "a.ns") as index,
        running(opened, timeout=PATIENCE) as served,
        ns.Client(served.url, timeout_seconds=PATIENCE) as client,
    ):
        yield index, client


def test_a_client_answers_as_the_index_does(both, tmp_path):
    """Every method that both have; of a source, too, and to a file."""
    for name, call in CALLS.items():
        assert (name, call(both[0])) == (name, call(both[1]))
    file = tmp_path / "more.jsonl"
    file.write_text(
        "".join(f"{json.dumps({'id': f'm{n}', 'text': f'word{n} and other{n}', 'lang': 'en'})}\n" for n in range(510))
    )
    for call in (
        lambda index: [added for batch in index.add_batches(str(file), matches=False) for added in batch],
        lambda index: [*index.query_batches(str(file), limit=1, where="lang=en")][-1][1][-1],
        lambda index: index.export(tmp_path / "out.jsonl", overwrite=True),
        lambda index: (tmp_path / "out.jsonl").read_text(),
    ):
        assert call(both[0]) == call(both[1])
    for call in MISTAKES:
        kinds = []
        for index in both:
            with pytest.raises(ns.NearSameError) as found:
                call(index)
            kinds.append(found.type)
        assert 1 == len(set(kinds))


def test_its_methods_are_those_of_an_index():
    """The same names, arguments and defaults; what is done elsewhere is told by the error, and by a table."""
    methods = {name for name in dir(ns.Index) if not name.startswith("_")}
    assert methods - {*ELSEWHERE} == {name for name in dir(ns.Client) if not name.startswith("_")}
    assert methods >= {*ELSEWHERE}
    for name in methods - {*ELSEWHERE}:
        own, others = (signature(getattr(kind, name)).parameters.values() for kind in (ns.Index, ns.Client))
        assert [(one.name, one.kind, one.default) for one in own] == [
            (one.name, one.kind, one.default) for one in others
        ]
    page = (ROOT / "docs" / "service.md").read_text("utf-8")
    with ns.Client("http://127.0.0.1:9") as client:
        for name, instead in ELSEWHERE.items():
            message = f"'Client' object has no attribute '{name}'. {instead}"
            with pytest.raises(AttributeError, match=re.escape(message)):
                getattr(client, name)
            assert f"| `{name}` | {instead} |" in page
        with pytest.raises(AttributeError, match=r"no attribute 'adds'$"):
            client.adds  # noqa: B018  (a mistake)


def test_records_come_whatever_their_texts(tmp_path):
    """More than a part of them, one that is larger than a part, and one that is not UTF-8."""
    texts = [f"word{number}" for number in range(60)] + ["word " * 300_000, "half a pair \ud800", "the last"]
    shelf = Shelf()
    shelf.documents = {f"d{number}": {"id": f"d{number}", "text": text} for number, text in enumerate(texts)}
    with running(shelf.open, timeout=PATIENCE) as served, ns.Client(served.url, timeout_seconds=PATIENCE) as client:
        everything = shelf.open(read_only=True).records()
        assert everything == client.records()
        assert everything[3:61] == client.records(after="d2", limit=58)
        behind, number = [], 0
        while page := client.records(number=number, limit=7):
            behind += page
            number = page[-1][0]
        assert everything == behind
        kept = client._wire._connection.sock
        assert kept is not None  # what was read to its end needs no other connection
        client.records(limit=1)
        assert kept is client._wire._connection.sock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_gets_its_own_answers(tmp_path):
    """By a connection of its own: of two that ask by one, each may get what the other has asked for."""
    shelf = Shelf()
    shelf.documents = {name: {"id": name, "text": f"text {name}"} for name in "ab"}
    with running(shelf.open, timeout=PATIENCE) as served, ns.Client(served.url, timeout_seconds=PATIENCE) as client:
        client.records()
        kept = client._wire._connection.sock
        child = os.fork()
        if not child:
            found = client.records()  # in a process that has the service's sockets, but none of its threads
            os._exit(
                0 if [1, 2] == [number for number, _ in found] and client._wire._connection.sock is not kept else 1
            )
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert kept is client._wire._connection.sock
        assert client.records()
        assert kept is client._wire._connection.sock


def test_what_goes_wrong_is_an_exception_of_the_library(tmp_path):
    """No service, no token, a service that only reads, one that is busy for too long, and one that breaks off."""
    with pytest.raises(ns.ConfigError, match="not the address of a service"):
        ns.Client("seen.ns")
    with pytest.raises(ns.StoreError, match="cannot be reached"):
        ns.Client("http://127.0.0.1:9").stats()
    tokens, shelf = tmp_path / "tokens", Shelf()
    tokens.write_text(f"read {'r' * 20}\n")
    tokens.chmod(0o600)
    with running(shelf.open, token_file=tokens) as served:
        for token, message in [(None, "token"), ("r" * 20, "token")]:
            with ns.Client(served.url, token) as client, pytest.raises(ns.ConfigError, match=message):
                client.remove("a")
    shelf.gate.clear()
    with running(shelf.open, timeout=0.2) as served:
        with ns.Client(served.url, timeout_seconds=1) as client, pytest.raises(ns.StoreBusyError):
            client.query("a")
        shelf.gate.set()


PLACES = ["http://h:99999", "http://h:abc", "http://[::1", "http://a b", "http://", "ftp://h"]


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_address_is_said(place):
    """Before anything is asked."""
    with pytest.raises(ns.ConfigError, match="not the address of a service"):
        ns.Client(place)


@pytest.mark.parametrize("name", ["h" * 64, "a..b", "h\u20ac" * 40])
def test_a_name_that_none_can_be_is_not_reached(name):
    """When it is asked for."""
    with pytest.raises(ns.StoreError, match="cannot be reached"):
        ns.Client(f"http://{name}").stats()


@pytest.mark.parametrize("token", ["secret-of-mine\n", "secret-of-mine\u20ac", "secret-of-mine\x00"])
def test_a_token_that_no_header_can_have_is_not_shown(token):
    """It is refused before anything is asked."""
    with pytest.raises(ns.ConfigError, match="holds what no header") as found:
        ns.Client("http://127.0.0.1:9", token)
    assert "secret-of-mine" not in str(found.value)


def test_ids_go_on_behind_what_was_removed_meanwhile(both, monkeypatch):
    """As those of an index do, from the last one that is still there."""
    monkeypatch.setattr("nearsame.service.client._IDS", 3)
    _, client = both
    client.add([{"id": f"d{n}", "text": f"one {n}"} for n in range(8)])
    ids = client.ids()
    first = [next(ids) for _ in range(3)]
    client.remove(["d1", "d2"])
    assert [f"d{n}" for n in range(8)] == first + list(ids)


def test_a_connection_that_was_closed_meanwhile_is_made_again(tmp_path):
    """A question is asked once more."""
    shelf = Shelf()
    with running(shelf.open) as served, ns.Client(served.url) as client:
        assert [] == client.query("a")
        client._wire._connection.sock.shutdown(2)
        assert [] == client.query("a")


def test_a_change_is_sent_once():
    """Over a connection that the service has closed meanwhile it is not sent at all; one in doubt is not sent again."""
    added = b'{"results": [{"id": "a", "status": "added", "matches": [], "added": true, "complete": true}]}'
    doubt = b'{"code": "interrupted", "detail": "in doubt", "status": 503}'
    answers = [
        b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
        for status, body in [(b"200 OK", added), (b"503 Oh", doubt), (b"200 OK", added)]
    ]
    server, url = spoken(answers)
    with server, ns.Client(url) as client:
        client._columns = ()
        assert ["added"] == [one.status for one in client.add([{"id": "a", "text": "b"}])]
        eventually(client._wire._is_closed_there)
        with pytest.raises(ns.InterruptedChangeError, match="in doubt"):
            client.add([{"id": "a", "text": "b"}])
        eventually(client._wire._is_closed_there)
        assert ["added"] == [one.status for one in client.add([{"id": "a", "text": "b"}])]


@pytest.mark.parametrize("id", ["a/../b", "x/duplicates", "https://example.org/x?y=1#z", "..", "a b+c%2F", "é\u0301"])
def test_a_document_is_asked_for_by_what_no_proxy_changes(tmp_path, id):
    """An id stands behind the question mark: paths are decoded, and made simpler, on their way."""
    shelf = Shelf()
    shelf.documents = {other: {"id": other, "text": "x"} for other in (id, "b", "x")}
    with running(shelf.open) as served, ns.Client(served.url) as client:
        assert id == client.get(id).id
        client.duplicates(id)
        assert 1 == client.remove(id)
        assert {"b", "x"} - {id} == set(shelf.documents)
        asked = [event["route"] for event in served.events("request", 3)]
        assert ["/by-id", "/by-id/duplicates", "/by-id"] == asked
        for asked in ("/by-id?id=b&id=x", "/documents?limit=1&limit=2", "/export?number=1&number=2"):
            assert 422 == served.client.get(asked).status_code


def test_the_client_needs_nothing_of_the_service(tmp_path):
    """Neither FastAPI nor uvicorn is loaded."""
    code = "import sys, nearsame as ns; ns.Client('http://127.0.0.1:9'); print({'fastapi', 'uvicorn'} & {*sys.modules})"
    assert "set()\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def spoken(answers):
    """A server on loopback that gives each connection the next of these bytes, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        for answer in answers:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return server, f"http://127.0.0.1:{server.getsockname()[1]}"


NDJSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
CHUNKED, LINE = NDJSON + b"Transfer-Encoding: chunked\r\n\r\n", b'{"id": "a"}\n'
BROKEN = {
    "between chunks": CHUNKED + b"c\r\n" + LINE + b"\r\n",
    "in a chunk": CHUNKED + b"1c\r\n" + LINE,
    "in what has a length": NDJSON + b"Content-Length: 5000\r\n\r\n" + LINE,
    "in a line": NDJSON + b"Content-Length: 5000\r\n\r\n" + LINE[:4],
    "no end is told": NDJSON + b"\r\n" + LINE,
    "no end of the last line": NDJSON + b"Content-Length: 4\r\n\r\n" + LINE[:4],
    "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: https://x/\r\nContent-Length: 0\r\n\r\n",
    "nothing": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
    "a page at first": b"HTTP/1.1 301 Moved\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_an_export_that_breaks_off_replaces_nothing(tmp_path, answer):
    """Python's own reading of lines takes a broken connection for the end."""
    (tmp_path / "all.jsonl").write_text("before")
    server, url = spoken([answer] * 2)
    with server, ns.Client(url) as client:
        with pytest.raises(ns.StoreError):
            client.export(tmp_path / "all.jsonl", overwrite=True)
        assert "before" == (tmp_path / "all.jsonl").read_text()
        with pytest.raises(ns.StoreError):
            client.records()


def test_what_is_whole_is_exported(tmp_path):
    """By chunks that end anywhere, and by length."""
    chunked = CHUNKED + b"".join(b"5\r\n%s\r\n" % (LINE * 5)[at : at + 5] for at in range(0, 60, 5)) + b"0\r\n\r\n"
    server, url = spoken([chunked, NDJSON + b"Content-Length: 24\r\n\r\n" + LINE * 2])
    with server:
        for number in (5, 2):
            with ns.Client(url) as client:
                assert number == client.export(tmp_path / f"{number}.jsonl")
                assert LINE * number == (tmp_path / f"{number}.jsonl").read_bytes()


def test_an_export_waits_for_a_busy_service(tmp_path):
    """As all questions do, until the time is over."""
    busy = b"HTTP/1.1 429 Oh\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    whole = NDJSON + b"Content-Length: 12\r\n\r\n" + LINE
    server, url = spoken([busy, busy, whole, busy.replace(b": 0", b": 99", 1)])
    with server:
        with ns.Client(url) as client:
            assert 1 == client.export(tmp_path / "all.jsonl")
        with ns.Client(url) as client, pytest.raises(ns.StoreBusyError):
            client.records()


@pytest.mark.parametrize("letter", ["x", "é"])
def test_long_ids_are_asked_for_as_others_are(tmp_path, letter):
    """Addresses of pages are some thousand characters long at times."""
    ids = [letter * 1_001, letter * 9_999]
    with ns.Index.create(tmp_path / "a.ns") as index:
        index.add([{"id": id, "text": "one two three four five six"} for id in ids])
    with running(partial(ns.Index.open, tmp_path / "a.ns")) as served, ns.Client(served.url) as client:
        assert sorted(ids) == sorted(client.ids())
        assert 1 == client.compare(*ids).similarity
        assert 1 == len([*client.duplicates(ids[0])])
        for path in ("/document?id=", "/side-by-side?a=x&b=", "/search?q=rose&after=", "/export?after="):
            assert served.client.get(f"{path}{ids[0]}").status_code in {200, 404}


STRANGE = [b"<html>", b"", b"[]", b"null", b"{}", b'{"results": 3}', b'{"results": [null]}', b"\xff", b'"x"']


@pytest.mark.parametrize("body", STRANGE)
@pytest.mark.parametrize("status", [b"200 OK", b"204 No Content", b"302 Found", b"418 Teapot", b"500 Oh"])
def test_another_server_is_told_from_a_service(body, status):
    """A login page, a proxy: whatever is asked, it is an exception of the library."""
    answer = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
    asked = [
        lambda client: client.query("a"),
        lambda client: client.add("a"),
        lambda client: client.get("a"),
        lambda client: client.stats(),
        lambda client: client.clusters(),
        lambda client: client.grouped(),
        lambda client: [*client.ids()],
        lambda client: client.compare("a", "b"),
        lambda client: client.duplicates("a"),
        lambda client: client.remove("a"),
    ]
    server, url = spoken([answer] * 2 * len(asked))
    with server:
        for ask in asked:
            with ns.Client(url) as client, pytest.raises(ns.NearSameError, match=re.escape(url)):
                ask(client)


def test_a_problem_may_be_of_any_form():
    """Without words, or with a code that is none."""
    for body in (b'{"code": "x"}', b'{"code": [1], "detail": "d"}', b'{"code": 5}'):
        answer = b"HTTP/1.1 409 Conflict\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        server, url = spoken([answer] * 2)
        with server, ns.Client(url) as client, pytest.raises(ns.NearSameError, match=r"409|: d$"):
            client.stats()


def test_a_newer_service_may_say_more():
    """What a client does not know it passes over."""
    match = {"id": "a", "similarity": 1.0, "measure": "jaccard", "url": None, "found_by": [], "new": 1}
    body = json.dumps({"results": [{"matches": [match], "complete": True, "other": 2}], "more": 3}).encode()
    server, url = spoken([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body] * 2)
    with server, ns.Client(url) as client:
        assert ["a"] == [one.id for one in client.query("a")]


def test_what_is_sent_at_once_is_bounded_by_all_that_is_sent(both):
    """Columns and what JSON spells with six signs count, too."""
    index, client = both
    documents = [{"id": f"{n}", "text": "\x01" * 6000 + f" word{n}", "lang": "x" * 9000} for n in range(400)]
    assert [one.id for one in index.add(documents)] == [one.id for one in client.add(documents)]


def test_threads_that_share_a_client_get_their_own_answers(both):
    """Each waits for its turn at the connection."""
    _, client = both

    def work(number):
        (added,) = client.add({"id": str(number), "text": f"{ROSE} {number}"})
        return added.id, client.get(str(number)).id, str(number) in list(client.ids())

    with ThreadPoolExecutor(6) as pool:
        assert [(str(number), str(number), True) for number in range(60)] == list(pool.map(work, range(60)))
    assert {str(number) for number in range(60)} == set(client.ids())


@pytest.mark.parametrize("at", ["request", "getresponse", "read", "close"])
def test_an_answer_that_somebody_did_not_wait_for_is_nobody_elses(both, monkeypatch, at):
    """Whoever is interrupted, in a notebook, and goes on."""
    _, client = both
    client.add(SOURCE)
    kind = http.client.HTTPConnection if at in ("request", "getresponse") else http.client.HTTPResponse
    usual = getattr(kind, at)

    def interrupted(*given, **settings):
        monkeypatch.setattr(kind, at, usual)
        if at == "request":
            usual(*given, **settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, at, interrupted)
    with pytest.raises(KeyboardInterrupt):
        client.get("b")
    assert ("c", "a/b \u00fc") == (client.get("c").id, client.get("a/b \u00fc").id)
    assert ["a/b \u00fc", "b", "c"] == list(client.ids())


def test_a_client_that_has_asked_nothing_goes_to_other_processes(both):
    """As what a task of Spark's or a pool's is given."""
    _, client = both
    client.add(SOURCE)
    with pickle.loads(pickle.dumps(ns.Client(client._wire.url))) as fresh:  # noqa: S301  (what was just dumped)
        assert list(client.ids()) == list(fresh.ids())
