"""A made crawl: pages of hosts with markup of their own, in Parquet and in archives, and what is alike in truth.

1. Texts are those of corpus.py, near-duplicates among them, each as the article of a page of some host.
2. Each tenth host has a mirror, with the same articles at the same paths. One page in twenty is fetched again, with a
   parameter that says only where a reader came from.
3. Where a page's text is that of another page, or was made from it, that page, or the one that it was made from, is its
   origin: so truth.py knows them for near-duplicates.
"""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import corpus
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["MIRRORS", "Crawl", "Page", "of_size", "pages", "record"]

FILES, HOSTS, AGAIN = 16, 50, 20
MIRRORS = {host: f"mirror{host}.example" for host in range(0, HOSTS, 10)}
FRAME_BYTES = 12_000  # of markup around an article, more or less
GROUP = 16_000  # pages that are written at a time
SCHEMA = pa.schema([("url", pa.string()), ("html", pa.string())])


class Page(NamedTuple):
    """One, with what it says in truth, and the first page of its family."""

    number: int
    url: str
    html: str
    text: str
    origin: int | None


class Crawl(NamedTuple):
    """Where the pages lie, and what they say in truth."""

    files: str  # a folder of Parquet
    archives: str  # the same pages, a gzip member a record
    numbers: dict[str, int]  # by URL, which is an archive's id
    texts: list[str]
    origins: list[int | None]
    markup_bytes: int


def of_size(folder: Path, size: int) -> Crawl:
    """A crawl with so many bytes of markup; its files are found again where they were made before."""
    home, texts, origins, markup = folder / f"crawl-{size}", list[str](), list[int | None](), 0
    numbers = dict[str, int]()
    part = None if home.exists() else home.with_suffix(".part")
    with ExitStack() as opened:
        files = [] if part is None else _opened(part, opened)
        made = pages(size)
        while group := list(islice(made, GROUP)):
            for number, (table, archive) in enumerate(files):
                _write(table, archive, group[number::FILES])
            numbers |= {page.url: page.number for page in group}
            texts += (page.text for page in group)
            origins += (page.origin for page in group)
            markup += sum(len(page.html.encode()) for page in group)
    if part is not None:
        part.rename(home)
    return Crawl(str(home / "pages"), str(home / "archives"), numbers, texts, origins, markup)


def pages(size: int) -> Iterator[Page]:
    """Pages until their markup has `size` bytes."""
    missing, count, families = size, 0, dict[int | None, int | None]()
    for text, origin, document in _documents(size):
        host, family = document % HOSTS, families.get(origin)
        url = f"http://h{host}.example/{document % 7}/story-{document}"
        urls = [url]
        if host in MIRRORS:
            urls.append(url.replace(f"h{host}.example", MIRRORS[host]))
        if not document % AGAIN:
            urls.append(f"{url}?utm_source=mail")
        for address in urls:
            html = _html(host, count, text)
            yield Page(count, address, html, text, family)
            family = count if family is None else family  # of those that follow
            missing, count = missing - len(html), count + 1
        families[document] = family
        if missing <= 0:
            return


def _documents(size: int) -> Iterator[tuple[str, int | None, int]]:
    """Text, origin and number: so many that there are always enough."""
    for batch in corpus.documents(size):
        for name, text, origin in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield text, origin, int(name)


def _html(host: int, number: int, text: str) -> str:
    head, foot = _frame(host)
    paragraphs = "".join(f"<p>{each}</p>\n" for each in text.split("\n\n"))
    return f"{head}<article>{paragraphs}</article>{foot}<!-- served as {number} --></body></html>"


@cache
def _frame(host: int) -> tuple[str, str]:
    """What stands before and behind the articles of a host."""
    words = corpus.vocabulary()[200 + 300 * host :]
    links = [f"<li class='item'><a href='/{n}/'>{words[n]} {words[n + 100]}</a></li>" for n in range(80)]
    script = f"<script>{f'window.h{host} = [1, 2, 3]; ' * (FRAME_BYTES // 60)}</script>"
    head = f"<html><head><title>h{host}</title>{script}</head><body><nav><ul>{''.join(links)}</ul></nav>"
    return head, f"<footer><p>h{host}, {' '.join(words[:20])}</p></footer>"


def _opened(folder: Path, opened: ExitStack) -> list[tuple[pq.ParquetWriter, BinaryIO]]:
    for name in ("pages", "archives"):
        (folder / name).mkdir(parents=True)
    return [
        (
            opened.enter_context(pq.ParquetWriter(folder / "pages" / f"{number:02}.parquet", SCHEMA)),
            opened.enter_context((folder / "archives" / f"{number:02}.warc.gz").open("wb")),
        )
        for number in range(FILES)
    ]


def _write(table: pq.ParquetWriter, archive: BinaryIO, few: Sequence[Page]) -> None:
    lines = [{"url": page.url, "html": page.html} for page in few]
    table.write_table(pa.Table.from_pylist(lines, SCHEMA))
    archive.writelines(record(page.number, page.url, page.html.encode(), level=1) for page in few)


def record(number: int, url: str, markup: bytes, *, level: int) -> bytes:
    """A response of an archive, as a gzip member."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + markup
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number:032d}>\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + http + b"\r\n\r\n", level, mtime=0)
