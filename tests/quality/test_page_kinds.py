"""Page by kind: what says the same goes, and everything else stays."""

import pyarrow as pa
import pytest

import nearsame as ns
from tests.quality.page_kinds import Page, by_kind, verdict
from tests.quality.real_pages import real_pages

pytest.importorskip("resiliparse")

KINDS = by_kind()


def judged(pages: list[Page]) -> tuple[int, int, int]:
    """How many pages should go, how many of these went, and how many went wrongly, by the defaults."""
    ids = [str(number) for number in range(len(pages))]
    table = pa.table({"id": ids, "html": [page.html for page in pages]})
    removed = ns.dedup(table, html_column="html").removed().column("id").to_pylist()
    return verdict(pages, {int(name) for name in removed})


@pytest.mark.parametrize("kind", KINDS)
def test_what_says_the_same_goes_and_all_else_stays(kind):
    """Lists, shells, galleries and menus stay; copies go from sites with other menus, and with readers' comments."""
    expected, went, wrongly = judged(KINDS[kind])
    assert (expected, 0) == (went, wrongly)


@pytest.mark.slow
def test_pages_of_real_sites_go_beside_their_content_and_no_other_page_goes(data_dir):
    """Three of four at least: people leave out, or take in, a byline or a caption here and there."""
    pages = real_pages(data_dir)
    if not pages:
        pytest.skip("no test pages of Readability")
    expected, went, wrongly = judged(pages)
    assert wrongly == 0
    assert went >= 0.75 * expected


def test_a_page_that_is_gone_with_its_group_went_wrongly():
    """Two pages say the same, one says something else; two of the three went."""
    pages = [Page("kind", group, "") for group in "aab"]
    assert [(1, 1, 0), (1, 1, 1), (1, 0, 1)] == [verdict(pages, gone) for gone in ({1}, {1, 2}, {2})]


def test_the_documentation_has_every_kind(root):
    """docs/quality.md has a row for each."""
    page = (root / "docs" / "quality.md").read_text("utf-8")
    assert [] == [kind for kind in KINDS if f"| {kind} |" not in page]
