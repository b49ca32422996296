"""Layers: the cheap ones first, and nothing goes without a witness that stays to the end.

1. Against a slow twin: the same documents go, by the same layers, for the same witnesses.
2. The answer depends on documents and settings, not on threads, batches, or the order in which layers are named.
3. What was not compared is not claimed.
"""

import json
import math
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.flow.evidence import PageFacts
from nearsame.flow.layer_names import require_layers
from nearsame.flow.layers import Layers
from nearsame.index import facets
from nearsame.installation import install_command
from nearsame.recipes.choices import LAYERS
from nearsame.stages.texts.page_text import PageTexts
from nearsame.web.rules import UrlRule, UrlRules
from tests.cli.commands import run, write_jsonl
from tests.examples import share
from tests.oracle.decisions import decide
from tests.oracle.layers import Gone, Pairs, layered
from tests.oracle.shingles import features
from tests.sources.archive import gzipped, html, http, record

Page = dict[str, Any]

_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_TEXTS = st.sampled_from(
    [
        *(" ".join(_WORDS[:n]) for n in (8, 9, 10)),
        " ".join(reversed(_WORDS)),
        "One, two three four five six seven eight nine ten!",
        "",
        None,
    ]
)
_URLS = st.none() | st.sampled_from(
    [f"https://{host}.org/{path}" for host in "ab" for path in ("", "x", "y?b=1&a=2", "x/index.php", "/x")]
)
_SHOWN = {"https://a.org/y?b=1&a=2": "https://a.org/y?a=2&b=1", "https://b.org/y?b=1&a=2": "https://b.org/y?a=2&b=1"}
PAGES = st.lists(
    st.fixed_dictionaries(
        {
            "text": _TEXTS,
            "url": _URLS,
            "canonical": _URLS,
            "payload_digest": st.none() | st.sampled_from(["sha1:A", "sha1:B"]),
            "when": st.integers(0, 3),
        }
    ),
    max_size=9,
)
USES = st.lists(st.sampled_from(["url", "canonical", "revisit", "digest", "text"]), min_size=1, unique=True)
THRESHOLD = Fraction(7, 10)


def table(pages: list[Page], prefix: str = "d") -> pa.Table:
    kinds = {"text": pa.string(), "url": pa.string(), "canonical": pa.string(), "payload_digest": pa.string()}
    columns = {name: pa.array([page.get(name) for page in pages], kind) for name, kind in kinds.items()}
    ids = pa.array([f"{prefix}{row}" for row in range(len(pages))], pa.string())
    return pa.table({"id": ids, **columns, "when": pa.array([page.get("when", 0) for page in pages], pa.int64())})


def order_of(pages: list[Page], keep: str, num_against: int) -> list[int]:
    keys = {
        "first": lambda row: 0,
        "last": lambda row: -row,
        "longest": lambda row: -len((pages[row]["text"] or "").encode()),
        "max:when": lambda row: -pages[row]["when"],
    }
    return sorted(range(len(pages)), key=lambda row: (row >= num_against, keys[keep](row), row))


def strings_of(pages: list[Page]) -> dict[str, list[str | None]]:
    def form(url: str | None) -> str | None:
        return _SHOWN.get(url, url) if url else url

    def guess(url: str | None) -> str | None:
        return form(url.replace("/index.php", "").replace("org//x", "org/x")) if url else url

    named = {form(page["canonical"]) for page in pages}
    own = [form(page["url"]) if form(page["url"]) in named else None for page in pages]
    return {
        "url": [form(page["url"]) for page in pages],
        "url-guess": [guess(page["url"]) for page in pages],
        "canonical": [form(page["canonical"]) or url for page, url in zip(pages, own, strict=True)],
        "revisit": [page["payload_digest"] for page in pages],
        "digest": [page["text"] for page in pages],
    }


def _expected(pages: list[Page], use: list[str], keep: str, num_against: int, *, within: bool) -> dict[int, Gone]:
    order = order_of(pages, keep, num_against)

    def near(left: list[int], _: Pairs, size: int, threshold: Fraction) -> dict[int, int]:
        sets = [
            features(page["text"] or "", size=size) if row in left else frozenset() for row, page in enumerate(pages)
        ]
        found = decide(sets, threshold, order, num_against=num_against, within=within)
        return {row: witness for row, (witness, _) in found.items()}

    text, default = partial(near, size=2, threshold=THRESHOLD), partial(near, size=5, threshold=Fraction(4, 5))
    strings = {name: values for name, values in strings_of(pages).items() if name.partition("-")[0] in use}
    empty = [not page["text"] for page in pages]
    found, guessed = (text, text) if "text" in use else (None, default)
    return layered(strings, order, found, num_against=num_against, within=within, empty=empty, near=guessed)


@settings(deadline=None, max_examples=share(120))
@given(PAGES, PAGES, USES, st.sampled_from(["first", "last", "longest", "max:when"]), st.booleans(), st.data())
def test_layers_are_the_slow_ones(  # noqa: PLR0917  (drawn by Hypothesis)
    old: list[Page], new: list[Page], use: list[str], keep: str, within: bool, data: st.DataObject
) -> None:
    """The same rows go, by the same layers, and each has the same witness in the end."""
    pages = [*old, *new]
    needs = {"url": "url", "canonical": "canonical", "revisit": "payload_digest"}
    use = [name for name in use if name not in needs or any(page[needs[name]] for page in pages)] or ["digest"]
    method = {"method": ns.Jaccard(threshold="0.7", shingle_size=2)} if "text" in use else {}
    found = ns.dedup(
        table(new),
        against=table(old, "o"),
        use=data.draw(st.permutations(use)),
        keep=keep,
        within=within,
        batch_rows=data.draw(st.none() | st.integers(1, 4)),
        threads=data.draw(st.integers(1, 2)),
        **method,
    )
    ids = [*(f"o{row}" for row in range(len(old))), *(f"d{row}" for row in range(len(new)))]
    expected = {
        ids[row]: (gone.layer, ids[gone.witness], None if gone.via is None else ids[gone.via])
        for row, gone in _expected(pages, use, keep, len(old), within=within).items()
    }
    names = ["id", "layer", "witness_id", "via_id"]
    assert expected == {row["id"]: tuple(row[name] for name in names[1:]) for row in found.removals.to_pylist()}
    kept = set(found.kept().column("id").to_pylist()) | {name for name in ids if name.startswith("o")}
    assert set(ids) - set(expected) == kept
    assert set(found.removals.column("witness_id").to_pylist()) <= kept
    assert len(expected) == sum(layer["removed"] for layer in found.stats.layers) == found.stats.removed
    assert sum(not page["text"] for page in pages) == found.stats.empty


