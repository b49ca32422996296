"""Layers of web archives on Spark: who goes, by which layer, through whom and why, as on one machine."""

import bz2
import random
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.frames import layers
from tests.frames.test_layers import COUNTS, EVERY, METHOD
from tests.sources.archive import gzipped, http, record

pytest.importorskip("fastwarc")

_UMLAUT = "\N{LATIN SMALL LETTER U WITH DIAERESIS}"
_HOSTS, _TAILS = ("a.org", "b.org", "www.a.org"), ("", "/", "/index.html", "?utm_source=q", "?sid=1", "#f")


def crawl(home: Path, seed: int, size: int = 24) -> Path:
    """A folder of archives: pages, plain texts, redirects, revisits, and what is no document; one record is damaged."""
    draw = random.Random(seed)
    words = [f"{letter}{_UMLAUT}{letter}" for letter in "abcdefgh"]
    texts = [" ".join(draw.choice(words) for _ in range(30)) for _ in range(4)]
    urls = [f"http://{draw.choice(_HOSTS)}/{draw.choice('xyz')}{draw.choice(_TAILS)}" for _ in range(size // 2)]
    records = [_recorded(draw, number, draw.choice(urls), texts, urls) for number in range(size)]
    broken = record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=size, length=9)
    parts = records[::3], [*records[1::3], broken], records[2::3]
    home.mkdir()
    (home / "a.warc.gz").write_bytes(gzipped(*parts[0]))
    (home / "b.warc").write_bytes(b"".join(parts[1]))
    (home / "c.warc.bz2").write_bytes(bz2.compress(b"".join(parts[2])))
    return home


def _recorded(draw: random.Random, number: int, url: str, texts: list[str], urls: list[str]) -> bytes:
    known: dict[str, Any] = {"url": url, "number": number}
    digest = f"WARC-Payload-Digest: sha1:{draw.choice('AB') * 32}"
    match draw.choice(["page"] * 5 + ["plain", "redirect", "revisit", "empty", "gone"]):
        case "redirect":
            return record(http(b"", f"Location: {draw.choice([*urls, '/y'])}", status="301 Moved"), **known)
        case "revisit":
            origin = f"WARC-Refers-To-Target-URI: {draw.choice(urls)}"
            return record(http(b""), digest, origin, kind="revisit", **known)
        case "plain":
            return record(http(draw.choice(texts).encode("latin-1"), kind="text/plain; charset=latin-1"), **known)
        case "empty":
            return record(http(draw.choice([b"", b"<p></p>", b"<html><title>!!!</title></html>"])), **known)
        case "gone":
            return record(http(b"gone", status="404 Not Found"), **known)
    text = f"{draw.choice(texts)} {draw.choice('xyz')}" if draw.random() < 0.4 else draw.choice(texts)
    link = f'<link rel="canonical" href="{draw.choice(urls)}">' if draw.random() < 0.3 else ""
    charset = draw.choice(["utf-8", "latin-1"])
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in draw.choice(["ab", "cd"]))
    body = f"<html><head><title>t</title>{link}</head><body><ul>{menu}</ul><main><p>{text}</p></main></body></html>"
    return record(http(body.encode(charset), kind=f"text/html; charset={charset}"), digest, **known)


def answer(found: Any) -> tuple[list[Any], dict[str, Any]]:
    """Lines of removals and clusters, and counts; without what rows are called, which no two engines share."""
    lines = []
    for table in (found.removals, found.clusters):
        rows = table if hasattr(table, "column_names") else table.toArrow()
        named = [name for name in rows.column_names if name.endswith(("source", "row"))]
        lines.append(sorted(map(repr, rows.drop_columns([*named, "cluster"]).to_pylist())))
    counts = found.stats.record()
    return lines, {name: counts.get(name) for name in COUNTS if name != "notes"}


