"""What people read about mirrors: counts, and by group the prefixes with their agreement both ways.

It fits 80 columns. Everything shown stands in the record; nothing is computed here but words.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from nearsame.outputs.console import Report, clean
from nearsame.shares import counted, percent, plural

__all__ = ["show_mirrors"]

_BLOCKS, _MEMBERS, _SKIPS = 15, 6, 5
_NAMES = 44


def show_mirrors(report: Report, record: Mapping[str, Any], skipped: pa.Table) -> None:
    """The summary of a run, and its mirrors."""
    stats = record["stats"]
    _row(report, "pages", stats["pages"], f"of {counted(stats['hosts'], 'host')}, {counted(stats['sites'], 'site')}")
    for name, remark in (
        ("without_url", "without a URL"),
        ("unread", "could not be read"),
        ("undated", "have no date that could be read"),
    ):
        if stats[name]:
            _row(report, "", stats[name], remark)
    for skip in skipped.slice(0, _SKIPS).to_pylist():
        report.line(f"  {clean(skip['source'])}: {clean(skip['reason'])}")
    _row(report, "clusters", stats["clusters"], "of near-duplicates")
    _row(report, "same host", stats["same_host"], "pages with a near-duplicate on their own host")
    _row(report, "cross host", stats["cross_host"], "pages with one on another host")
    if stats["large_buckets"]:
        of = f"of up to {stats['largest_bucket']:,} pages proposed neighbours only"
        report.line(
            f"{counted(stats['large_buckets'], 'bucket')} {of}: {stats['pairs_not_proposed']:,} pairs of pages were not"
            " looked at. Every mirror that is shown was counted on all its pages."
        )
    _mirrors(report, stats, record["mirrors"])
    if stats["mapped"]:
        report.heading("URLs that lead to another one, by reason")
        for reason, times in stats["mapped"].items():
            report.line(f"  {reason:<16}{times:>10,}")


def _mirrors(report: Report, stats: Mapping[str, Any], mirrors: Sequence[Mapping[str, Any]]) -> None:
    if not mirrors:
        report.line("No mirrors.")
        return
    kinds = ", ".join(
        f"{times:,} {kind if kind == 'same host' else plural(times, kind)}" for kind, times in stats["mirrors"].items()
    )
    report.heading(f"{counted(len(mirrors), 'pair')} of mirrors in {counted(stats['groups'], 'group')}: {kinds}")
    report.line(f"  {'':<{_NAMES}}{'common':>8}{'agree':>8}{'a in b':>8}{'b in a':>8}")
    blocks = _by_hosts([list(rows) for _, rows in groupby(mirrors, key=lambda row: row["group"])])
    for hosts, groups in blocks[:_BLOCKS]:
        rows = [row for group in groups for row in group]
        if len(groups) > 1:
            report.line(f"  {_short(' and '.join(hosts), 50)}: {counted(len(rows), 'pair')} in {len(groups):,} groups")
        for number, row in enumerate(rows[:_MEMBERS]):
            if number == 0 or row["group"] != rows[number - 1]["group"]:
                report.line(f"  keep {_short(row['keep'], 70)}")
            _pair(report, row)
        if len(rows) > _MEMBERS:
            report.line(f"    and {counted(len(rows) - _MEMBERS, 'pair')} more")
    if len(blocks) > _BLOCKS:
        left = sum(len(groups) for _, groups in blocks[_BLOCKS:])
        report.line(f"  and {counted(left, 'group')} more, with -o or --json")


def _by_hosts(groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Groups of the same hosts together, where the first of them stands: a host with many folders is one block."""
    blocks: dict[tuple[str, ...], list[Any]] = {}
    for rows in groups:
        hosts = {row[side].partition("://")[2].partition("/")[0] for row in rows for side in "ab"}
        blocks.setdefault(tuple(sorted(hosts)), []).append(rows)
    return list(blocks.items())


def _pair(report: Report, row: Mapping[str, Any]) -> None:
    shares = "".join(f"{percent(row[name], 1):>8}" for name in ("agreement", "a_in_b", "b_in_a"))
    report.line(f"    a {_short(row['a'], 74)}")
    report.line(f"    b {_short(row['b'], 74)}")
    report.line(f"      {row['kind']:<{_NAMES - 4}}{row['common']:>8,}{shares}")


def _short(text: str, width: int) -> str:
    """The text, its middle left out where it is too long: a URL is known by both ends."""
    text = clean(text)
    if len(text) <= width:
        return text
    end = (width - 3) // 2
    return f"{text[: width - 3 - end]}...{text[-end:]}"


def _row(report: Report, name: str, count: int, remark: str) -> None:
    report.line(f"{name:<12}{count:>10,}   {remark}".rstrip())