@pytest.fixture
def chain() -> list[Page]:
    """A url-copy b of a; a is a near copy of z; c has the bytes of a, d those of b."""
    text = " ".join(f"word{n}" for n in range(60))
    return [
        {"id": "z", "url": "https://z.org/", "text": f"{text} end"},
        {"id": "a", "url": "https://a.org/", "text": text},
        {"id": "b", "url": "http://a.org/?utm_source=mail", "text": "another text altogether"},
        {"id": "c", "url": "https://c.org/", "text": text},
        {"id": "d", "url": "https://d.org/", "text": "another text altogether"},
    ]


def _lines(found: Any, *names: str) -> dict[str, tuple[Any, ...]]:
    return {row["id"]: tuple(row[name] for name in names) for row in found.removals.to_pylist()}


def test_who_loses_a_witness_inherits_its_keeper_and_says_so(chain: list[Page]) -> None:
    """Equal bytes inherit the similarity; equal URLs inherit no more than a chain."""
    found = ns.dedup(chain, use="url,digest,text")
    similarity = 56 / 57
    assert {
        "a": ("z", similarity, "jaccard", "text", None),
        "b": ("z", similarity, "chain", "url", "a"),
        "c": ("z", similarity, "jaccard", "digest", "a"),
    } == _lines(found, "witness_id", "similarity", "measure", "layer", "via_id")
    assert {"a": ["near"], "b": [], "c": ["near"]} == {
        name: kinds for name, (kinds,) in _lines(found, "evidence").items()
    }
    assert (0, 2, 1) == (found.stats.exact_copies, found.stats.near_copies, found.stats.other_copies)


def test_what_one_layer_removes_enters_no_later_one(chain: list[Page]) -> None:
    """Not even as a witness: d equals b, and stays, since b went by its URL."""
    found = ns.dedup(chain, use=["text", "digest", "url"])
    assert [("url", 5, 1), ("url-guess", 4, 0), ("digest", 4, 1), ("text", 3, 1)] == [
        (layer["layer"], layer["documents"], layer["removed"]) for layer in found.stats.layers
    ]
    assert {"z", "d"} == set(found.kept().column("id").to_pylist())
    assert [1, 0, 1, 0] == [layer["inherited"] for layer in found.stats.layers]


def test_the_cheap_layers_alone_need_no_method(chain: list[Page]) -> None:
    """And refuse one, which would have nothing to do."""
    assert {"b": ("a", "url", 1.0)} == _lines(ns.dedup(chain, use="url"), "witness_id", "measure", "similarity")
    for method in ("minhash", ns.MinHash()):
        with pytest.raises(ns.ConfigError, match="and method=minhash: without the layer text"):
            ns.dedup(chain, use="url", method=method)


def test_the_newest_of_a_recrawled_page_stays() -> None:
    """The policy of --keep decides in every layer; evidence does not claim that the texts are the same."""
    pages = [
        {"id": "old", "url": "http://a.org/p", "text": "as it was", "date": "2024-01-01"},
        {"id": "new", "url": "https://a.org/p#top", "text": "as it is now", "date": "2024-06-01"},
    ]
    found = ns.dedup(pages, use="url", keep="newest:date")
    assert {"old": ("new", ["url-usual"], True)} == _lines(found, "witness_id", "evidence", "same_host")
    assert ({"url-usual": 1}, 1, 0) == (found.stats.evidence, found.stats.same_host, found.stats.cross_host)
    assert 1 == found.stats.layers[0]["other_text"]


_LONG = " ".join(f"word{n}" for n in range(60))
_GUESSES = [  # two URLs that a guess makes one
    ("https://a.org/p?sid=0123456789abcdef0123456789abcdef", "https://a.org/p"),
    ("https://a.org/p;jsessionid=1", "https://a.org/p;jsessionid=2"),
    ("https://a.org/p/index.php", "https://a.org/p/"),
    ("https://a.org/p/index.html", "https://a.org/p/index.htm"),
    ("https://a.org/dev//null", "https://a.org/dev/null"),
    ("https://a.org/p?a=1&amp;b=2", "https://a.org/p?a=1&b=2"),
    ("https://a.org/p#page=2", "https://a.org/p#page=3"),
]


