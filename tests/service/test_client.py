"""The client of the service: as the index itself, by the same names, with the same answers and exceptions."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.service.client import ELSEWHERE
from tests.patience import PATIENCE
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


def test_a_connection_that_was_closed_meanwhile_is_made_again(tmp_path):
    """A question is asked once more."""
    shelf = Shelf()
    with running(shelf.open) as served, ns.Client(served.url) as client:
        assert [] == client.query("a")
        client._wire._connection.sock.shutdown(2)
        assert [] == client.query("a")


def test_the_client_needs_nothing_of_the_service(tmp_path):
    """Neither FastAPI nor uvicorn is loaded."""
    code = "import sys, nearsame as ns; ns.Client('http://127.0.0.1:9'); print({'fastapi', 'uvicorn'} & {*sys.modules})"
    assert "set()\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