@pytest.mark.parametrize(
    ("seed", "asked"),
    [
        (0, {"use": EVERY, "method": METHOD, "keep": "longest"}),
        (1, {"use": EVERY, "method": METHOD, "keep": "newest:date", "against": 101}),
        pytest.param(2, {"use": "url,text", "method": METHOD, "within": False, "against": 102}, marks=pytest.mark.long),
        pytest.param(3, {"use": "redirect,revisit", "keep": "max:url"}, marks=pytest.mark.long),
        (4, {"use": "canonical,text", "method": "digest", "group_by": "host"}),
        pytest.param(5, {"use": "digest,text", "method": METHOD, "extract": "text"}, marks=pytest.mark.long),
    ],
)
def test_layers_of_archives_are_those_of_one_machine(spark: Any, tmp_path: Path, seed: int, asked: Any) -> None:
    """Whatever is asked of them, of pages in several encodings, redirects, revisits and damage."""
    source = str(crawl(tmp_path / "crawl", seed))
    if "against" in asked:
        asked = asked | {"against": str(crawl(tmp_path / "before", asked["against"], 9))}
    here = ns.dedup(source, ties="content", **asked)
    there = ns.dedup(source, **asked, engine=ns.Spark(spark))
    assert answer(here) == answer(there)
    assert here.stats.removed
    assert here.stats.skipped
    assert there.kept().count() == here.stats.kept
    there.release()


def test_a_work_directory_keeps_the_texts_of_pages(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Whatever layers ask: what a driver that died had taken out of pages is not taken out again."""
    source, asked = str(crawl(tmp_path / "crawl", 5, 40)), {"use": EVERY, "method": METHOD, "keep": "longest"}
    here = ns.dedup(source, ties="content", **asked)
    given = {**asked, "engine": ns.Spark(spark), "workdir": tmp_path / "work"}
    with monkeypatch.context() as dying:
        dying.setattr(layers.FrameLayers, "behind", _never)
        with pytest.raises(AssertionError):
            ns.dedup(source, **given)
    finished = {path.parent.relative_to(tmp_path / "work").as_posix() for path in tmp_path.rglob("_finished.json")}
    assert finished == {f"layers/{step}" for step in ("documents", "ordered", "known")} | {
        f"pages/{step}" for step in ("texts", "documents", "known")
    }
    with monkeypatch.context() as resumed:
        resumed.setattr(layers, "loaded", _never)
        there = ns.dedup(source, **given)
        assert answer(here) == answer(there)
    there.release()


def _never(*_args: object, **_kwargs: object) -> None:
    raise AssertionError("computed again")


def test_pages_that_have_nothing_in_common_are_not_looked_at(spark: Any, tmp_path: Path) -> None:
    """Where a layer can bring no two together, no text is taken out, and all counts of pages are 0."""
    page = b"<html><body><main><p>some words of a page</p></main></body></html>"
    (tmp_path / "a.warc").write_bytes(record(http(page), url="http://a.org/") + record(http(page), url="http://b.org/"))
    here = ns.dedup(tmp_path / "a.warc", use="redirect", ties="content")
    there = ns.dedup(tmp_path / "a.warc", use="redirect", engine=ns.Spark(spark))
    assert answer(here) == answer(there)
    assert (2, 0) == (there.stats.kept, there.stats.pages["without_main"])


def test_copies_without_what_layers_removed_are_those_of_one_machine(spark: Any, tmp_path: Path) -> None:
    """The list of records leads to the same bytes: what goes with a page goes, and other records stay."""
    source, asked = str(crawl(tmp_path / "crawl", 7, 40)), {"use": EVERY, "method": METHOD, "keep": "longest"}
    ns.dedup(source, ties="content", **asked).write(tmp_path / "here")
    ns.dedup(source, **asked, engine=ns.Spark(spark)).write(tmp_path / "there")
    ns.apply(tmp_path / "there", tmp_path / "cut")
    copies = [
        {path.name: path.read_bytes() for path in (tmp_path / name / "kept").iterdir()} for name in ("here", "cut")
    ]
    assert len(copies[0]) == 3
    assert copies[0] == copies[1]


@pytest.mark.parametrize("use", [EVERY, pytest.param("revisit,digest", marks=pytest.mark.long)])
def test_layers_of_real_archives_are_those_of_one_machine(spark: Any, data_dir: Path, use: str) -> None:
    """Some crawls are there several times, packed in other ways or without digests: who stays is who stands first."""
    source = str(data_dir / "warc")
    if not list((data_dir / "warc").glob("*")):
        pytest.skip(f"there are no archives in {source}")
    here = ns.dedup(source, use=use, keep="longest", ties="content")
    there = ns.dedup(source, use=use, keep="longest", engine=ns.Spark(spark))
    assert answer(here) == answer(there)
    assert here.stats.removed
