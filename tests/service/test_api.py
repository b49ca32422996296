"""The service as programs see it, around an index of a few lines."""

import gzip
import http.client
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from nearsame.errors import ConfigError, StoreError
from tests.patience import PATIENCE, eventually

from .fakes import FakeIndex, Shelf
from .running import running

READ, WRITE = "r" * 32, "w" * 32
SECRET = "a text that nobody else may ever read"  # noqa: S105  (no password, a document)


@pytest.fixture
def shelf():
    """An empty index."""
    return Shelf()


@pytest.fixture(scope="module")
def lasting():
    """A service for all tests that don't need one of their own, and its index."""
    shelf = Shelf()
    with running(shelf.open, timeout=PATIENCE) as found:  # the first comparison compiles
        yield shelf, found


@pytest.fixture
def emptied(lasting):
    """The same, as if new."""
    shelf, found = lasting
    shelf.documents.clear()
    found.log.seek(0)
    found.log.truncate()
    return shelf, found


@pytest.fixture
def served(emptied):
    """The service."""
    return emptied[1]


@pytest.fixture
def inside(emptied):
    """Its index."""
    return emptied[0]


@pytest.fixture
def tokens(tmp_path):
    """A token file."""
    path = tmp_path / "tokens"
    path.write_text(f"read {READ}\nwrite {WRITE} crawler\n", "utf-8")
    return path


def bearer(token):
    """The header."""
    return {"Authorization": f"Bearer {token}"}


def problem(answer, status, code):
    """An answer is a problem of this kind."""
    assert (status, "application/problem+json") == (answer.status_code, answer.headers["content-type"])
    found = answer.json()
    assert (status, code, answer.headers["x-request-id"]) == (found["status"], found["code"], found["request_id"])
    return found


def nothing_held(served):
    """Whether soon, for a request ends just after its answer, no bytes of requests are held."""
    return eventually(lambda: served.metric("nearsame_request_bytes_held") == 0)


def test_one_document_is_added_found_and_removed(served):
    """The whole life of a document, its id a URL."""
    client, id = served.client, "https://example.org/a b?c=d/ü"
    path = f"/documents/{httpx.URL('http://x').copy_with(params={'q': id}).query.decode()[2:].replace('+', '%20')}"
    answer = client.post("/documents", json={"id": id, "text": "one two three four"})
    assert (200, True, "added") == (answer.status_code, answer.json()["added"], answer.json()["status"])
    found = client.post("/query", json={"text": "one two three four five"}).json()["matches"]
    assert [(id, 0.8)] == [(match["id"], match["similarity"]) for match in found]
    client.post("/documents", json={"id": "en", "text": "one two three four", "columns": {"lang": "en"}})
    for where in ("lang=en", ["lang=en"], {"lang": ["en"]}):
        found = client.post("/query", json={"text": "one two three four", "where": where}).json()["matches"]
        assert [("en", {"lang": "en"})] == [(match["id"], match["columns"]) for match in found]
    problem(client.post("/query", json={"text": "one", "where": ["lnag=en"]}), 409, "config")
    raw = client.post(
        "/query", params={"where": "lang=en"}, content=b"one two three four", headers={"Content-Type": "text/plain"}
    )
    assert ["en"] == [match["id"] for match in raw.json()["matches"]]
    assert ["en"] == [m["id"] for m in client.get(f"{path}/duplicates?where=lang=en").json()["duplicates"]]
    assert "one two three four" == client.get(path).json()["text"]
    assert {"id": id, "removed": True} == client.delete(path).json()
    problem(client.get(path), 404, "unknown-id")
    problem(client.delete(path), 404, "unknown-id")
    problem(client.get(f"{path}/duplicates"), 404, "unknown-id")