@pytest.mark.parametrize(("one", "other"), _GUESSES)
@pytest.mark.parametrize("use", ["url", "url,text"])
def test_a_guess_about_urls_needs_a_text_that_is_near_enough(one: str, other: str, use: str) -> None:
    """Then it says which layer removed it, how similar both are, and that the URL alone would be a guess."""
    pages = [{"id": "a", "url": one, "text": _LONG}, {"id": "b", "url": other, "text": f"{_LONG} end"}]
    found = ns.dedup(pages, use=use)
    expected = {"b": ("a", "url-guess", "jaccard", 56 / 57, ["near", "url-guess"])}
    assert expected == _lines(found, "witness_id", "layer", "measure", "similarity", "evidence")
    assert (0, 1, 0) == (found.stats.exact_copies, found.stats.near_copies, found.stats.other_copies)
    pages[1]["text"] = "another text altogether"
    assert 0 == ns.dedup(pages, use=use).stats.removed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://blog.example/?s=covid19vaccination", "https://blog.example/?s=playstation5console"),
        ("https://blog.example/?s=covid19vaccination", "https://blog.example/"),
        ("https://app.example/#/users/1", "https://app.example/#/users/2"),
        ("https://wiki.example/wiki//dev/null", "https://wiki.example/wiki/dev/null"),
        ("https://wiki.example/wiki/Index.php", "https://wiki.example/wiki"),
        *_GUESSES,
    ],
)
@pytest.mark.parametrize("use", ["url", "redirect", "canonical"])
def test_nothing_goes_by_a_url_alone_where_that_is_a_guess(one: str, other: str, use: str) -> None:
    """Nor by what redirects to such a URL, or names it as the canonical one."""
    pages = [
        {"id": "a", "url": one, "text": "some text"},
        {"id": "b", "url": "https://else.example/", "text": "another one", use: other},
    ]
    assert 0 == ns.dedup(pages, use=use).stats.removed


@pytest.mark.parametrize(
    ("method", "measure", "removed"),
    [
        (ns.Jaccard(threshold=0.99), "", 0),
        (ns.Jaccard(threshold=0.9), "jaccard", 1),
        (ns.MinHash(threshold=0.9), "jaccard", 1),
        (ns.Containment(threshold=0.9), "jaccard", 1),
        (ns.SimHash(k=3), "jaccard", 1),
        (ns.Digest(), "", 0),
    ],
)
def test_a_guess_is_held_to_the_method_of_the_run(method: Any, measure: str, removed: int) -> None:
    """To sets of its shingles, or to whole texts; to the default method where it compares something else."""
    pages = [
        {"id": "a", "url": "https://a.org/p/index.php", "text": _LONG},
        {"id": "b", "url": "https://a.org/p/", "text": f"{_LONG} end"},
    ]
    found = ns.dedup(pages, use="url,text", method=method)
    assert [measure] * removed == [row["measure"] for row in found.removals.to_pylist() if row["layer"] == "url-guess"]
    same = ns.dedup([pages[0], {**pages[1], "text": _LONG}], use="url,text", method=method)
    assert {"b": ("url-guess", ["bytes", "text", "url-guess"])} == _lines(same, "layer", "evidence")


def test_nobody_guesses_where_the_rules_do_not(tmp_path: Path) -> None:
    """Then there is no such layer, and documents are read once."""
    pages = [{"url": "https://a.org/index.php", "text": _LONG}, {"url": "https://a.org/", "text": _LONG}]
    found = ns.dedup(pages, use="url", urls=ns.CanonicalUrl(up_to="usual"))
    assert (0, ["url"]) == (found.stats.removed, [layer["layer"] for layer in found.stats.layers])
    found.write(tmp_path / "clean")


def test_pages_are_compared_by_their_content_where_their_urls_are_a_guess(tmp_path: Path) -> None:
    """The text that is taken out of a page, not its markup."""
    page, other = html(_LONG), html(_LONG).replace(b"<p>", b"<p class=x>")
    path = tmp_path / "pages.warc.gz"
    records = [
        record(http(body), f"WARC-Target-URI: http://a.example/{name}", number=number).replace(
            f"WARC-Target-URI: http://a.example/{number}\r\n".encode(), b""
        )
        for number, (name, body) in enumerate([("", page), ("index.php", other)], 1)
    ]
    path.write_bytes(gzipped(*records))
    found = ns.dedup(path, use="url,digest")
    assert {"http://a.example/index.php": ("url-guess", 1.0)} == _lines(found, "layer", "similarity")
    found.write(tmp_path / "clean")


