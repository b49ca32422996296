"""What people read of an index: what became of documents, what a text resembles, what there is.

1. It fits 80 columns; similarities are cut, not rounded, so that nothing below a threshold looks as if it reached it.
2. Ids and URLs are made harmless first, and shortened in the middle of a line, never in JSON.
"""

from collections.abc import Iterable, Mapping
from math import floor
from typing import Any

from rich.table import Table
from rich.text import Text

from nearsame.answers.matches import IN_A_CROWD, Matches
from nearsame.outputs.console import clean
from nearsame.outputs.report_page import ReportPage
from nearsame.recipes.methods import METHODS
from nearsame.recipes.urls import CanonicalUrl
from nearsame.shares import cut

__all__ = ["AddTally", "show_likeness", "show_matches", "show_other_reading", "show_stats"]

_REMARKS = {
    "added": "",
    "replaced": "in place of another text of the same id",
    "resembles": "left out: they resemble others",
    "present": "there already, the same documents",
    "conflict": "left out: the id is that of another text",
}
_SHOWN_CONFLICTS = 5
_FOUND_BY_WIDTH = 15  # minhash simhash: what is left of 80 columns is for ids and URLs
_TELLING = ("threshold", "recall", "shingle_size", "unit", "bits", "k", "algorithm", "normalise", "confirm")


class AddTally:
    """What became of the documents that were to be added."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_REMARKS, 0)
        self.resembling = 0
        self.conflicts: list[str] = []

    def count(self, batch: Iterable[Any]) -> None:
        """Count what became of some."""
        for added in batch:
            self.counts[added.status] += 1
            self.resembling += bool(added.added and added.matches)
            if added.status == "conflict" and len(self.conflicts) < _SHOWN_CONFLICTS:
                self.conflicts.append(added.id)

    def record(self) -> dict[str, int]:
        """How many documents there were, how many of each status, and how many of the added resemble others."""
        return {"documents": sum(self.counts.values()), **self.counts, "added_resembling": self.resembling}

    def show(self, page: ReportPage, seconds: float) -> None:
        """Print how many documents there were, in what time, and what became of them."""
        total = sum(self.counts.values())
        _row(page, "documents", total, f"in {seconds:,.1f} s, {total / max(seconds, 1e-3):,.0f} a second")
        for status, remark in _REMARKS.items():
            if self.counts[status] or status == "added":
                more = f"of which {self.resembling:,} resemble others" if status == "added" and self.resembling else ""
                _row(page, f"  {status}", self.counts[status], remark or more)


def show_other_reading(page: ReportPage, text: str) -> None:
    """Say that what was asked about as a text is also the name of a file."""
    page.line(
        f"Note: {text} was compared as a text, and is also the name of a file: --file asks about the file as one text,"
        " --from about each of its documents."
    )


def show_matches(page: ReportPage, matches: Matches) -> None:
    """Print what a text resembles."""
    if not matches.complete:
        page.line(IN_A_CROWD)
    if matches.recall is not None:
        share = f"{floor(1000 * matches.recall) / 10:g} %"
        page.line(f"The threshold is below that of the index: of documents exactly there, its keys find {share}.")
    if not matches:
        page.line("Nothing in the index resembles it.")
        return
    beside = _table_of(matches, urls_beside=True)
    page.show(beside if page.has_room(beside) else _table_of(matches, urls_beside=False))
    measure = next((match.measure for match in matches if match.measure), "")
    if measure:
        page.line(f"Similarity: {_MEASURES.get(measure, measure)}.")


def _table_of(matches: Matches, *, urls_beside: bool) -> Table:
    """Matches with their URLs, if there are any, in a column of their own or below the ids."""
    with_urls = any(match.url for match in matches)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("similarity", justify="right", no_wrap=True)
    table.add_column("found by", max_width=None if urls_beside else _FOUND_BY_WIDTH)
    names = ["id", "url"] if with_urls else ["id"]
    for name in names if urls_beside else [", below it the ".join(names)]:
        table.add_column(name, overflow="fold")
    for match in matches:
        called = [clean(match.id), clean(match.url or "")][: len(names)]
        cells = [_similarity(match), " ".join(match.found_by), *(called if urls_beside else ["\n".join(called)])]
        table.add_row(*map(Text, cells))
    return table


def show_likeness(page: ReportPage, likeness: Any) -> None:
    """Print how two documents of an index compare."""
    for letter in "ab":
        page.line(f"{letter}  {clean(getattr(likeness, letter))}", style="bold")
    page.line()
    if likeness.similarity is not None:
        page.line(f"similarity   {_similarity(likeness)}   {_MEASURES.get(likeness.measure, likeness.measure)}")
    if likeness.distance is not None:
        page.line(f"distance     {likeness.distance}   bits of SimHash codes")
    for name, words in (("bytes", "the same text"), ("text", "the same words"), ("url", "the same canonical URL")):
        if name in likeness.found_by:
            page.line(f"{'same ' + name:<13}{words}")
    page.line()
    by = " ".join(likeness.found_by)
    page.line(f"Similar, by {by}." if likeness.similar else "Not similar, by any method of the index.", style="bold")


def show_stats(page: ReportPage, stats: Mapping[str, Any]) -> None:
    """Print what there is to know of an index."""
    page.line(clean(stats["where"]), style="bold")
    _row(page, "documents", stats["documents"], "")
    if stats["bytes"] is not None:
        mean_bytes = stats["bytes_per_document"]
        _row(page, "bytes", stats["bytes"], "" if mean_bytes is None else f"{mean_bytes:,.0f} a document")
    page.line(f"{'stored':<16}{stats['store']:>14}   of a text")
    page.line(f"{'format':<16}{stats['format']:>14}")
    if stats["columns"]:
        page.line(f"{'columns':<16}{clean(', '.join(stats['columns']))}")
    for number, method in enumerate(stats["methods"]):
        page.line(f"{'' if number else 'methods':<16}{method['method']}")
        if settings := _settings(method):
            page.line(f"{'':<18}{clean(settings)}")


def _settings(method: Mapping[str, Any]) -> str:
    """Those that say most of a method, and those that are not as they are by default."""
    known = {**METHODS, CanonicalUrl.name: CanonicalUrl}.get(method["method"])
    default = known().record() if known else {}
    shown = {name: value for name, value in method.items() if name in _TELLING or value != default.get(name)}
    return ", ".join(f"{name}={value}" for name, value in shown.items() if name != "method" and value is not None)


_MEASURES = {
    "jaccard": "Jaccard similarity of the sets of shingles, exact",
    "estimated": "Jaccard similarity, estimated from sketches",
    "hamming": "share of equal bits of the SimHash codes",
    "cosine": "cosine of the weighted features",
}


def _similarity(match: Any) -> str:
    if match.similarity is None:
        return "-"
    return cut(match.similarity, 3)


def _row(page: ReportPage, name: str, count: int, remark: str) -> None:
    page.line(f"{name:<16}{count:>14,}   {remark}".rstrip())
