"""Page by kind: which copies go and which pages go wrongly, by each way to take the text out of a page.

1. The pages are made (tests/quality/page_kinds.py); each kind is de-duplicated by itself, at the defaults.
2. So is each way to mark readers' comments (tests/quality/comment_marks.py): articles with comments beside the same
   ones without. The table has recall and precision of the pages that go, of all ways together.
3. Pages of real sites (tests/quality/real_pages.py) are de-duplicated beside what people took for their content, where
   NEARSAME_DATA has them; else their table stays as it is.
4. The libraries alone are given the same pages; a page without a text of theirs has its visible text, as people would
   do it. justext goes by the frequent words of a language: English ones, and a third of the made words.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import report
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

sys.path.insert(0, str(report.ROOT))
import nearsame as ns
from tests.quality.comment_marks import MARKS, commented
from tests.quality.page_kinds import Page, Writer, by_kind, verdict
from tests.quality.real_pages import real_pages

PAGE = report.ROOT / "docs" / "quality.md"
NUM_COMMENTED = 18  # articles
WAYS = ("main", "trafilatura", "trafilatura alone", "justext alone", "text")


def library(name: str) -> Callable[[str], str]:
    """What a library alone takes out of a page."""
    if name == "trafilatura alone":
        import trafilatura  # noqa: PLC0415  (an extra)

        return lambda html: trafilatura.extract(html, include_comments=False) or ""
    import justext  # noqa: PLC0415  (comes with trafilatura)

    stop = justext.get_stoplist("English") | frozenset(Writer("").words[::3])
    return lambda html: "\n".join(p.text for p in justext.justext(html.encode(), stop) if not p.is_boilerplate)


def removed(pages: list[Page], way: str) -> set[int]:
    """The numbers of the pages that go."""
    import pyarrow as pa  # noqa: PLC0415  (beside its only use)

    ids = [str(number) for number in range(len(pages))]
    if "alone" in way:
        text = library(way)
        texts = [_text(text, page.html) for page in pages]
        found = ns.dedup(pa.table({"id": ids, "text": texts}))
    else:
        found = ns.dedup(pa.table({"id": ids, "html": [page.html for page in pages]}), html_column="html", extract=way)
    return {int(name) for name in found.removed().column("id").to_pylist()}


def _text(text: Callable[[str], str], html: str) -> str:
    try:
        found = text(html)
    except Exception:  # noqa: BLE001  (justext raises for pages without a body)
        found = ""
    return found or str(extract_plain_text(HTMLTree.parse(html)))


def _cell(expected: int, went: int, wrongly: int) -> str:
    return f"{f'{went} of {expected}' if expected else 'none'}{f', **{wrongly} wrongly**' if wrongly else ''}"


def _shares(expected: int, went: int, wrongly: int) -> str:
    recall = f"{went / expected:.3f}" if expected else "–"
    return f"{recall}, {went / (went + wrongly):.3f}" if went + wrongly else f"{recall}, –"


def kinds() -> str:
    """The table of kinds of pages: counts, and below them recall and precision of all kinds together."""
    header = ("kind of page", "pages", *WAYS)
    rows, totals = [], {way: [0, 0, 0] for way in WAYS}
    for kind, pages in by_kind().items():
        verdicts = {way: verdict(pages, removed(pages, way)) for way in WAYS}
        for way, counts in verdicts.items():
            totals[way] = [total + count for total, count in zip(totals[way], counts, strict=True)]
        rows.append((kind, str(len(pages)), *(_cell(*verdicts[way]) for way in WAYS)))
    num_pages = sum(map(len, by_kind().values()))
    rows.append(("**recall, precision**", f"{num_pages:,}", *(_shares(*totals[way]) for way in WAYS)))
    report.show("Pages by kind", header, rows)
    return report.markdown(header, rows)


def comments() -> str:
    """The table of comments: recall, and how many pages went wrongly."""
    pages = list(commented(NUM_COMMENTED))
    header = ("", *WAYS)
    went = {way: removed(pages, way) for way in WAYS}
    stayed = {
        way: {page.kind for number, page in enumerate(pages) if number not in went[way]} - {next(iter(MARKS))}
        for way in WAYS
    }
    rows = [
        (f"recall, precision, of {len(pages):,} pages", *(_shares(*verdict(pages, went[way])) for way in WAYS)),
        (f"ways to mark them of which some page stayed, of {len(MARKS) - 1}", *(str(len(stayed[way])) for way in WAYS)),
    ]
    report.show("Articles with comments", header, rows)
    return report.markdown(header, rows)


def real() -> str:
    """The table of pages of real sites; nothing where they are not there."""
    folder = os.environ.get("NEARSAME_DATA")
    pages = real_pages(Path(folder)) if folder else []
    if not pages:
        return ""
    header, verdicts = ("", *WAYS), {way: verdict(pages, removed(pages, way)) for way in WAYS}
    rows = [
        (f"{len(pages):,} pages", *(_cell(*verdicts[way]) for way in WAYS)),
        ("recall, precision", *(_shares(*verdicts[way]) for way in WAYS)),
    ]
    report.show("Pages of real sites", header, rows)
    return report.markdown(header, rows)


def main() -> None:
    """Print the tables, and write them into docs/quality.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    note = report.made_by("pages", ("nearsame", "resiliparse", "trafilatura", "justext"))
    for name, table in (("pages", kinds()), ("comments", comments()), ("real", real())):
        if not table:
            continue
        report.write_between(PAGE, name, f"{table}\n\n{note}")


if __name__ == "__main__":
    main()