def test_a_source_that_changes_before_guesses_are_compared_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared are the texts that were read first."""
    pages = [{"url": url, "text": _LONG} for url in ("https://a.org/index.php", "https://a.org/")]
    source = write_jsonl(tmp_path / "pages.jsonl", pages)
    known = PageFacts.urls

    def changing(self: PageFacts, rows: Any = None, degree: Any = "usual") -> Any:
        if degree == "guess":
            write_jsonl(source, [{**page, "text": f"x{page['text'][1:]}"} for page in pages])
        return known(self, rows, degree)

    monkeypatch.setattr(PageFacts, "urls", changing)
    with pytest.raises(ns.SourceError, match="changed while it was being read"):
        ns.dedup(source, use="url")


def test_a_page_without_a_text_takes_no_other_along() -> None:
    """A crawl that came back empty is no reason to drop what an earlier one has brought."""
    pages = [{"id": "empty", "url": "u:1", "text": ""}, {"id": "full", "url": "u:1", "text": "something"}]
    assert 0 == ns.dedup(pages, use="url").stats.removed


@pytest.mark.parametrize("use", ["url", "url,text", "canonical,digest"])
@pytest.mark.parametrize(
    "shell", ["<p></p>", "<html><head><title>Loading</title></head><body><script></script></body>"]
)
def test_a_page_that_shows_nothing_takes_no_other_along(use: str, shell: str) -> None:
    """Of pages, what counts as a text is what is taken out of them; the shell is counted as empty, and stays."""
    pages = [
        {"id": "shell", "where": "http://a.org/x", "canonical": "/x", "html": shell},
        {"id": "full", "where": "http://a.org/x", "canonical": "/x", "html": _page(_PARAGRAPHS[0], "one")},
        {"id": "again", "where": "http://a.org/x", "canonical": "/x", "html": _page(_PARAGRAPHS[0], "two")},
        {"id": "shell, too", "where": "http://a.org/x", "canonical": "/x", "html": shell},
    ]
    found = ns.dedup(pages, use=use, html_column="html", url_column="where")
    assert {"again": ("full",)} == _lines(found, "witness_id")
    assert 2 == found.stats.empty


def test_redirects_are_followed_to_their_end() -> None:
    """Over several steps, also in a circle; a record of a redirect has no text, and goes."""
    pages = [
        {"id": "a", "url": "http://x.org/a", "redirect": "/b", "text": None},
        {"id": "b", "url": "http://x.org/b", "redirect": "http://y.org/c", "text": None},
        {"id": "c", "url": "https://y.org/c", "redirect": None, "text": "the page"},
        {"id": "d", "url": "https://x.org/d", "redirect": "/e", "text": "round"},
        {"id": "e", "url": "https://x.org/e", "redirect": "/d", "text": "round and round"},
    ]
    found = ns.dedup(pages, use="redirect")
    assert {"a": ("c", ["redirect"], False), "b": ("c", ["redirect"], False), "e": ("d", ["redirect"], True)} == _lines(
        found, "witness_id", "evidence", "same_host"
    )


def test_the_least_of_several_redirects_counts(tmp_path) -> None:
    """A URL that redirected to two pages, as two visits saw, leads on to one of them, however they are ordered."""
    pages = [
        {"id": "to c", "url": "http://x.org/b", "redirect": "/c", "text": None},
        {"id": "to d", "url": "http://x.org/b", "redirect": "/d", "text": None},
        {"id": "a", "url": "http://x.org/a", "redirect": "/b", "text": None},
        {"id": "c", "url": "http://x.org/c", "redirect": None, "text": "one page"},
        {"id": "d", "url": "http://x.org/d", "redirect": None, "text": "another page"},
    ]
    expected = {"to c": ("c",), "to d": ("d",), "a": ("c",)}
    for order in (1, -1):
        path = tmp_path / f"{order}.jsonl"
        path.write_text("".join(json.dumps(page) + "\n" for page in pages[::order]))
        found = ns.dedup(path, use="redirect")
        assert expected == _lines(found, "witness_id")
        found.write(tmp_path / f"out{order}")  # and is verified


@pytest.mark.parametrize("nothing", ["", None])
def test_what_is_empty_is_the_same_as_nothing_else(tmp_path, nothing) -> None:
    """Neither a URL nor a payload's digest nor a link: pages of which nothing is known are not one page."""
    beside = dict.fromkeys(("url", "redirect", "canonical", "revisit_of", "payload_digest"), nothing)
    pages = [{"id": name, **beside, "text": "the same text of two pages"} for name in ("first", "second")]
    known = [{"id": name, **dict.fromkeys(beside, f"http://x.org/{name}"), "text": name} for name in ("a", "b")]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in [*pages, *known]))
    found = ns.dedup(path, use="url,redirect,canonical,revisit,text")
    assert {"second": ("text", ["bytes", "text"], None)} == _lines(found, "layer", "evidence", "same_host")
    found.write(tmp_path / "out")  # and is verified


def test_a_column_of_which_nothing_is_known_is_no_column_of_urls() -> None:
    """The request is refused as if the column was not there."""
    with pytest.raises(ns.ConfigError, match="no document has anything in the column 'url'"):
        ns.dedup([{"url": "", "text": "a"}], use="url")


def test_two_visits_of_one_page_are_no_redirect() -> None:
    """One URL is the layer `url`'s, until a redirect leads to it."""
    visits = [{"id": name, "url": "http://x.org/a", "redirect": None, "text": name} for name in ("first", "second")]
    other = [{"id": "b", "url": "http://x.org/b", "redirect": "/c", "text": None}]
    assert 0 == ns.dedup([*visits, *other], use="redirect").stats.removed
    leading = [{"id": "b", "url": "http://x.org/b", "redirect": "/a", "text": None}]
    found = ns.dedup([*visits, *leading], use="redirect")
    assert {"second": ("first",), "b": ("first",)} == _lines(found, "witness_id")


def test_an_archive_may_have_nothing_for_a_layer(tmp_path: Path) -> None:
    """That there is no redirect in one is no mistake of the request; a table without the column is."""
    path = tmp_path / "pages.warc.gz"
    path.write_bytes(gzipped(record(http(html("one page")), number=1), record(http(html("another")), number=2)))
    layers = ns.dedup(path, use="redirect,canonical,revisit,text").stats.layers
    assert [0, 0, 0, 0] == [layer["removed"] for layer in layers]


def test_a_revisit_goes_for_the_page_that_it_revisits() -> None:
    """By the digest of its payload; two revisits without their page both stay."""
    pages = [
        {"id": "again", "url": "u:1", "revisit_of": "u:1", "payload_digest": "sha1:A", "text": None},
        {"id": "page", "url": "u:1", "revisit_of": None, "payload_digest": "sha1:A", "text": "the page"},
        {"id": "lost", "url": "u:2", "revisit_of": "u:2", "payload_digest": "sha1:B", "text": None},
        {"id": "lost too", "url": "u:2", "revisit_of": "u:2", "payload_digest": "sha1:B", "text": None},
    ]
    found = ns.dedup(pages, use="revisit")
    assert {"again": ("page", ["revisit", "url-standard"])} == _lines(found, "witness_id", "evidence")


def test_without_layers_a_url_column_adds_evidence_and_changes_nothing_else(chain: list[Page]) -> None:
    """The same documents go as without URLs, and the tables have the same columns before the new ones."""
    plain = ns.dedup([{"id": page["id"], "text": page["text"]} for page in chain])
    found = ns.dedup(chain)
    assert plain.removals.equals(found.removals.select(plain.removals.column_names))
    assert ["evidence", "same_host"] == found.removals.column_names[len(plain.removals.column_names) :]
    assert plain.clusters.equals(found.clusters.select(plain.clusters.column_names))
    assert (None, {}) == (plain.stats.same_host, plain.stats.evidence)


def test_mirrors_are_evidence_when_hosts_share_several_pages() -> None:
    """Three pages at the same paths of two hosts, and one pair of other paths."""
    texts = [" ".join(f"page{page}word{n}" for n in range(30)) for page in range(4)]
    ours = [{"url": f"http://a.org/{n}", "text": text} for n, text in enumerate(texts)]
    theirs = [{"url": f"http://b.org/{n if n < 3 else 'other'}", "text": text} for n, text in enumerate(texts)]
    kinds = ns.dedup([*ours, *theirs]).removals.column("evidence").to_pylist()
    assert [["bytes", "text", "mirror"]] * 3 + [["bytes", "text"]] == kinds


