"""Pages to texts: the encodings, the extraction against the library's own, and markup that is hostile."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import schemas
from nearsame.errors import ConfigError
from nearsame.recipes.choices import EXTRACTS
from nearsame.stages.texts.page_text import PageTexts, page_text
from tests.examples import share

pytest.importorskip("resiliparse")

PAGE = (
    "<html><head><title>T</title><style>p {color: red}</style></head><body><nav><a href=/>Home page</a></nav>"
    "<article><h1>Roses</h1><p>A rose is a rose is a rose, as everybody knows who has read it.</p></article>"
    "<script>var hidden = '<script>nested</scr' + 'ipt>';</script><footer>All rights reserved</footer></body></html>"
)


def _batch(bodies: list[bytes | None], charset: str | None = None, mime: str | None = "text/html") -> pa.RecordBatch:
    count = len(bodies)
    columns = [np.arange(count), pa.array(bodies, pa.large_binary()), [charset] * count, [mime] * count]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schemas.PAGES, strict=True)],
        schema=schemas.PAGES,
    )


def test_main_content_is_without_navigation_scripts_and_styles() -> None:
    """The default."""
    text = page_text(PAGE.encode())
    assert "A rose is a rose" in text
    assert [] == [word for word in ("Home page", "hidden", "nested", "color", "rights") if word in text]


def test_text_is_all_that_is_visible() -> None:
    """Navigation and footer too, but no script."""
    text = page_text(PAGE.encode(), extract="text")
    assert ["Home page", "All rights reserved"] == [
        word for word in ("Home page", "hidden", "All rights reserved") if word in text
    ]


def test_none_is_the_markup_itself() -> None:
    """Decoded, but as it stands."""
    assert PAGE == page_text(PAGE.encode(), extract="none")


def test_trafilatura_can_be_chosen() -> None:
    """Its own idea of main content."""
    trafilatura = pytest.importorskip("trafilatura")
    page = PAGE.replace(
        "knows who has read it.</p>", "knows who has read it.</p>" + "<p>Another paragraph of some length.</p>" * 5
    )
    assert trafilatura.extract(page, include_comments=False) == page_text(page.encode(), extract="trafilatura")


def test_where_the_text_was_found_is_counted() -> None:
    """Main content; all visible text; metadata; nowhere."""
    links = "<ul>" + "".join(f"<li><a href=/{n}>A headline about number {n}</a>" for n in range(20)) + "</ul>"
    record = '<script type="application/ld+json">{"@type": "Article", "articleBody": "One and two and three."}</script>'
    bodies = [PAGE, links, record, "<nav><a href=/>Home</a> <a href=/b>About</a></nav>"]
    extracted = PageTexts()(_batch([body.encode() for body in bodies]))
    assert [0, 1, 2, 3] == extracted.column("found").to_pylist()
    assert ["One and two and three.", ""] == extracted.column("text").to_pylist()[2:]
    assert {"without_main": 1, "elsewhere": 1, "nowhere": 1, "bounded": 0} == PageTexts.tally(extracted)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_pages_that_lose_tags_are_counted_in_any_encoding(encoding: str) -> None:
    """By the tags that they have once they can be read."""
    bodies = [f"<select>{'<option>a' * count}</select><p>a rose".encode(encoding) for count in (10, 3_000)]
    assert [False, True] == PageTexts("text")(_batch([*bodies])).column("bounded").to_pylist()


def test_rows_that_are_no_pages_stand_among_pages() -> None:
    """Text passes as it is, nothing stays nothing."""
    mimes = ["text/html", None, "text/html", "text/plain", None]
    bodies = [b"<p>a", b"<p>b", None, b"<p>c", None]
    batch = _batch(bodies).set_column(3, "mime", pa.array(mimes))
    assert ["a", "<p>b", None, "<p>c", None] == PageTexts("text")(batch).column("text").to_pylist()


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>größer, schöner</p>".encode("latin-1"), "ISO-8859-1"),
        ('<meta charset="iso-8859-1"><p>größer, schöner</p>'.encode("latin-1"), None),
        ("<p>größer, schöner</p>".encode(), None),
        (b"\xef\xbb\xbf" + "<p>größer, schöner</p>".encode(), "latin-1"),
        (b"\xff\xfe" + "<p>größer, schöner</p>".encode("utf-16-le"), None),
        (b"\xfe\xff" + "<p>größer, schöner</p>".encode("utf-16-be"), "utf-8"),
        ("<p>größer, schöner</p>".encode(), "no-such-charset"),
        ("<p>größer, schöner</p>".encode(), '"utf-8"'),
    ],
    ids=["header", "meta", "detected", "BOM before header", "UTF-16", "UTF-16 BE", "unknown charset", "quoted"],
)
def test_the_encoding_is_found(body: bytes, charset: str | None) -> None:
    """By the byte order mark, the header, the page's own meta element, or by detection."""
    assert "größer, schöner" == page_text(body, charset, extract="text").strip()


