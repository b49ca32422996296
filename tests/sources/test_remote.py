"""URLs: fsspec's memory file system, a local web server, and schemes whose package is missing."""

import functools
import http.server
import re
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from nearsame.errors import MissingExtraError, SourceError
from nearsame.files.systems import filesystem
from nearsame.installation import install_command
from nearsame.sources import Columns, open_parts

from .corpora import COMPRESSIONS, FORMATS, compressed, copied, encoded, only, read

ROWS = [{"id": f"i{number}", "text": f"text {number}", "n": number} for number in range(20)]
IDS = [row["id"] for row in ROWS]


@pytest.fixture
def store() -> Iterator[str]:
    """An empty folder in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield "memory://bucket"
    system.store.clear()


def _put(url: str, data: bytes) -> str:
    with fsspec.open(url, "wb") as out:
        out.write(data)
    return url


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", FORMATS)
def test_any_format_is_read_and_copied_from_a_url(tmp_path: Path, store: str, kind: str, compression: str) -> None:
    """As from a disk."""
    url = _put(f"{store}/a.{kind}{compression}", compressed(encoded(ROWS, kind), compression))
    part = only(url)
    assert (url, f"a.{kind}{compression}") == (part.name, part.target)
    assert (IDS, []) == ([row["id"] for row in read(part)[0]], read(part)[1])
    assert IDS[1:] == [row["id"] for row in read(only(copied(part, tmp_path, [0])))[0]]


def test_folders_and_globs_are_listed_remotely(tmp_path: Path, store: str) -> None:
    """With the same names and targets as on a disk."""
    for name in ("a.jsonl", "sub/b.jsonl", "sub/c.txt", "sub/d.docx"):
        _put(f"{store}/x/{name}", encoded(ROWS, "jsonl"))
    parts = open_parts([f"{store}/x"], columns=Columns())
    assert ["a.jsonl", "sub/b.jsonl", "kept.txt"] == [part.target for part in parts]
    assert [f"{store}/x/a.jsonl", f"{store}/x/sub/b.jsonl", f"{store}/x"] == [part.name for part in parts]
    assert ["sub/c.txt"] == [row["id"] for row in read(parts[-1])[0]]
    assert "sub/c.txt\n" == copied(parts[-1], tmp_path).read_text()
    assert 1 == parts.passed_over.total
    assert ["sub/b.jsonl"] == [part.target for part in open_parts([f"{store}/x/**/b.*"], columns=Columns())]


@pytest.mark.parametrize("name", ["none.jsonl", "none/*.jsonl"])
def test_a_url_that_is_not_there_is_an_error_that_names_it(store: str, name: str) -> None:
    """As for a path."""
    with pytest.raises(SourceError, match=f"{store}/{name}".replace("*", r"\*")):
        open_parts([f"{store}/{name}"], columns=Columns())


def test_a_remote_file_that_changed_since_is_not_copied(tmp_path: Path, store: str) -> None:
    """By what the store says of it."""
    part = only(_put(f"{store}/a.jsonl", encoded(ROWS, "jsonl")))
    _put(f"{store}/a.jsonl", encoded(ROWS[1:], "jsonl"))
    with pytest.raises(SourceError, match="changed"):
        copied(part, tmp_path)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def send_head(self) -> Any:
        """A file that nobody may have."""
        return self.send_error(403) if self.path == "/mine.jsonl" else super().send_head()

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server with a file of each format; it does not know ranges, as many do not."""
    folder = tmp_path_factory.mktemp("web")
    for kind in FORMATS:
        (folder / f"a.{kind}").write_bytes(encoded(ROWS, kind))
        (folder / f"a.{kind}.gz").write_bytes(compressed(encoded(ROWS, kind), ".gz"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("kind", FORMATS)
def test_any_format_is_read_from_a_web_server(tmp_path: Path, web: str, kind: str, compression: str) -> None:
    """Also with a query after the name."""
    part = only(f"{web}/a.{kind}{compression}?token=a/b.c")
    assert f"a.{kind}{compression}" == part.target
    assert (IDS, []) == ([row["id"] for row in read(part)[0]], read(part)[1])
    assert IDS[1:] == [row["id"] for row in read(only(copied(part, tmp_path, [0])))[0]]


def test_a_page_that_is_not_there_is_an_error_that_names_it(web: str) -> None:
    """Whatever the client raises."""
    for url in (f"{web}/none.jsonl", "http://127.0.0.1:1/a.jsonl"):
        with pytest.raises(SourceError, match=url):
            open_parts([url], columns=Columns())


@pytest.mark.parametrize(
    ("url", "message", "hint"),
    [
        ("http://127.0.0.1:1/a.jsonl", "Connection refused", "Check the URL, and that the server can be reached."),
        ("http://127.0.0.1:1/", "Connection refused", "Check the URL, and that the server can be reached."),
        ("ftp://127.0.0.1:1/a.jsonl", "Connection refused", "Check the URL, and that the server can be reached."),
        ("webhdfs://127.0.0.1:1/a.jsonl", "Connection refused", "Check the URL, and that the server can be reached."),
        ("{web}/none.jsonl", "does not exist", "Check the path."),
        ("{web}/mine.jsonl", "the server answered 403 (Forbidden)", "Check the URL"),
        ("file://", "names no file", "Write the path, as in file:///data/crawl."),
        ("local://", "names no file", "Write the path, as in local:///data/crawl."),
        ("zip://a.jsonl::file://", "names no file", "Write the path, as in file:///data/crawl."),
        (
            "reference://a.jsonl",
            "is not an address that reference:// can open",
            "Write it as fsspec's page on reference://",
        ),
        ("jupyter://a.jsonl", "is not an address that jupyter:// can open", "Write it as fsspec's page on jupyter://"),
        ("github://a.jsonl", "is not an address that github:// can open", "Write it as fsspec's page on github://"),
        ("dir://a.jsonl", "is not an address that dir:// can open", "Write it as fsspec's page on dir://"),
        ("data://a.jsonl", "is not an address that data:// can open", "Write it as fsspec's page on data://"),
        ("cached://a.jsonl", "is not an address that cached:// can open", "Write it as fsspec's page on cached://"),
        (
            "generic://x/a.jsonl",
            "is not an address that generic:// can open",
            "Write it as fsspec's page on generic://",
        ),
        ("nosuch://a.jsonl", "unknown scheme nosuch://", "Check the scheme before ://."),
    ],
)
def test_why_a_url_cannot_be_read_is_told_in_our_words(web: str, url: str, message: str, hint: str) -> None:
    """Not as what Python raises, and a server that does not answer not as a file that is not there."""
    with pytest.raises(SourceError, match=re.escape(message)) as caught:
        only(url.format(web=web))
    assert caught.value.hint.startswith(hint)
    assert len(caught.value.message) < 100


def test_a_scheme_without_its_package_gives_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours where we have an extra, else the package's own."""
    for scheme, package, line in (("s3", "s3fs", "pip install s3fs"), ("http", "aiohttp", install_command("remote"))):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, "fsspec.implementations.http", raising=False)
        monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, scheme, raising=False)
        with pytest.raises(MissingExtraError, match=f"{scheme}://") as caught:
            filesystem(f"{scheme}://bucket/a.jsonl")
        assert line in caught.value.hint


