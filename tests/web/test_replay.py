"""A real replay tool gives every page of an archive before `--revisits`, after it, and after `restore`.

pywb has pins of its own, so it gets an environment of its own, below the folder of the test.
"""

import gzip
import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.sources.archives import WARC, walk
from tests.patience import PATIENCE
from tests.sources.archive import PAGE, gzipped, html, http, record, response

pytest.importorskip("fastwarc")
pytestmark = pytest.mark.slow

_PYWB = "pywb==2.10.0"
_REPLAY = """
import hashlib, json, os, sys
archives, urls = json.loads(sys.argv[1])
from pywb.manager.manager import main as manage
manage(["init", "all"])
manage(["add", "all", *archives])
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
from werkzeug.wrappers import Response
client = Client(FrontEndApp(), Response)
found = []
for url, date in urls:
    answer = client.get(f"/all/{date}id_/{url}")
    found.append([answer.status_code, hashlib.sha256(answer.data).hexdigest(), answer.headers.get("Memento-Datetime")])
print()
print(json.dumps(found))
"""
PACKED = "The harvest was late in that year, since rain had fallen from the middle of August until the end of October."
CHUNKED = "Trains to the coast leave every hour from the second platform, but on Sundays they leave from the first one."
TEXT = "A rose is a rose is a rose, and a daisy is another flower that grows in the meadow behind the house."


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with pywb."""
    home = tmp_path_factory.mktemp("pywb")
    venv.create(home, with_pip=True)
    bin_ = home / "bin"
    made = subprocess.run(
        [bin_ / "pip", "install", "--quiet", "--disable-pip-version-check", _PYWB],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"{_PYWB} cannot be installed here: {made.stderr.strip().splitlines()[-1]}")
    return bin_ / "python"


def _replayed(python: Path, home: Path, archives: list[Path], urls: list[tuple[str, str]]) -> list[list[object]]:
    """Status, digest of the body and date of each URL, as pywb answers."""
    home.mkdir()
    told = json.dumps([[str(path) for path in archives], urls])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-c", _REPLAY, told],
        cwd=home,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert 0 == done.returncode, done.stderr[-2_000:]
    found: list[list[object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _at(made: bytes, date: str, url: str | None = None) -> bytes:
    """The same at another time, or of another URL."""
    made = made.replace(b"WARC-Date: 2026-01-02T03:04:05Z", f"WARC-Date: {date}".encode())
    if url is None:
        return made
    head, name, rest = made.partition(b"WARC-Target-URI: ")
    return head + name + url.encode() + rest[rest.index(b"\r\n") :]


def _archives(home: Path) -> list[Path]:
    """Copies at other URLs and at other times, in one file and across two, encoded and not; near ones, and others."""
    packed = gzip.compress(html(PACKED), mtime=0)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(html(CHUNKED)), html(CHUNKED))
    first = [
        response(1, TEXT),
        response(2, TEXT),
        _at(response(3, TEXT), "2026-02-02T03:04:05Z", "http://a.example/1"),
        record(http(packed, "Content-Encoding: gzip"), "Content-Type: application/http; msgtype=response", number=4),
        record(http(packed, "Content-Encoding: gzip"), "Content-Type: application/http; msgtype=response", number=5),
        response(6, PAGE),
    ]
    second = [
        record(http(chunked, "Transfer-Encoding: chunked"), number=7),
        record(http(chunked, "Transfer-Encoding: chunked"), number=8),
        response(9, TEXT + " Nearly."),
        _at(response(10, TEXT), "2026-03-02T03:04:05Z"),
        record(http(b"gone", status="404 Not Found"), number=11),
        record(http(html(PAGE), "X-Own: yes"), "WARC-Payload-Digest: sha1:TOLD", number=12),
    ]
    typed = "\r\nContent-Type: application/http; msgtype=response\r\nContent-Length"
    for name, records in (("a", first), ("b", second)):
        whole = [
            each if b"msgtype" in each else each.replace(b"\r\nContent-Length", typed.encode(), 1) for each in records
        ]
        (home / f"{name}.warc.gz").write_bytes(gzipped(*whole))
    return sorted(home.iterdir())


def test_every_page_replays_before_and_after_revisits_and_after_restore(tmp_path: Path, python: Path) -> None:
    """With the same status, body and date; of pages that are now revisits, too."""
    (tmp_path / "in").mkdir()
    before = _archives(tmp_path / "in")
    urls = [
        (told["warc-target-uri"], "".join(c for c in told["warc-date"] if c.isdigit()))
        for path in before
        for told in (each.headers for each in walk(str(path), WARC, 1))
    ]
    expected = _replayed(python, tmp_path / "one", before, urls)
    assert [200] * 10 + [404, 200] == [status for status, *_ in expected]
    stats = ns.dedup(str(tmp_path / "in")).write(tmp_path / "out", revisits=True)
    assert ns.verify(tmp_path / "out").holds
    kept = [tmp_path / "out" / "kept" / path.name for path in before]
    revisits = sum(each.kind == "revisit" for path in kept for each in walk(str(path), WARC, 1))
    assert (True, True) == (revisits >= 5, stats.removed > revisits)
    assert expected == _replayed(python, tmp_path / "two", kept, urls)
    ns.restore(str(tmp_path / "out" / "kept"), tmp_path / "back")
    back = [tmp_path / "back" / path.name for path in before]
    assert [gzip.decompress(path.read_bytes()) for path in before] == [
        gzip.decompress(path.read_bytes()) for path in back
    ]
    assert expected == _replayed(python, tmp_path / "three", back, urls)