def test_an_id_that_ends_like_a_route_is_an_id(served):
    """An encoded slash is part of the id."""
    served.client.post("/documents", json={"id": "a/duplicates", "text": "one two three"})
    assert "a/duplicates" == served.client.get("/documents/a%2Fduplicates").json()["id"]
    problem(served.client.get("/documents/a/duplicates"), 404, "unknown-id")


def test_a_batch_is_answered_in_order(served):
    """With if_new a document is compared with those before it in its batch, too."""
    documents = [{"id": f"d{n}", "text": text} for n, text in enumerate(["a b c d", "a b c e", "x y z"])]
    answer = served.client.post("/documents", json={"documents": documents, "if_new": True}).json()
    assert (2, ["added", "resembles", "added"]) == (answer["added"], [each["status"] for each in answer["results"]])
    assert "d0" == answer["results"][1]["matches"][0]["id"]
    found = served.client.post("/query", json={"documents": [{"text": "a b c d"}, {"text": "nothing"}]}).json()
    assert [["d0"], []] == [[match["id"] for match in each["matches"]] for each in found["results"]]


def test_raw_texts_need_no_json(served):
    """What curl --data-binary sends; settings stand in the URL."""
    plain = {"Content-Type": "text/plain; charset=iso-8859-1"}
    answer = served.client.post(
        "/documents?id=r&url=http://x/&if_new=true", content="é b c d".encode("latin-1"), headers=plain
    )
    assert "added" == answer.json()["status"]
    assert ("é b c d", "http://x/") == tuple(served.client.get("/documents/r").json()[name] for name in ("text", "url"))
    assert 1 == len(
        served.client.post("/query?limit=1", content="é b c d".encode(), headers={"Content-Type": "text/plain"}).json()[
            "matches"
        ]
    )
    problem(served.client.post("/query", content=b"\xff", headers={"Content-Type": "text/plain"}), 422, "invalid")
    problem(
        served.client.post("/query", content=b"a", headers={"Content-Type": "text/plain; charset=punycode"}),
        415,
        "media-type",
    )
    problem(served.client.post("/query?limit=3", json={"text": "a"}), 409, "settings")


def test_the_same_id_with_another_text_is_a_conflict(served):
    """Nothing is overwritten unless that is asked for."""
    post = served.client.post
    post("/documents", json={"id": "x", "text": "one two"})
    assert "present" == post("/documents", json={"id": "x", "text": "one two"}).json()["status"]
    problem(post("/documents", json={"id": "x", "text": "three four"}), 409, "conflict")
    assert "replaced" == post("/documents", json={"id": "x", "text": "three four", "replace": True}).json()["status"]


def test_two_texts_are_compared(served):
    """By every measure; a side may be a document of the index."""
    served.client.post("/documents", json={"id": "x", "text": "a rose is a rose is a rose is a rose by the river"})
    sides = {"a": "x", "b": {"text": "A rose is a rose is a rose is a rose by the river!"}}
    found = served.client.post("/compare", json=sides).json()
    assert (True, 1.0) == (found["similar"], found["measures"][0]["similarity"])
    assert 1 == len(found["passages"])
    problem(served.client.post("/compare", json={"a": "x", "b": "y"}), 404, "unknown-id")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", ""),
        (b"{", ""),
        (b"[]", ""),
        (b'{"id": "x"}', ""),
        (b'{"id": "x", "text": "a", "html": "b"}', ""),
        (b'{"id": "", "text": "a"}', "id"),
        (b'{"id": "x", "text": "a", "ifnew": true}', "ifnew"),
        (b'{"documents": []}', "documents"),
        (b'{"documents": [{"text": "a"}, {"text": 3}]}', "documents.1.text"),
        (b'{"id": "a\\u0000b", "text": "a"}', "id"),
        (b'{"id": "x", "text": "\\ud800"}', ""),
        (b'{"id": "x", "sketch": [-1]}', "sketch.0"),
    ],
)
def test_a_body_that_is_not_as_described_says_where(served, inside, body, place):
    """422, with the place of the mistake; nothing is written."""
    answer = served.client.post("/documents", content=body, headers={"Content-Type": "application/json"})
    assert place == problem(answer, 422, "invalid")["errors"][0]["place"]
    assert {} == inside.documents


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (["lang=en"] * 101, "where: List should have at most 100 items after validation, not 101"),
        (["lang=en", 5], "where.1: Input should be a valid string"),
        ({"lang": ["en", 5]}, "where.lang.1: Input should be a valid string"),
        (5, "where: Input should be a valid string"),
    ],
)
def test_of_what_may_be_of_several_types_the_closest_is_told(served, where, said):
    """Not that it is none of the others, and no name of a type of ours."""
    answer = served.client.post("/query", json={"text": "a", "where": where})
    assert said == problem(answer, 422, "invalid")["detail"]


