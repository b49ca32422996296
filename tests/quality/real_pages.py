"""Pages of real sites, each beside what people took for its content: the test pages of Mozilla's Readability.

1. A page and its content are to become one; different pages are all to stay.
2. Pages whose contents resemble each other (one article on two sites, a dozen tests of one made text) are left out.
3. The pages are others': they are read from NEARSAME_DATA, and never part of the project.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import nearsame as ns
from tests.quality.page_kinds import Page

__all__ = ["real_pages"]

_LEAST_WORDS = 20  # of a content: some tests are of a single element


def real_pages(data: Path) -> list[Page]:
    """Two pages of each group; none where the file is not there."""
    file = data / "web" / "testpages-html.docs.jsonl.zst"
    pages = list(_pages(file)) if file.exists() else []
    contents = [page for page in pages if page.kind == "expected.html"]
    alike = ns.pairs([{"id": page.group, "html": page.html} for page in contents], html_column="html", extract="text")
    several = {row[side] for row in alike.table.to_pylist() for side in ("a_id", "b_id")}
    both = Counter(page.group for page in pages)
    return [page for page in pages if page.group not in several and both[page.group] == 2]


def _pages(file: Path) -> Iterator[Page]:
    with pa.CompressedInputStream(pa.OSFile(str(file)), "zstd") as stream:
        lines = stream.read().splitlines()
    for row in map(json.loads, lines):
        if "group" in row and len(row["text"].split()) >= _LEAST_WORDS:
            yield Page(row["id"].rpartition("/")[2], row["group"], row["html"])
