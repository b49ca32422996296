"""Web pages as files and as a column: what is read, what is counted, and how they are named."""

import contextlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
import nearsame.proofs.evidence as proofs
from nearsame import page_encodings
from nearsame.errors import ColumnError, ConfigError
from nearsame.placeholders import NO_URL, is_no_url
from nearsame.sources import Columns, open_parts, page_records
from nearsame.sources.markup import about_page, absolute
from nearsame.sources.page_records import page_of_file
from tests.examples import share
from tests.sources.archive import PAGE, html

pytest.importorskip("resiliparse")

MHTML = (
    b"From: <Saved>\r\nSnapshot-Content-Location: http://a.example/saved\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/related; type="text/html"; boundary="B"\r\n\r\n--B\r\nContent-Type: text/html\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\nContent-Location: http://a.example/saved\r\n\r\n"
    b"<title>Saved</title><p>A rose =\r\nis a rose=21\r\n--B\r\nContent-Type: image/png\r\n\r\nxx\r\n--B--\r\n"
)


def test_the_first_batches_of_pages_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that there is something to do early; each holds twice as many bytes as the one before, up to the bound."""
    monkeypatch.setattr(page_records, "_FIRST_BYTES", 20)
    monkeypatch.setattr(page_records, "BATCH_BYTES", 70)
    folder = _folder(tmp_path, **{f"page{number:02}__html": b"0123456789" for number in range(23)})
    wanted = Columns()
    (part,) = open_parts([str(folder)], columns=wanted)
    assert [2, 4, 7, 7, 3] == [len(batch) for batch in part.read(wanted, lambda _: None)]


def _folder(home: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = home / name.replace("__", ".")
        path.write_bytes(data)
    return home


def _rows(folder: Path, **columns: Any) -> list[dict[str, Any]]:
    wanted = Columns(**columns)
    (part,) = open_parts([str(folder)], columns=wanted)
    return [row for batch in part.read(wanted, lambda _: None) for row in batch.to_pylist()]


def test_pages_and_texts_of_a_folder_are_one_source(tmp_path: Path) -> None:
    """Each file is a document by its path; a text is marked as one."""
    _folder(tmp_path, a__html=html("a"), b__txt=b"b", c__htm=html("c"), d__xhtml=html("d"), e__MHTML=MHTML)
    expected = [
        ("a.html", "text/html"), ("b.txt", None), ("c.htm", "text/html"), ("d.xhtml", "application/xhtml+xml"),
        ("e.MHTML", "text/html"),
    ]  # fmt: skip
    assert expected == [(row["id"], row["mime"]) for row in _rows(tmp_path)]


def test_the_same_content_in_other_surroundings_is_a_duplicate(tmp_path: Path) -> None:
    """Navigation and scripts differ, the main content does not: one stays, and its file is copied as it was."""
    other = html(PAGE.format(1)).replace(b"About us", b"Quite another menu").replace(b"= 1", b"= 2")
    (tmp_path / "in").mkdir()
    _folder(tmp_path / "in", a__html=html(PAGE.format(1)), b__html=other, c__txt=PAGE.format(1).encode())
    found = ns.dedup(str(tmp_path / "in"))
    assert (3, 2) == (found.stats.documents, found.stats.removed)
    found.write(tmp_path / "clean", copy_files=True)
    assert html(PAGE.format(1)) == (tmp_path / "clean" / "kept" / "a.html").read_bytes()
    assert ["a.html"] == [path.name for path in (tmp_path / "clean" / "kept").iterdir()]


def test_equal_texts_of_different_files_are_found_by_digest(tmp_path: Path) -> None:
    """No file is ruled out by its size: what counts is the text."""
    _folder(tmp_path, a__html=html("the same"), b__html=html("the same", "Another title"))
    assert 1 == ns.dedup(str(tmp_path), method="digest").stats.removed


def test_kept_tells_title_and_text(tmp_path: Path) -> None:
    """The text is the extracted one."""
    _folder(tmp_path, a__html=html("words"), b__mhtml=MHTML)
    found = ns.dedup(str(tmp_path)).kept().to_pylist()
    assert [("a.html", "Roses", None), ("b.mhtml", "Saved", "http://a.example/saved")] == [
        (row["id"], row["title"], row["url"]) for row in found
    ]
    assert ["words", "A rose is a rose!"] == [row["text"].strip() for row in found]


def test_mhtml_without_a_page_is_a_skip(tmp_path: Path) -> None:
    """It is counted with its path, and the others are read."""
    _folder(tmp_path, a__mht=b"Content-Type: text/plain\r\n\r\nx", b__html=html("words"))
    found = ns.dedup(str(tmp_path))
    assert (1, 1) == (found.stats.documents, found.stats.skipped)
    assert "a.mht: MHTML without an HTML part" == found.skipped.column("reason")[0].as_py()


def test_a_long_page_is_cut_and_counted(tmp_path: Path) -> None:
    """At the bound, in bytes."""
    _folder(tmp_path, a__html=b"<p>" + b"word " * 1000, b__html=b"<p>short")
    found = ns.dedup(str(tmp_path), max_document=1000, extract="text")
    assert (1, 1000) == (found.stats.pages["cut"], found.stats.recipe["max_document"])
    assert "text" == found.stats.recipe["extract"]


def test_long_pages_of_a_column_are_counted_as_those_of_files_are() -> None:
    """Copies too; a row without a page is none."""
    pages = ["<p>" + "word " * 1000, "<p>" + "word " * 1000, None, "<p>short", "<p>" + "é" * 499]
    found = ns.dedup([{"html": page} for page in pages], html_column="html", max_document=1000, extract="text")
    assert (3, 1) == (found.stats.pages["cut"], found.stats.exact_copies)


def test_a_column_of_markup_is_read_as_pages() -> None:
    """`html_column` takes the place of the text."""
    rows = [{"id": n, "html": html(PAGE.format(n // 2)).decode()} for n in range(4)]
    stats = ns.dedup(rows, html_column="html", method=ns.Jaccard(threshold=1)).stats
    assert (4, 2) == (stats.documents, stats.removed)


def test_a_column_of_markup_in_json_lines(tmp_path: Path) -> None:
    """The lines that stay are those of the file."""
    import orjson

    lines = [orjson.dumps({"id": str(n), "html": html(PAGE.format(n // 2)).decode()}) + b"\n" for n in range(4)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    found = ns.dedup(str(tmp_path / "a.jsonl"), html_column="html", method=ns.Jaccard(threshold=1))
    found.write(tmp_path / "clean")
    assert b"".join(lines[::2]) == (tmp_path / "clean" / "kept" / "a.jsonl").read_bytes()


def test_keep_may_go_by_what_is_known_of_a_page(tmp_path: Path) -> None:
    """`max:title` of two equal pages."""
    _folder(tmp_path, a__html=html("same words", "A"), b__html=html("same words", "B"))
    found = ns.dedup(str(tmp_path), keep="max:title")
    assert ["B"] == found.kept().column("title").to_pylist()


def test_settings_that_do_nothing_are_refused() -> None:
    """Pages there are none, or two columns for one."""
    with pytest.raises(ConfigError, match="extract does nothing: no source holds web pages"):
        ns.dedup(["a"], extract="text")
    with pytest.raises(ConfigError, match="max_document does nothing"):
        ns.pairs(["a"], max_document="1MB")
    with pytest.raises(ConfigError, match="html_column='h' and text_column='t'"):
        ns.dedup([{"h": "x", "t": "y"}], html_column="h", text_column="t")
    with pytest.raises(ConfigError, match="max_document='much' is not a number of bytes"):
        ns.dedup([{"h": "x"}], html_column="h", max_document="much")
    with pytest.raises(ColumnError, match="has no column 'h'"):
        ns.dedup([{"id": 1, "g": "x"}], html_column="h")


def test_a_title_and_a_canonical_url_are_found_in_the_head() -> None:
    """Not in comments, not in the body; made absolute."""
    page = b"<head><title>A\n b</title><!-- <link rel=canonical href=/no> --><link rel='X Canonical' href='/r'></head>"
    assert ("A b", "http://a.example/r") == about_page(page, None, "http://a.example/x")
    assert (None, None) == about_page(b"<body><link rel=canonical href=/in/the/body>")


@pytest.mark.parametrize(
    ("encoding", "charset"), [("cp949", None), ("euc-kr", "utf-8"), ("utf-16-le", None), ("utf-16", "utf-8")]
)
def test_a_head_is_read_in_the_encoding_of_its_page(encoding: str, charset: str | None) -> None:
    """Whatever was declared."""
    title = "한국어 위키백과는 한국어로 운영되는 백과사전이다"
    page = f"<head><title>{title}</title><link rel=canonical href=/r></head><p>{title * 9}".encode(encoding)
    assert (title, "http://a.example/r") == about_page(page, charset, "http://a.example/x")
    assert "http://a.example/r" == about_page(page, charset, "http://a.example/x", title=False)[1]


def test_a_head_full_of_links_is_read() -> None:
    """Each of them is looked at once."""
    page = b"<link rel=a href=b>" * 3_000 + b"<link rel=canonical href=/r>"
    assert (None, "http://a.example/r") == about_page(page, None, "http://a.example/x")


@given(st.binary(max_size=200) | st.text("<>/link rel=canonical href title'\"", max_size=80).map(str.encode))
@settings(max_examples=share(200))
def test_no_bytes_raise(data: bytes) -> None:
    """Of a page, and of MHTML but for the one error that says what is wrong."""
    assert isinstance(about_page(data, "x", "http://[bad"), tuple)
    with contextlib.suppress(ValueError):
        assert page_of_file(data, "multipart/related", Columns(beside=("title",))).body is not None


def test_plan_and_evaluate_read_pages(tmp_path: Path) -> None:
    """Both take the text out first."""
    from nearsame.studies.evaluate import evaluate
    from nearsame.studies.plan import plan

    _folder(tmp_path, a__html=html(PAGE.format(1)), b__html=html(PAGE.format(1), "B"), c__html=html("other words"))
    assert 1 == evaluate(str(tmp_path), methods=["jaccard"], apart=False).scores[0].pairs
    assert plan(corpus=str(tmp_path), extract="text").expected is not None
    for name, value in {"text_column": "body", "html_column": "page", "extract": "text", "max_document": 9}.items():
        with pytest.raises(ConfigError, match=f"{name} does nothing without a corpus"):
            plan(**{name: value})


def test_a_run_that_is_continued_counts_pages_like_one_that_was_not_stopped(tmp_path: Path) -> None:
    """Whether their texts were taken out before the stop or after it."""
    pages = tmp_path / "pages"
    pages.mkdir()
    bare = b"<nav><a href=/>Home</a> <a href=/b>About</a></nav>"
    _folder(pages, **{f"{n}__html": bare if n % 2 else html(PAGE.format(n)) for n in range(7)})
    expected = ns.dedup(pages, batch_rows=2).stats.pages
    assert 3 == expected["nowhere"]
    work = tmp_path / "work"
    for gone in ("none", "*.arrow", "00000001.arrow"):
        for path in work.glob(f"features/{gone}"):
            path.unlink()
        assert expected == ns.dedup(pages, batch_rows=2, workdir=work).stats.pages
    assert expected == ns.dedup(pages, batch_rows=2, workdir=work).stats.pages


@pytest.mark.parametrize(
    ("said", "url", "canonical"),
    [
        ("/", None, None),
        ("index.html", None, None),
        *((said, "http://a.example/x", None) for said in ("javascript:void(0)", "about:blank", "https://", "http:///")),
        *(
            (said, "http://a.example/x", None)
            for said in ("http://{{host}}/", "mailto:a@b.c", "http://a b/", "file:///x")
        ),
        *((said, "http://a.example/x", None) for said in ("{{ page.url }}", "<?php echo $url ?>", "undefined", "null")),
        *(
            (said, "http://a.example/x", None)
            for said in ("${url}", "%%canonical%%", "[object Object]", "http://null/")
        ),
        *((said, "http://a.example/x", said) for said in ("http://exam\u2100ple.org/c", "http://e\uff0eorg/c")),
        ("http://f.org:\u0663/", "http://a.example/x", None),
        ("HTTPS://[::1]:8/x", "http://a.example/x", "https://[::1]:8/x"),
        (" /y ", "http://a.example/x", "http://a.example/y"),
        ("http://b.example", None, "http://b.example"),
    ],
)
def test_what_is_no_address_of_the_web_is_no_canonical_url(said: str, url: str | None, canonical: str | None) -> None:
    """It would be one for pages that have nothing to do with each other."""
    found = about_page(f'<link rel="canonical" href="{said}">'.encode(), "utf-8", url)[1]
    assert canonical == (found and found.replace("HTTPS", "https"))


def test_a_canonical_url_is_relative_to_the_base_of_its_page() -> None:
    """The first one that a page names, itself relative to where it was found."""
    head = b'<base href="/prod/17/"><base href="/no/"><link rel=canonical href="index.html">'
    assert "http://a.example/prod/17/index.html" == about_page(head, None, "http://a.example/show?id=17")[1]
    scripted = head.replace(b"/prod/17/", b"javascript:x()")
    assert "http://a.example/index.html" == about_page(scripted, None, "http://a.example/show?id=17")[1]
    assert "http://b.example/index.html" == about_page(head.replace(b"/prod/17/", b"http://b.example/"))[1]


_PIECES = ["http", "https", "file", "urn", "about", "DATA", "a.b", "x-y.org", "[::1]", "//", "///", "%41", "é", "1"]
_PIECES += [
    *":/?#-.@{ \t\n\\",
    "null",
    "None",
    "n/a",
    "{{",
    "${",
    "<?",
    "%%a%%",
    "[object",
    "://",
    "７",
    "℀",
    "٣",
    "\0",
]


@given(
    st.lists(
        st.sampled_from(_PIECES),
        max_size=6,
    ).map("".join),
    st.sampled_from([None, "http://k.example/a/b"]),
)
def test_a_run_and_its_proof_agree_on_what_is_an_address(text: str, base: str | None) -> None:
    """By code of their own."""
    assert absolute(text, base) == proofs._absolute(base, text)
    said = pc.match_substring_regex(pa.array([text], pa.large_string()), NO_URL)[0].as_py()
    assert is_no_url(text) == said != proofs._is_url(text)


@pytest.mark.parametrize("layer", ["canonical", "redirect"])
def test_a_layer_of_what_a_column_of_markup_does_not_say_is_refused(layer: str) -> None:
    """It would do nothing, and say nothing."""
    pages = [{"html": html(PAGE.format(number)).decode(), "url": f"http://a.example/{number}"} for number in range(2)]
    with pytest.raises(ConfigError, match=f"use={layer}: no document has anything"):
        ns.dedup(pages, html_column="html", use=[layer])


@pytest.mark.parametrize("label", ["x-mac-cyrillic", "X-Mac-Ukrainian"])
def test_the_cyrillic_of_old_macs_is_read_as_declared(label: str) -> None:
    """Under the name that browsers have for it."""
    text = "Все счастливые семьи похожи друг на друга"
    assert "mac-cyrillic" == page_encodings.encoding(text.encode("mac-cyrillic"), label, markup=True)[0]