def test_a_setting_that_no_address_knows_is_refused(served, inside):
    """A misspelt one would do nothing, or something else: `if_neww` would add."""
    client = served.client
    client.post("/documents", json={"id": "x", "text": "a"})
    raw = {"content": "b", "headers": {"Content-Type": "text/plain"}}
    lines = {"content": b"{}", "headers": {"Content-Type": "application/x-ndjson"}}
    for method, path, given in (
        *(("POST", path, body) for path in ("/documents", "/query") for body in (raw, lines)),
        ("POST", "/compare", {"json": {"a": "x", "b": "x"}}),
        *(("GET", path, {}) for path in ("/documents", "/export", "/groups", "/stats", "/documents/x/duplicates")),
        *((method, "/documents/x", {}) for method in ("GET", "DELETE")),
    ):
        found = problem(client.request(method, path, params={"if_neww": "true"}, **given), 422, "invalid")
        assert found["detail"].startswith("query.if_neww: not known here")
    assert ["x"] == list(inside.documents)


def test_ids_are_listed_part_by_part(served):
    """The last of a part is where the next one begins; one that is not there is a 404, and no id a 422."""
    client = served.client
    ids = ["a", "b/c", "ü", "d"]
    for id in ids:
        client.post("/documents", json={"id": id, "text": f"one two three {id}"})
    assert {"ids": ids} == client.get("/documents").json()
    assert {"ids": ids[:3]} == client.get("/documents", params={"limit": 3}).json()
    assert {"ids": ids[3:]} == client.get("/documents", params={"limit": 3, "after": "ü"}).json()
    assert {"ids": []} == client.get("/documents", params={"after": "d"}).json()
    problem(client.get("/documents", params={"after": "nobody"}), 404, "unknown-id")
    for wrong in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"after": ""}, {"after": "a\0b"}):
        problem(client.get("/documents", params=wrong), 422, "invalid")


def test_every_mistake_has_the_same_shape(served):
    """Unknown addresses, methods, types and settings."""
    client = served.client
    problem(client.get("/nowhere"), 404, "not-found")
    assert "DELETE, GET" == client.put("/documents/x").headers["allow"]
    assert "GET, POST" == client.put("/documents").headers["allow"]
    assert "GET, HEAD, POST" == client.put("/").headers["allow"]
    problem(client.put("/documents/x"), 405, "method")
    problem(
        client.post("/query", content="a=b", headers={"Content-Type": "application/x-www-form-urlencoded"}),
        415,
        "media-type",
    )
    problem(client.post("/query", content="a"), 415, "media-type")
    problem(client.get("/documents/x/duplicates?limit=0"), 422, "invalid")
    problem(client.get("/documents/%ff"), 422, "invalid")