def test_pairs_of_other_layers_have_no_shares_of_the_method() -> None:
    """Containment says both directions of its own pairs only."""
    text = " ".join(f"w{n}" for n in range(40))
    pages = [
        {"id": "long", "url": "http://a.org/1", "text": f"{text} and more at the end of it"},
        {"id": "short", "url": "http://a.org/2", "text": text},
        {"id": "same", "url": "http://a.org/2", "text": "other words"},
    ]
    found = ns.dedup(pages, use="url,text", method="containment")
    assert ["chain", "containment"] == sorted(found.pairs.column("measure").to_pylist())
    shares = {row["measure"]: (row["a_in_b"], row["b_in_a"]) for row in found.pairs.to_pylist()}
    assert 1.0 in shares["containment"]
    assert all(math.isnan(share) for share in shares["chain"])


def test_a_higher_threshold_settles_the_layers_anew(chain: list[Page]) -> None:
    """What went by URL has its own witness again once that stays."""
    found = ns.dedup(chain, use="url,digest,text").at(threshold="0.99")
    assert {"b": ("a", "url", None), "c": ("a", "digest", None)} == _lines(found, "witness_id", "measure", "via_id")


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        ("", "is not a layer"),
        ("url,texts", "'texts' is not a layer"),
        ([], "it names no layer"),
        ("mirror", "is not a layer"),
    ],
)
def test_only_layers_that_there_are_can_be_used(use: Any, hint: str) -> None:
    """The error names the ones to choose from."""
    with pytest.raises(ns.ConfigError, match=hint) as error:
        require_layers(use)
    assert all(name in error.value.hint for name in LAYERS)


def test_a_layer_without_anything_to_go_by_is_an_error() -> None:
    """It would remove nothing, and nobody would know why."""
    with pytest.raises(ns.ConfigError, match="no document has anything in the column 'link'"):
        ns.dedup([{"text": "a", "url": "u"}], use="url", url_column="link")
    for columns in ({"method": "hyperplane"}, {"features_column": "tags"}):
        with pytest.raises(ns.ConfigError, match="needs texts"):
            ns.dedup([{"text": "a", "url": "u"}], use="url,text", **columns)


def test_a_work_directory_keeps_the_steps_of_the_method(chain: list[Page], tmp_path: Path) -> None:
    """The same run again gives the same answer; one with other layers is another run."""
    source = write_jsonl(tmp_path / "pages.jsonl", chain)
    first, again = (ns.dedup(source, use="url,text", workdir=tmp_path / "work") for _ in range(2))
    assert first.removals.equals(again.removals)
    assert {"a", "b", "c"} == set(first.removals.column("id").to_pylist())
    with pytest.raises(ns.WorkdirError):
        ns.dedup(source, use="digest,text", workdir=tmp_path / "work")