def test_detection_knows_cyrillic() -> None:
    """A page of an old encoding that nobody names."""
    words = "Все люди рождаются свободными и равными в своем достоинстве и правах. " * 5
    assert words.strip() in page_text(f"<p>{words}</p>".encode("windows-1251"), extract="text")


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "<div>",
                "</div>",
                "<b>",
                "word ",
                "<ul><li>",
                "&amp;",
                "<script>",
                "</script>",
                "\x00",
                "é",
                "<table><td>",
            ]
        ),
        max_size=40,
    )
)
@settings(max_examples=share(100))
def test_extraction_is_that_of_the_library(pieces: list[str]) -> None:
    """Markup of any order, against a direct call."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    page = "".join(pieces).encode()
    tree = HTMLTree.parse_from_bytes(page, "utf-8")
    assert extract_plain_text(tree) == page_text(page, "utf-8", extract="text")
    extracted = PageTexts()(_batch([page], "utf-8"))
    main = extract_plain_text(tree, main_content=True, comments=False)
    assert extracted.column("found")[0].as_py() != 0 or main == extracted.column("text")[0].as_py()


@pytest.mark.slow
def test_extraction_of_real_pages_is_that_of_the_library(data_dir: object) -> None:
    """The first 150 pages of real sites, but those that speak of comments."""
    import json
    from pathlib import Path

    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    file = Path(str(data_dir)) / "web" / "testpages-html.docs.jsonl.zst"
    if not file.exists():
        pytest.skip(f"there is no {file.name}")
    with pa.CompressedInputStream(pa.OSFile(str(file)), "zstd") as stream:
        lines = stream.read(30 << 20).splitlines()[:150]
    pages = [json.loads(line)["html"].encode("utf-8", "replace") for line in lines[:-1]]
    extracted = PageTexts()(_batch(list(pages), "utf-8"))
    trees = [HTMLTree.parse_from_bytes(page, "utf-8") for page in pages]
    mains = [extract_plain_text(tree, main_content=True, comments=False) for tree in trees]
    texts, places = extracted.column("text").to_pylist(), extracted.column("found").to_pylist()
    by_main = [place == 0 and b"omment" not in page for place, page in zip(places, pages, strict=True)]
    assert 40 < sum(by_main)
    assert [m for m, one in zip(mains, by_main, strict=True) if one] == [
        t for t, one in zip(texts, by_main, strict=True) if one
    ]


@pytest.mark.parametrize("mime", ["text/html", "text/xml", "text/plain", None])
@given(
    body=st.binary(max_size=300),
    charset=st.none() | st.text(max_size=12),
    extract=st.sampled_from(("main", "text", "none")),
)
@settings(max_examples=share(60))
def test_no_bytes_raise(mime: str | None, body: bytes, charset: str | None, extract: str) -> None:
    """Whatever comes, there is a text of valid UTF-8 (of what is text already, its maker has seen to that)."""
    if mime is None:
        body = body.decode("utf-8", "ignore").encode()
    assert isinstance(page_text(body, charset, mime, extract), str)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        b"<div>" * 200_000 + b"needle" + b"</div>" * 200_000,
        b"<p " + b" ".join(b'a%d="x"' % n for n in range(500_000)) + b">needle</p>",
        b"<p " + b"/".join(b"a%d" % n for n in range(500_000)) + b">needle</p>",
        b"<ul>" * 250 + b"<li>x" * 200_000 + b"<p>needle",
        b"<b><p>" * 100_000 + b"needle",
        b"<div></x>" * 100_000 + b"needle",
        b"<table><tr><td>" * 50_000 + b"needle",
        b"\0" * 100_000 + b"<p>needle",
        b"<!--" * 100_000 + b"--><p>needle",
        b"<script>" * 1000 + b"</script><p>needle",
        b"<main></main>" * 50_000 + b"<p>" + b"a needle " * 40,
        b"<script type=application/ld+json>{}</script>" * 50_000 + b"<p>a needle is a needle is a needle",
        b"<div><table><td></div></table>" * 50_000 + b"<p>needle",
        b"<svg><script></style>" * 50_000 + b"</svg><p>a needle is a needle is a needle",
        b"<!-->" + b"<div>" * 100_000 + b"needle",
        b"<?a b='>" + b"<div>" * 100_000 + b"needle",
        b"<p>" + b"".join(b"<b id=b%d>" % n for n in range(250)) + b"</p>" + b"<p>x" * 100_000 + b"<p>needle",
    ],
    ids=[
        "deep",
        "5 MB of attributes",
        "slashes",
        "lists",
        "misnested",
        "odd ends",
        "tables",
        "NULs",
        "comments",
        "scripts",
        "empty places",
        "records",
        "ends in tables",
        "scripts in drawings",
        "a comment that ends at once",
        "a quote in no tag",
        "formatting that stays open",
    ],
)
@pytest.mark.parametrize("extract", ["main", "text"])
def test_hostile_markup_comes_to_an_end_and_keeps_its_text(page: bytes, extract: str) -> None:
    """Parsers alone need hours, or more memory than there is, for some of these."""
    text = page_text(page, extract=extract)
    assert "needle" in text
    assert len(text) <= 64 * len(page)


def test_batches_may_be_split_anywhere() -> None:
    """Row by row gives the same."""
    batch = _batch([PAGE.encode(), None, b"", b"<p>x", PAGE.encode("utf-16")])
    whole = PageTexts()(batch)
    rows = [PageTexts()(batch.slice(at, 1)) for at in range(len(batch))]
    assert whole.to_pylist() == [row for part in rows for row in part.to_pylist()]


def test_what_is_text_already_passes() -> None:
    """No media type: no decoding, and markup in it is text."""
    assert ["<b>ü", None] == PageTexts()(_batch(["<b>ü".encode(), None], mime=None)).column("text").to_pylist()


def test_another_extraction_is_refused() -> None:
    """With the names that there are."""
    with pytest.raises(ConfigError, match=r"extract='all' is not one of main, text, none, trafilatura"):
        PageTexts("all")
    assert ("main", "text", "none", "trafilatura") == EXTRACTS


@pytest.mark.parametrize("tag", [b"<td id=root>", b"</x id=root>", b"<body id=root>", b"<table><tr id=root>"])
def test_ignored_tags_lose_their_attributes_when_they_are_many(tag: bytes) -> None:
    """For each a parser would keep a copy of the text before it: memory by the square of the page."""
    words = [b"word%d" % number for number in range(20)]
    extracted = PageTexts("text")(_batch([tag + (b" " + tag).join(words), tag.join(words[:3])], "utf-8"))
    assert [True, False] == extracted.column("bounded").to_pylist()
    assert b" ".join(words).split() == extracted.column("text")[0].as_py().encode().split()