def test_what_could_be_read_as_something_else_is_refused(served):
    """A body that is compressed would be a document of its bytes; ids that are not UTF-8 would all be one."""
    raw, text = {"Content-Type": "text/plain"}, "one text of some words that says something"
    packed = gzip.compress(text.encode())
    for kind in ("text/plain; charset=iso-8859-1", "application/json"):
        headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
        answer = served.client.post("/documents?id=packed", content=packed, headers=headers)
        problem(answer, 415, "media-type")
        assert "identity" == answer.headers["accept-encoding"]
    answer = served.client.post("/documents?id=plain", content=text, headers={**raw, "Content-Encoding": "Identity"})
    assert "added" == answer.json()["status"]
    for address in ("/documents?id=caf%e9", "/documents?id=caf%e8&replace=true", "/documents?after=%ff"):
        problem(served.client.post(address, content=text, headers=raw), 422, "invalid")
    answer = served.client.post("/documents?id=caf%C3%A9+au+lait", content=text, headers=raw)
    assert "café au lait" == answer.json()["id"]
    for target in (b"/documents?id=caf\xc3\xa9", b"/documents/caf\xc3\xa9"):
        with socket.create_connection((served.client.base_url.host, served.client.base_url.port)) as raw_client:
            raw_client.sendall(b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % target)
            assert raw_client.makefile("rb").readline().split()[1] in {b"400", b"422"}


def test_errors_of_the_library_are_translated(shelf, monkeypatch):
    """Its message and hint reach the client; what nobody foresaw does not."""
    with running(shelf.open) as served:
        monkeypatch.setattr(
            FakeIndex, "query", lambda *_, **__: raising(ConfigError("threshold=0.1 is too low", hint="Raise it."))
        )
        found = problem(served.client.post("/query", json={"text": SECRET}), 409, "config")
        assert ("threshold=0.1 is too low", "Raise it.") == (found["detail"], found["hint"])
        monkeypatch.setattr(FakeIndex, "query", lambda *_, **__: raising(RuntimeError(SECRET)))
        answer = served.client.post("/query", json={"text": SECRET})
        problem(answer, 500, "internal")
        assert SECRET not in answer.text
        (event,) = served.events("unexpected", 1)
        assert ("RuntimeError", answer.headers["x-request-id"]) == (event["error"], event["request_id"])
        assert "test_api.py" in event["place"][-1]
        assert SECRET not in served.log.getvalue()


def test_a_full_disk_is_said_and_questions_go_on(shelf, monkeypatch):
    """507, without a place on the server; the log has the place."""
    shelf.documents["x"] = {"id": "x", "text": "a b c"}
    full = StoreError("/var/lib/seen.ns: the disk is full")
    with running(shelf.open) as served:
        monkeypatch.setattr(FakeIndex, "add", lambda *_, **__: raising(full))
        found = problem(served.client.post("/documents", json={"id": "y", "text": "d e f"}), 507, "store")
        assert "/var/lib" not in json.dumps(found)
        assert "/var/lib/seen.ns: the disk is full" == served.events("index")[0]["message"]
        assert 1 == len(served.client.post("/query", json={"text": "a b c"}).json()["matches"])
        assert "nearsame_transactions_total" in served.client.get("/metrics").text
        assert 1 == served.metric("nearsame_transactions_total", result="failed")


def raising(error):
    """Raise, within an expression."""
    raise error


def test_the_log_has_every_request_and_no_text(served):
    """Whatever a client does wrong: not the body, not the path, not the settings."""
    client = served.client
    client.post("/documents", json={"id": "x", "text": SECRET})
    client.post("/query", json={"text": SECRET})
    client.post("/query", content=SECRET, headers={"Content-Type": "text/plain"})
    client.post("/query", json={SECRET: 1})
    client.post("/query", content=SECRET, headers={"Content-Type": "application/json"})
    client.post("/documents", json={"id": "x", "text": SECRET, "url": [SECRET]})
    client.post("/documents", json={"id": "y", "text": f"{SECRET} fail"})
    client.get(f"/documents/{SECRET}")
    client.get(f"/{SECRET}?{SECRET}")
    client.post("/", data={"text": SECRET})
    client.post("/", files={"file": ("a.txt", SECRET.encode())})
    events = served.events("request", 11)
    assert 11 == len(events)
    assert {"request_id", "route", "status", "ms", "bytes_in", "bytes_out", "client"} <= set(events[0])
    assert ["/documents", "/query"] == [event["route"] for event in events[:2]]
    assert "nobody" not in served.log.getvalue()


