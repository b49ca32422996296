"""Web pages in an index: alone, in a column, as files, with the same text as in a run."""

from pathlib import Path

import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.stages.texts.page_text import page_text

pytest.importorskip("resiliparse")

_PROSE = "The old lighthouse keeper counted nine ships before the fog came in and hid the harbour from his window."
_PAGE = f"<html><body><nav><a href=/>Home</a> Menu</nav><main><p>{_PROSE}</p></main></body></html>"


@pytest.fixture
def index(tmp_path: Path) -> ns.Index:
    """An empty one with texts."""
    return ns.Index.create(tmp_path / "seen.ns", store="text")


@pytest.mark.parametrize("page", [_PAGE, _PAGE.encode(), _PAGE.encode("utf-16")])
def test_a_page_alone_is_its_main_text(index: ns.Index, page: str | bytes) -> None:
    """Markup and navigation are not compared, in whatever form the page comes."""
    [added] = index.add({"id": "page", "html": page})
    assert ("added", _PROSE) == (added.status, index.text("page").strip())
    assert ["page"] == [match.id for match in index.query(_PROSE)]


def test_of_a_page_alone_more_is_taken_where_that_is_asked_for(index: ns.Index) -> None:
    """`extract` and the names of columns hold for documents at hand, too."""
    index.add({"key": 7, "body": _PAGE}, id_column="key", html_column="body", extract="text")
    assert page_text(_PAGE.encode(), "utf-8", extract="text") == index.text("7")
    assert "Menu" in index.text("7")


def test_a_folder_of_pages_and_texts_has_the_texts_that_a_run_sees(tmp_path: Path) -> None:
    """Pages are extracted, texts are as they are, and both are found by each other's text."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "page.html").write_text(_PAGE)
    (tmp_path / "in" / "plain.txt").write_text(_PROSE)
    with ns.Index.create(tmp_path / "seen.ns", store="text", source=str(tmp_path / "in")) as index:
        assert {"page.html": _PROSE, "plain.txt": _PROSE} == {id_: index.text(id_).strip() for id_ in index.ids()}
        answers = [(ids, found) for ids, found in index.query_batches(str(tmp_path / "in"))]
    assert [2] * 2 == [len(each) for _, found in answers for each in found]


def test_a_column_of_markup_is_added_and_asked_about(index: ns.Index) -> None:
    """As `dedup` reads `html_column`, cut at `max_document`."""
    table = pa.table({"id": ["a"], "html": [_PAGE]})
    index.add(table, html_column="html")
    assert _PROSE == index.text("a").strip()
    [(ids, [found])] = index.query_batches(table, html_column="html")
    assert (["a"], ["a"]) == (ids, [match.id for match in found])
    [_] = index.add_batches(pa.table({"id": ["b"], "html": [_PAGE]}), html_column="html", max_document=60)
    assert _PROSE not in index.text("b")


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"text": "a", "html": "b"}, "a document has text and html"),
        ({"html": 3}, "html=3 is not a page"),
        ({"body": "a"}, "a document has body, and no text"),
    ],
)
def test_what_is_no_page_is_refused(index: ns.Index, document: dict[str, object], told: str) -> None:
    """Two contents, or none, or one that is no markup."""
    with pytest.raises(ns.ConfigError, match=told):
        index.add(document)


def test_a_setting_of_pages_is_refused_where_there_are_none(index: ns.Index, tmp_path: Path) -> None:
    """It would do nothing."""
    (tmp_path / "a.txt").write_text(_PROSE)
    for documents in ("a text", [{"text": "a"}], tmp_path / "a.txt"):
        with pytest.raises(ns.ConfigError, match="extract does nothing"):
            index.add(documents, extract="text")
    assert [] == list(index.ids())