def test_an_unknown_scheme_is_an_error() -> None:
    """A typing slip, most likely."""
    with pytest.raises(SourceError, match="nosuch"):
        only("nosuch://bucket/a.jsonl")


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_in_an_archive_is_read_and_copied(tmp_path: Path, kind: str, compression: str) -> None:
    """By a chained URL; its name is that of the file within."""
    home = tmp_path / "crawl.zip"
    with zipfile.ZipFile(home, "w") as archive:
        archive.writestr(f"sub/a.{kind}{compression}", compressed(encoded(ROWS, kind), compression))
    url = f"zip://sub/a.{kind}{compression}::{home}"
    part = only(url)
    assert (url, f"a.{kind}{compression}") == (part.name, part.target)
    assert (IDS, []) == ([row["id"] for row in read(part)[0]], read(part)[1])
    assert IDS[1:] == [row["id"] for row in read(only(copied(part, tmp_path, [0])))[0]]


def test_folders_and_globs_are_listed_in_an_archive(tmp_path: Path) -> None:
    """What stands behind :: stays at the end of each name."""
    home = tmp_path / "crawl.zip"
    with zipfile.ZipFile(home, "w") as archive:
        for name in ("a.jsonl", "sub/b.jsonl", "sub/c.txt"):
            archive.writestr(name, encoded(ROWS, "jsonl"))
    for url in (f"zip://::{home}", f"zip://**::{home}"):
        parts = open_parts([url], columns=Columns())
        assert ["a.jsonl", "sub/b.jsonl", "kept.txt"] == [part.target for part in parts]
        assert [f"zip://a.jsonl::{home}", f"zip://sub/b.jsonl::{home}"] == [part.name for part in parts][:2]
        assert [20, 20, 1] == [len(read(part)[0]) for part in parts]


@pytest.mark.parametrize(
    "url",
    [
        "asyncwrapper://a.jsonl",
        "cached://a.jsonl",
        "data://a.jsonl",
        "dir://a.jsonl",
        "ftp://127.0.0.1:1/a.jsonl",
        "generic://x/a.jsonl",
        "github:///a.jsonl",
        "http://[::1/a.jsonl",
        "memory://a.jsonl",
        "reference://a.jsonl",
        "tar://a.jsonl::{}",
        "zip://a.jsonl",
        "zip://a.jsonl::memory://b.zip",
        "zip://a.jsonl::zip://b::{}",
        "zip://a.jsonl::{}",
        "zip://a.jsonl::{}.none",
        "://a.jsonl",
    ],
)
def test_whatever_a_url_is_the_error_is_ours(tmp_path: Path, url: str) -> None:
    """A file system raises what it likes: a missing argument, a refused connection, an archive that is none."""
    (tmp_path / "plain").write_bytes(b"no archive")
    place = url.format(tmp_path / "plain")
    with pytest.raises((SourceError, MissingExtraError)) as caught:
        only(place)
    assert place in str(caught.value) or caught.type is MissingExtraError


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_a_compressed_stream_that_breaks_off_is_the_same_from_a_url(store: str, compression: str) -> None:
    """What stands before the break is read, and the break is a skip."""
    data = compressed(encoded(ROWS, "jsonl"), compression)
    part = only(_put(f"{store}/a.jsonl{compression}", data[: len(data) * 9 // 10]))
    assert "unread from here on" in read(part)[1][-1].reason


def test_damage_inside_an_archive_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    """The check sum of a zip is looked at when the last byte has been read."""
    home = tmp_path / "crawl.zip"
    with zipfile.ZipFile(home, "w") as archive:
        archive.writestr("a.jsonl", encoded(ROWS, "jsonl"))
    home.write_bytes(home.read_bytes().replace(b"text 7", b"text 8"))
    with pytest.raises(SourceError, match="CRC") as caught:
        read(only(f"zip://a.jsonl::{home}"))
    assert f"zip://a.jsonl::{home}" in str(caught.value)