def test_request_ids_are_passed_on_if_they_are_harmless(served):
    """What a proxy gives, or one of our own."""
    given = served.client.get("/healthz", headers={"X-Request-ID": "abc-1"})
    other = served.client.get("/healthz", headers={"X-Request-ID": "a b\t{}"})
    assert "abc-1" == given.headers["x-request-id"]
    assert 32 == len(other.headers["x-request-id"])


def test_tokens_say_who_may(shelf, tokens):
    """Nobody, a reader, a writer; health is everybody's."""
    with running(shelf.open, token_file=tokens) as served:
        client = served.client
        for path in ("/stats", "/metrics", "/documents/x", "/documents/x/duplicates"):
            found = client.get(path)
            problem(found, 401, "unauthorized")
            assert found.headers["www-authenticate"].startswith("Bearer")
        problem(client.post("/query", json={"text": "a"}, headers=bearer("x" * 32)), 401, "unauthorized")
        problem(
            client.post("/query", json={"text": "a"}, headers={"Authorization": f"Basic {READ}"}), 401, "unauthorized"
        )
        assert 200 == client.post("/query", json={"text": "a"}, headers=bearer(READ)).status_code
        problem(client.post("/documents", json={"id": "x", "text": "a b"}, headers=bearer(READ)), 403, "forbidden")
        problem(client.delete("/documents/x", headers=bearer(READ)), 403, "forbidden")
        assert 200 == client.post("/documents", json={"id": "x", "text": "a b"}, headers=bearer(WRITE)).status_code
        assert 200 == client.get("/stats", headers=bearer(WRITE)).status_code
        assert [200, 200, 200] == [client.get(path).status_code for path in ("/healthz", "/readyz", "/openapi.json")]
        assert {"line 1", "crawler"} == {event["holder"] for event in served.events("request") if "holder" in event}
        assert not any(token in served.log.getvalue() for token in (READ, WRITE))


def test_a_cookie_is_not_for_programs(shelf, tokens):
    """What a browser sends by itself changes nothing."""
    with running(shelf.open, token_file=tokens) as served:
        answer = served.client.post("/sign-in", data={"token": WRITE, "next": "/about"})
        assert (303, "/about") == (answer.status_code, answer.headers["location"])
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(answer.headers["set-cookie"].split("; "))
        assert 200 == served.client.get("/about").status_code
        problem(served.client.post("/documents", json={"id": "x", "text": "a"}), 401, "unauthorized")


def test_a_read_only_service_writes_nothing(shelf):
    """It says so, and opens no writer."""
    shelf.documents["x"] = {"id": "x", "text": "a b c"}
    with running(shelf.open, read_only=True) as served:
        problem(served.client.post("/documents", json={"id": "y", "text": "a"}), 403, "read-only")
        problem(served.client.delete("/documents/x"), 403, "read-only")
        assert 1 == len(served.client.post("/query", json={"text": "a b c"}).json()["matches"])
        assert 200 == served.client.get("/readyz").status_code