def test_a_source_that_changes_between_the_passes_is_an_error(
    chain: list[Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided about other texts removes nothing."""
    source = write_jsonl(tmp_path / "pages.jsonl", chain)
    left = Layers.left

    def changing(self: Layers, reading: Any) -> Any:
        write_jsonl(source, [chain[1], chain[0], *chain[2:]])
        return left(self, reading)

    monkeypatch.setattr(Layers, "left", changing)
    with pytest.raises(ns.SourceError, match="changed while it was being read"):
        ns.dedup(source, use="url,text")


def test_the_command_line_says_what_each_layer_did(chain: list[Page], tmp_path: Path) -> None:
    """In the summary, in the folder and in the statistics; in 80 columns."""
    source = write_jsonl(tmp_path / "pages.jsonl", chain)
    done = run("dedup", source, "--use", "text,digest,url", "-o", tmp_path / "clean")
    assert 0 == done.exit_code
    summary = " ".join(done.stdout.split())
    for part in (
        "not by text 1 by what URLs and pages say of themselves",
        "layer url 1 of 5 documents; 1 with another text",
        "layer digest 1 of 4 documents layer",
        "same host 0 removed for a document of their own host",
        "other host 3 for one of another",
        "evidence: near 2 (a document may have several)",
        "what url removed may have another text",
    ):
        assert part in summary
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("Written"))
    assert {29} == {line.index(" of ") + 1 for line in done.stdout.splitlines() if line.startswith("  layer")}
    removed = pq.read_table(tmp_path / "clean" / "removed.parquet")
    assert ["text", "url", "digest"] == removed.column("layer").to_pylist()
    assert [["near"], [], ["near"]] == removed.column("evidence").to_pylist()
    stats = json.loads((tmp_path / "clean" / "stats.json").read_text("utf-8"))
    assert (
        ["url", "url-guess", "digest", "text"]
        == stats["recipe"]["use"]
        == [layer["layer"] for layer in stats["layers"]]
    )
    assert "canonical-url" in json.dumps(stats["recipe"]["urls"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--use", "url", "--threshold", "0.5"], "nothing for it to do"),
        (["--use", "url", "--method", "jaccard"], "nothing for it to do"),
        (["--use", "uri"], "'uri' is not a layer"),
        (["--use", "canonical"], "no document has anything in the column 'canonical'"),
    ],
)
def test_options_that_would_do_nothing_are_errors(
    chain: list[Page], tmp_path: Path, options: list[str], message: str
) -> None:
    """With the exit code of a request that cannot be met."""
    done = run("dedup", write_jsonl(tmp_path / "pages.jsonl", chain), "--dry-run", *options)
    assert 2 == done.exit_code
    assert message in " ".join(done.stderr.split())


def _warc(folder: Path) -> Path:
    """A page, its revisit, a redirect to it, a copy of it on another host, and the same text in other markup."""
    text, digest = " ".join(f"word{n}" for n in range(60)), "WARC-Payload-Digest: sha1:AAAA"
    page = html(text)
    records = [
        record(http(page), digest, number=1),
        record(
            http(b"", status="304 Not Modified"),
            digest,
            "WARC-Refers-To-Target-URI: http://a.example/1",
            kind="revisit",
            number=2,
        ),
        record(http(b"", "Location: /1", status="301 Moved", kind=""), number=3),
        record(http(page), "WARC-Target-URI: http://b.example/1", number=4).replace(
            b"WARC-Target-URI: http://a.example/4\r\n", b""
        ),
        record(http(page.replace(b"<p>", b"<p class=x>")), number=5),
    ]
    path = folder / "pages.warc.gz"
    path.write_bytes(gzipped(*records))
    return path


def test_layers_of_an_archive(tmp_path: Path) -> None:
    """One text in other markup is the same text, and other bytes; kept/ is an archive without the rest."""
    source = _warc(tmp_path)
    found = ns.dedup(source, use="redirect,revisit,digest,text")
    witness = "http://a.example/1"
    assert {
        "http://a.example/2": (witness, "revisit", ["revisit"]),
        "http://a.example/3": (witness, "redirect", ["redirect"]),
        "http://b.example/1": (witness, "digest", ["bytes", "text"]),
        "http://a.example/5": (witness, "digest", ["text"]),
    } == _lines(found, "witness_id", "layer", "evidence")
    assert [0, 0, 0, 0] == [layer["other_text"] for layer in found.stats.layers]
    found.write(tmp_path / "clean")
    assert 1 == ns.dedup(tmp_path / "clean" / "kept" / "pages.warc.gz").stats.documents


@pytest.mark.parametrize(("use", "stays"), [("url,revisit", True), ("redirect,digest", True), ("url,digest", False)])
def test_a_revisit_that_is_a_document_and_stays_stands_in_the_copy(tmp_path: Path, use: str, stays: bool) -> None:
    """Also where the response that it refers to goes; where it is no document, it goes with that."""
    page = http(html(_LONG))
    name, digest = f"<urn:uuid:00000000-0000-0000-0000-{1:012d}>", "WARC-Payload-Digest: sha1:"
    refers = (f"{digest}{'A' * 32}", f"WARC-Refers-To: {name}", "WARC-Refers-To-Target-URI: http://a.example/1")
    (tmp_path / "pages.warc").write_bytes(
        record(page, f"{digest}{'A' * 32}", number=1)
        + record(http(b""), *refers, kind="revisit", number=2, url="http://a.example/1")
        + record(http(html(_LONG), "Via: a"), f"{digest}{'B' * 32}", number=3, url="http://a.example/1")
    )
    found = ns.dedup(tmp_path / "pages.warc", use=use, keep="max:record_id")
    assert 1 == found.stats.removed
    found.write(tmp_path / "clean")
    kept = ns.dedup(tmp_path / "clean" / "kept" / "pages.warc", use="revisit")
    assert found.stats.kept == kept.stats.documents == 1 + stays
    assert ns.verify(tmp_path / "clean").holds


_PARAGRAPHS = [" ".join(f"{letter}{number}" for number in range(60)) for letter in "xyz"]
_SITES = st.lists(
    st.tuples(
        st.sampled_from([*_PARAGRAPHS, ""]),
        st.sampled_from(["one", "two"]),
        st.sampled_from("ab"),
        st.sampled_from("ab"),
    ),
    min_size=1,
    max_size=9,
)


def _page(text: str, footer: str) -> str:
    return f"<html><body><main><p>{text}</p></main><footer><p>{footer}</p></footer></body></html>"


@settings(deadline=None, max_examples=share(60))
@given(_SITES, st.lists(st.sampled_from(["url", "canonical", "digest", "text"]), min_size=1, unique=True))
def test_of_pages_the_text_counts_that_the_method_compares(
    site: list[tuple[str, str, str, str]], use: list[str]
) -> None:
    """In the layer and in the counts: by hand, from the texts that the pages were made of."""
    pages = [
        {"id": f"{row}", "url": f"https://a.org/{url}#{row}", "canonical": f"/{named}", "html": _page(text, footer)}
        for row, (text, footer, url, named) in enumerate(site)
    ]
    texts, bodies = [text for text, *_ in site], [page["html"] for page in pages]
    found = ns.dedup(pages, use=use, html_column="html", **({"method": "digest"} if "text" in use else {}))
    rows = found.removals.to_pylist()
    other, exact = dict.fromkeys(use, 0), 0
    for row in rows:
        own, last = (int(row[name] or row["witness_id"]) for name in ("via_id", "witness_id"))
        other[row["layer"]] += bool(texts[int(row["id"])]) and texts[int(row["id"])] != texts[own]
        exact += texts[int(row["id"])] == texts[last]
        kinds = {"bytes": bodies[int(row["id"])] == bodies[last], "text": texts[int(row["id"])] == texts[last]}
        assert kinds == {kind: kind in row["evidence"] for kind in kinds}
    counted = {layer["layer"]: layer["other_text"] for layer in found.stats.layers if layer["layer"] in use}
    assert (other, exact) == (counted, found.stats.exact_copies)
    if set(use) & {"digest", "text"}:
        kept = [texts[int(name)] for name in found.kept().column("id").to_pylist() if texts[int(name)]]
        assert len(kept) == len(set(kept))


@settings(deadline=None, max_examples=share(60))
@given(
    st.lists(
        st.tuples(st.sampled_from([*_PARAGRAPHS, ""]), *(st.sampled_from(two) for two in ("ab", "xy", "gh"))),
        min_size=2, max_size=9,
    ),
    st.sampled_from(["url", "url,digest", "canonical,text", "url,canonical,text"]),
    st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_of_pages_whoever_stays_in_a_url_has_a_text_if_any_has(
    site: list[tuple[str, str, str, str]], use: str, against: bool, grouped: bool
) -> None:
    """By hand, for one URL in each group: the first with a text; of the judged side it stays, and what is empty."""
    pages = [
        {"id": f"{row}", "url": f"http://a.org/{url}", "canonical": "/x", "group": group, "html": _page(text, footer)}
        for row, (text, footer, url, group) in enumerate(site)
    ]
    cut = len(pages) // 2 if against else 0
    method = {"method": "digest"} if "text" in use else {}
    with TemporaryDirectory() as place:
        home = Path(place)
        sides = {"against": write_jsonl(home / "before.jsonl", pages[:cut])} if cut else {}
        found = ns.dedup(
            write_jsonl(home / "pages.jsonl", pages[cut:]),
            use=use, html_column="html", group_by="group" if grouped else None, **sides, **method,
        )  # fmt: skip
        found.write(home / "clean")
        assert ns.verify(home / "clean").holds
    name = "url" if use.startswith("url") else "canonical"
    seen: set[tuple[Any, ...]] = set()
    going = set()
    for page, (text, *_) in zip(pages, site, strict=True):
        key = (page[name], page["group"] if grouped else "")
        if text and key in seen and int(page["id"]) >= cut:
            going.add(page["id"])
        if text:
            seen.add(key)
    gone = {row["id"] for row in found.removals.to_pylist() if row["layer"] == name}
    assert gone == going
    if use != "url":
        assert found.stats.empty == found.stats.pages["nowhere"] == sum(not text for text, *_ in site)


def test_the_same_bytes_of_another_type_are_another_text(tmp_path: Path) -> None:
    """What is taken out of a page is compared, and its header says what that is."""
    body = html(_LONG)
    kinds = ("text/html; charset=utf-8", "text/plain")
    records = [record(http(body, kind=kind), url="http://a.org/", number=at) for at, kind in enumerate(kinds)]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    found = ns.dedup(tmp_path / "a.warc", use="url,digest")
    assert [1, 0, 0] == [layer["other_text"] for layer in found.stats.layers]
    assert [["bytes", "url-standard"]] == found.removals.column("evidence").to_pylist()
    found.write(tmp_path / "clean")
    assert ns.verify(tmp_path / "clean").holds


@pytest.mark.parametrize("pages", [(None, ""), ("", None), (None, None), ("", "")])
def test_pages_that_are_not_there_are_not_counted_as_pages(pages: tuple[str | None, str | None]) -> None:
    """Only what is there has no text to be found."""
    table = pa.table({"url": ["http://a.org/"] * 2, "html": pa.array(pages, pa.string())})
    stats = ns.dedup(table, html_column="html", use="url").stats
    assert (2, sum(page is not None for page in pages)) == (stats.empty, stats.pages["nowhere"])


def test_two_pages_of_one_text_are_one_whatever_stands_around_it() -> None:
    """As the method `digest` has it."""
    pages = [{"html": _page(_PARAGRAPHS[0], footer)} for footer in ("one", "two")]
    for settings_ in ({"use": "digest"}, {"use": "digest,text"}, {"method": "digest"}):
        assert 1 == ns.dedup(pages, html_column="html", **settings_).stats.removed


def test_texts_are_taken_out_of_pages_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever layers ask for them; a work directory keeps them for the next time."""
    taken: list[int] = []
    known = PageTexts.__call__

    def counting(self: PageTexts, batch: pa.RecordBatch) -> pa.RecordBatch:
        taken.append(len(batch) - batch.column("body").null_count)
        return known(self, batch)

    monkeypatch.setattr(PageTexts, "__call__", counting)
    pages = [{"url": f"http://a.org/{n}", "html": _page(f"{_PARAGRAPHS[n % 3]} end {n % 5}", "")} for n in range(20)]
    source = write_jsonl(tmp_path / "pages.jsonl", [*pages, *pages])
    settings_ = {"use": "url,digest,text", "html_column": "html", "threads": 1, "workdir": tmp_path / "work"}
    first = ns.dedup(source, **settings_)
    assert 20 == sum(taken)
    again = ns.dedup(source, **settings_)
    assert (20, first.removals) == (sum(taken), again.removals)


def test_an_archive_without_layers_has_evidence(tmp_path: Path) -> None:
    """Redirects and revisits are no documents then; bytes are the same if the archive says so."""
    found = ns.dedup(_warc(tmp_path))
    assert {"http://b.example/1": (["text"],), "http://a.example/5": (["text"],)} == _lines(found, "evidence")
    assert (1, 1) == (found.stats.same_host, found.stats.cross_host)


def test_learnt_rules_say_which_urls_are_one(tmp_path: Path) -> None:
    """As `nearsame urls --save` writes them."""
    pages = [{"id": n, "url": f"http://a.org/p?ref={n}&id={int(n) % 2}", "text": f"{int(n) % 2}"} for n in "0123"]
    rules = UrlRules(ns.CanonicalUrl(), (UrlRule("a.org", parameters=("ref",)),))
    rules.save(tmp_path / "rules.json")
    source = write_jsonl(tmp_path / "pages.jsonl", pages)
    done = run("dedup", source, "--use", "url", "--url-rules", tmp_path / "rules.json", "--json")
    assert (0, 2) == (done.exit_code, json.loads(done.stdout)["removed"])
    assert 0 == ns.dedup(pages, use="url", urls=ns.CanonicalUrl(tracking=False)).stats.removed
    found = ns.dedup(pages, use="url", urls=rules)
    assert {"2": ("0", "url-guess"), "3": ("1", "url-guess")} == _lines(found, "witness_id", "layer")
    others = [{**page, "text": f"text {page['id']}"} for page in pages]
    assert 0 == ns.dedup(others, use="url", urls=rules).stats.removed


@pytest.mark.parametrize(("up_to", "removed"), [("standard", 0), ("usual", 1), ("guess", 2)])
def test_the_command_says_how_sure_a_rule_of_urls_must_be(tmp_path: Path, up_to: str, removed: int) -> None:
    """In what layers remove, in the recipe, and in the proof of the output."""
    urls = ["http://a.org/p", "http://a.org/p?utm_source=x", "http://a.org/p/index.html"]
    source = write_jsonl(tmp_path / "pages.jsonl", [{"url": url, "text": "one text of all"} for url in urls])
    done = run("dedup", source, "--use", "url", "--up-to", up_to, "-o", tmp_path / "out")
    assert 0 == done.exit_code, done.stderr
    stats = json.loads((tmp_path / "out" / "stats.json").read_text("utf-8"))
    assert (removed, up_to) == (stats["removed"], stats["recipe"]["urls"]["up_to"])
    assert 0 == run("verify", tmp_path / "out").exit_code


def test_a_degree_and_learnt_rules_contradict_each_other(tmp_path: Path) -> None:
    """Rules are about the canonical URLs that they were learnt from."""
    done = run("dedup", tmp_path, "--dry-run", "--use", "url", "--up-to", "usual", "--url-rules", tmp_path / "r.json")
    assert (2, True) == (done.exit_code, "--up-to usual contradicts --url-rules" in done.stderr)


def test_a_url_column_of_pairs_must_be_there() -> None:
    """As in dedup."""
    with pytest.raises(ns.ConfigError, match="no document has anything in the column 'link'"):
        ns.pairs(["a rose", "a daisy"], url_column="link")


@pytest.mark.parametrize("settings", [{"url_column": "link"}, {"urls": ns.CanonicalUrl(www=True)}])
def test_what_is_said_of_urls_needs_some(settings: dict[str, Any]) -> None:
    """Else it would do nothing."""
    with pytest.raises(ns.ConfigError, match="no document has anything in the column"):
        ns.dedup(["a rose", "a daisy"], **settings)


def test_without_canonical_forms_urls_are_compared_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the answer says so; a layer of URLs needs them."""
    monkeypatch.setitem(sys.modules, "can_ada", None)
    pages = [{"url": "http://a.org/", "text": "a rose"}, {"url": "http://a.org", "text": "a rose"}]
    found = ns.dedup(pages)
    assert [["bytes", "text"]] == found.removals.column("evidence").to_pylist()
    assert any(install_command("web") in note for note in found.stats.notes)
    with pytest.raises(ns.MissingExtraError):
        ns.dedup(pages, use="url")


@pytest.mark.parametrize("extra", [0, 5])
def test_pairs_of_one_host_and_of_two_are_counted_apart(tmp_path: Path, extra: int) -> None:
    """Also where pairs are fewer than documents; a pair whose hosts are not known is neither."""
    urls = ["http://a.org/1", "http://a.org/2", "http://b.org/1", None]
    pages = [{"link": url, "text": "a rose is a rose"} for url in urls]
    pages += [{"link": "http://c.org/", "text": f"other {n}"} for n in range(extra)]
    stats = ns.pairs(pages, url_column="link").stats
    assert (1, 2) == (stats.same_host, stats.cross_host)
    assert None is ns.pairs([page["text"] for page in pages]).stats.same_host
    done = run("pairs", write_jsonl(tmp_path / "a.jsonl", pages), "--url-column", "link", "-o", tmp_path / "p.jsonl")
    assert "same host 1 of documents of one host other host 2 of two hosts; 3 unknown" in " ".join(done.stdout.split())


@pytest.mark.parametrize("url", ["-", "not a url", "about:blank", "http://", "null", "javascript:a()", "{{url}}"])
def test_what_is_no_url_is_the_same_as_no_other(url: str) -> None:
    """Placeholders would make one page of all that have none."""
    pages = [{"id": f"{n}", "url": url, "text": f"{text} one two three"} for n, text in enumerate(["a b", "c d"])]
    pages += [{"id": "x", "url": "http://a.org/", "text": "x"}, {"id": "y", "url": "http://a.org/", "text": "y"}]
    found = ns.dedup(pages, use="url")
    assert ["y"] == found.removals.column("id").to_pylist()


@pytest.mark.parametrize("url", ["example.org", "example.org?id=1", "org,example)/page", "/x", "index.html", "urn:x:1"])
def test_what_may_name_a_page_does(url: str) -> None:
    """Whatever a column has for URLs, besides words for nothing."""
    found = ns.dedup([{"url": url, "text": text} for text in ("a b", "c d")], use="url")
    assert 1 == found.stats.removed


@pytest.mark.parametrize("url", ["-", "about:blank", "n/a", "http://"])
def test_an_index_knows_no_page_by_what_is_no_url(url: str, tmp_path: Path) -> None:
    """As a run beside it."""
    with ns.Index.create(tmp_path / "a.ns", method=["digest", "url"]) as index:
        index.add([{"id": "a", "url": url, "text": "a b"}, {"id": "b", "url": "http://b.org/", "text": "b c"}])
        new = [{"id": "c", "url": url, "text": "c d"}, {"id": "d", "url": "http://b.org/", "text": "d e"}]
        assert [True, False] == [one.added for one in index.add(new, if_new=True)]


@pytest.mark.parametrize("store", ["text", "shingles"])
def test_an_index_that_has_keys_of_words_for_no_url_is_whole(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As versions before made them; such a document can be removed."""
    pages = [{"id": name, "url": "-", "text": f"{name} b c d e f g"} for name in "ab"]
    with monkeypatch.context() as patched:
        patched.setattr(facets, "is_no_url", lambda _: False)
        with ns.Index.create(tmp_path / "a.ns", method=["minhash", "url"], store=store) as index:
            index.add(pages)
    with ns.Index.open(tmp_path / "a.ns") as index:
        assert [] == index.check()
        assert [] == index.query({"url": "-", "text": "something else altogether"})
        assert 1 == index.remove("a")
        assert [] == index.check()
