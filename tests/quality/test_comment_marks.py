"""Readers' comments: whatever marks them, an article is compared without them."""

import pyarrow as pa
import pytest

import nearsame as ns
from tests.quality.comment_marks import BODIES, MARKS, commented

pytest.importorskip("resiliparse")

UNKNOWN = {"unmarked"}  # nothing on such a page says that these are comments


def test_articles_with_other_comments_are_copies():
    """Of every article one page stays, and those that nobody can tell from longer articles; none goes wrongly."""
    pages = list(commented(len(BODIES)))
    table = pa.table({"id": [str(number) for number in range(len(pages))], "html": [page.html for page in pages]})
    removed = set(map(int, ns.dedup(table, html_column="html").removed().column("id").to_pylist()))
    stay = [page for number, page in enumerate(pages) if number not in removed]
    assert UNKNOWN < MARKS.keys()
    assert {next(iter(MARKS)), *UNKNOWN} == {page.kind for page in stay}
    assert {page.group for page in pages} == {page.group for page in stay if page.kind not in UNKNOWN}