def test_a_body_that_says_it_is_too_large_is_not_read(shelf):
    """The answer comes before the body does."""
    with running(shelf.open, max_body=1000) as served:
        place = urlsplit(served.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        connection.putrequest("POST", "/query")
        connection.putheader("Content-Type", "text/plain")
        connection.putheader("Content-Length", "10000000000")
        connection.endheaders()
        answer = connection.getresponse()
        assert (413, "too-large") == (answer.status, json.loads(answer.read())["code"])
        connection.close()


def test_a_body_that_says_nothing_is_read_as_far_as_the_limit(shelf):
    """Chunks without an end are refused as soon as they are too many; the client can read the answer."""
    with running(shelf.open, max_body=100_000) as served:
        sent = []

        def chunks():
            for _ in range(100):
                sent.append(1)
                yield b"x" * 10_000

        problem(
            served.client.post("/query", content=chunks(), headers={"Content-Type": "text/plain"}), 413, "too-large"
        )
        assert 200 == served.client.post("/query", content="a", headers={"Content-Type": "text/plain"}).status_code
        assert nothing_held(served)


def test_batches_and_texts_are_bounded(shelf):
    """Each by its own limit."""
    with running(shelf.open, max_batch=2, max_text=10) as served:
        problem(served.client.post("/query", json={"documents": [{"text": "a"}] * 3}), 413, "too-large")
        problem(served.client.post("/query", json={"text": "a" * 11}), 413, "too-large")
        problem(served.client.post("/compare", json={"a": {"text": "a"}, "b": {"text": "b" * 11}}), 413, "too-large")
        problem(
            served.client.post("/documents", json={"documents": [{"text": "a"}, {"html": "b" * 11}]}), 413, "too-large"
        )
        assert 413 == served.client.post("/", data={"text": "a" * 11}).status_code
        assert 200 == served.client.post("/query", json={"documents": [{"text": "a" * 10}] * 2}).status_code


def test_a_body_that_does_not_arrive_is_given_up(shelf):
    """408 after the timeout; what it held is free again."""
    with running(shelf.open, timeout=0.3) as served:
        place = urlsplit(served.url)
        with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as connection:
            connection.sendall(
                b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nab"
            )
            assert b" 408 " in connection.recv(10_000)
        assert nothing_held(served)


def test_questions_that_take_too_long_are_answered_503(shelf):
    """In time, and with when to come back."""
    with running(shelf.open, timeout=0.2, readers=1) as served:
        shelf.gate.clear()
        answer = served.client.post("/query", json={"text": "a"})
        shelf.gate.set()
        problem(answer, 503, "timeout")
        assert "1" == answer.headers["retry-after"]
        eventually(lambda: served.client.get("/stats").status_code == 200)  # it, too, has 0.2 seconds only


def test_beyond_the_queues_clients_are_sent_away(shelf):
    """Readers and writer alike: 429 with Retry-After; what was accepted is answered."""
    with running(shelf.open, queue=2, readers=1) as served, ThreadPoolExecutor(20) as pool:
        shelf.gate.clear()
        asked, changes = [], []
        for number in range(10):
            document = {"id": f"d{number}", "text": f"{number}"}
            asked.append(pool.submit(served.client.post, "/query", json={"text": "a"}))
            changes.append(pool.submit(served.client.post, "/documents", json=document))
            if number == 0:
                eventually(lambda: shelf.arrived == 2)  # what comes now, waits
        eventually(lambda: min(sum(each.done() for each in futures) for futures in (asked, changes)) >= 5)
        shelf.gate.set()
        for futures in (asked, changes):
            answers = [each.result() for each in futures]
            refused = [answer for answer in answers if answer.status_code == 429]
            assert 5 <= len(refused) <= 8
            assert {"1"} == {answer.headers["retry-after"] for answer in refused}
            assert {200, 429} == {answer.status_code for answer in answers}
        assert len(shelf.documents) == sum(each.result().status_code == 200 for each in changes)
        eventually(lambda: served.metric("nearsame_refused_total", code="busy") >= 10)


def test_the_bytes_of_all_requests_are_bounded(shelf):
    """Whoever comes on top is sent away before its body is read."""
    with running(shelf.open, max_body=1000, memory=2500, readers=1) as served, ThreadPoolExecutor(4) as pool:
        shelf.gate.clear()
        plain = {"Content-Type": "text/plain"}
        held = [pool.submit(served.client.post, "/query", content="x" * 1000, headers=plain) for _ in range(2)]
        eventually(lambda: served.metric("nearsame_request_bytes_held") >= 2000)
        answer = served.client.post("/query", content="x" * 1000, headers=plain)
        shelf.gate.set()
        problem(answer, 429, "busy")
        assert {200} == {each.result().status_code for each in held}
        assert nothing_held(served)


def test_many_clients_share_transactions(shelf):
    """And each gets the answer to its own documents."""
    shelf.gate.clear()
    with running(shelf.open, timeout=PATIENCE) as served, ThreadPoolExecutor(16) as pool:
        sent = []
        for number in range(16):
            document = {"id": f"d{number}", "text": f"{number} {number}x {number}y"}
            sent.append(pool.submit(served.client.post, "/documents", json=document))
            if number == 0:
                eventually(lambda: shelf.arrived)  # or the second would be written together with it
        eventually(lambda: served.metric("nearsame_waiting", kind="write") == 15)
        shelf.gate.set()
        assert [f"d{n}" for n in range(16)] == [each.result().json()["id"] for each in sent]
        assert {f"d{n}" for n in range(16)} == set(shelf.documents)
        assert [1, 15] == shelf.transactions
        assert 16 == served.metric("nearsame_documents_total", what="added")


def test_behind_a_slow_answer_the_next_reader_goes_on(shelf):
    """Though readers leave each other alone for a moment."""
    shelf.gate.clear()
    with running(shelf.open, readers=2, timeout=PATIENCE) as served, ThreadPoolExecutor(2) as pool:
        asked = []
        for number in range(2):
            asked.append(pool.submit(served.client.post, "/query", json={"text": "a"}))
            eventually(lambda arrived=number + 1: shelf.arrived == arrived)
        shelf.gate.set()
        assert [200, 200] == [each.result().status_code for each in asked]


def test_questions_that_wait_are_asked_together(shelf):
    """Those of one kind, each with its own answer; one that fails does so alone."""
    shelf.documents = {f"d{number}": {"id": f"d{number}", "text": f"word{number}"} for number in range(20)}
    shelf.gate.clear()
    answers = {}

    def ask(number):
        body = {"text": "fail" if number == 7 else f"word{number}", "limit": 1 + number // 15}
        answers[number] = httpx.post(f"{served.url}/query", json=body, timeout=PATIENCE)

    with running(shelf.open, readers=1, timeout=PATIENCE) as served:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        threads[0].start()
        eventually(lambda: shelf.arrived)  # or the second would be asked together with it
        for number, thread in enumerate(threads[1:], start=1):
            thread.start()
            eventually(lambda number=number: served.metric("nearsame_waiting", kind="read") >= number)
        shelf.gate.set()
        for thread in threads:
            thread.join()
    assert {500} == {answer.status_code for number, answer in answers.items() if number == 7}
    del answers[7]
    for number, answer in answers.items():
        assert [f"d{number}"] == [match["id"] for match in answer.json()["matches"]]
    assert 19 == sum(shelf.questions)
    assert 5 in shelf.questions  # those behind the limit's change


def test_metrics_count_what_happened(shelf):
    """Routes and codes are labels; ids are not."""
    with running(shelf.open) as served:
        check_metrics(served.client)


def check_metrics(client):
    """After five requests."""
    client.post("/documents", json={"id": "secretive", "text": "a b c"})
    client.post("/documents", json={"id": "secretive", "text": "d e f"})
    client.get("/documents/secretive")
    client.get("/documents/nothing")
    page = client.get("/metrics").text
    assert 'nearsame_requests_total{method="GET",route="/documents/{id}",status="404"} 1.0' in page
    assert 'nearsame_refused_total{code="conflict"} 1.0' in page
    assert 'nearsame_documents_total{what="known"} 1.0' in page
    assert "nearsame_indexed_documents 1.0" in page
    assert "process_resident_memory_bytes" in page
    assert "secretive" not in page


def test_pages_of_other_sites_change_nothing(served, inside):
    """What a browser says of a form or script from elsewhere is enough to refuse it."""
    plain = {"Content-Type": "text/plain"}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        problem(served.client.post("/documents?id=x", content="a", headers=plain | headers), 403, "origin")
    assert {} == inside.documents
    for headers in (
        {"Origin": served.url},
        {"Sec-Fetch-Site": "same-origin", "Origin": served.url},
        {"Sec-Fetch-Site": "none"},
    ):
        assert 200 == served.client.post("/query", content="a", headers=plain | headers).status_code


def test_without_tokens_only_names_of_this_machine_are_answered(shelf, tokens):
    """A name that somebody else made to point here is not one of them (DNS rebinding)."""
    with running(shelf.open, allowed_hosts=("proxy.example",)) as served:
        for host in ("localhost", "127.0.0.1:8800", "[::1]:80", "proxy.example"):
            assert 200 == served.client.get("/stats", headers={"Host": host}).status_code
        for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1"):
            problem(served.client.get("/stats", headers={"Host": host}), 421, "host")
    with running(shelf.open, token_file=tokens) as served:
        assert 200 == served.client.get("/stats", headers={"Host": "any.example"} | bearer(READ)).status_code


def test_every_answer_forbids_what_pages_do_not_do(served):
    """Also errors, pictures and JSON."""
    for path in ("/", "/nowhere", "/stats", "/static/style.css", "/clusters", "/metrics"):
        headers = served.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert ("nosniff", "same-origin") == (headers["x-content-type-options"], headers["referrer-policy"])
        assert ("no-store" in headers["cache-control"]) == (path != "/static/style.css")
        assert "server" not in headers


def test_it_is_the_same_behind_a_proxy(shelf):
    """A proxy shows the service below a path: links lead there."""
    with running(shelf.open, root_path="/nearsame") as served:
        shelf.documents["x/y"] = {"id": "x/y", "text": "a b"}
        page = served.client.get("/", headers={"Accept": "text/html"}).text
        assert 'href="/nearsame/clusters"' in page
        assert 'href="/clusters"' not in page
        assert "x/y" == served.client.get("/documents/x%2Fy").json()["id"]
        assert "/nearsame" == served.client.get("/openapi.json").json()["servers"][0]["url"]


def test_it_listens_on_version_6(shelf):
    """The loopback address, too."""
    with running(shelf.open, host="::1") as served:
        assert 200 == served.client.get("/stats").status_code


def test_pages_of_html_are_no_answers_for_programs(served):
    """A browser gets its errors as a page, a program as JSON."""
    browser = {"Accept": "text/html,application/xhtml+xml"}
    assert "text/html; charset=utf-8" == served.client.get("/document?id=no", headers=browser).headers["content-type"]
    assert "<h1>Not found</h1>" in served.client.get("/document?id=no", headers=browser).text
    problem(served.client.get("/document?id=no"), 404, "unknown-id")


def test_closing_ends_every_connection(shelf):
    """To the index, by writer, readers and the one for health."""
    before = set(threading.enumerate())
    with running(shelf.open, readers=3):
        assert 4 <= len(set(threading.enumerate()) - before)
    assert 5 == shelf.closed
    assert set() == set(threading.enumerate()) - before


def test_the_examples_of_the_description_are_answered(served):
    """Every example of every request."""
    described = served.client.get("/openapi.json").json()
    sent = 0
    for path, methods in described["paths"].items():
        for content in [
            methods[method]["requestBody"]["content"] for method in methods if "requestBody" in methods[method]
        ]:
            for example in content["application/json"]["examples"].values():
                if "html" not in json.dumps(example):
                    assert 200 == served.client.post(path, json=example["value"]).status_code
                    sent += 1
    assert sent >= 4
