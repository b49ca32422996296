"""What people read about URLs: counts, what each rule merged, some groups, and learnt rules with their evidence.

It fits 80 columns. Everything shown stands in the records; nothing is computed here but words.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import pyarrow as pa

from nearsame.outputs.console import Report, clean

__all__ = ["show_rules", "show_urls"]

_GROUPS, _MEMBERS, _RULES, _SKIPS = 5, 4, 20, 5
_WIDTH = 76


def show_urls(report: Report, stats: Mapping[str, Any], groups: pa.Table, skipped: pa.Table) -> None:
    """The summary of a run."""
    _row(report, "URLs", stats["read"], "read")
    for name, remark in (
        ("without_url", "without a URL"),
        ("unread", "could not be read"),
        ("invalid", "no URLs: kept as they are"),
    ):
        if stats[name]:
            _row(report, "", stats[name], remark)
    for record in skipped.slice(0, _SKIPS).to_pylist():
        line = "" if record["line"] is None else f", line {record['line']}"
        report.line(f"  {clean(record['source'])}{line}: {clean(record['reason'])}")
    _row(report, "distinct", stats["distinct"], "")
    groups_are = "group" if stats["groups"] == 1 else "groups"
    _row(report, "canonical", stats["canonical"], f"{stats['merged']:,} merged, in {stats['groups']:,} {groups_are}")
    if stats["rules"]:
        report.heading("By rule: URLs that it changed, and that would be apart without it")
        for rule, counts in stats["rules"].items():
            report.line(f"  {rule:<16}{counts['changed']:>10,}{counts['merged']:>10,}   {counts['degree']}")
    if groups.num_rows:
        report.heading("Some groups" if stats["groups"] > _GROUPS else "Groups")
        _groups(report, groups.slice(0, 1000))


def _groups(report: Report, groups: pa.Table) -> None:
    for number, members in groupby(groups.to_pylist(), key=lambda row: row["group"]):
        if number == _GROUPS:
            return
        rows = list(members)
        report.line(f"  {_short(rows[0]['canonical'], _WIDTH)}")
        for row in rows[:_MEMBERS]:
            report.line(f"    {_short(row['url'], _WIDTH - 2)}")
        if len(rows) > _MEMBERS:
            report.line(f"    and {len(rows) - _MEMBERS:,} more")


def show_rules(report: Report, record: Mapping[str, Any]) -> None:
    """Learnt rules, and those that had support and do not hold."""
    stats = record["stats"]
    hosts = "host" if stats["hosts"] == 1 else "hosts"
    report.heading(f"Learnt from {stats['canonical_urls']:,} canonical URLs of {stats['hosts']:,} {hosts}")
    if stats["large_clusters"]:
        left_out = f"{stats['pairs_not_proposed']:,} pairs of URLs were not looked at for new rules"
        report.line(f"{stats['large_clusters']:,} large clusters proposed neighbours only: {left_out}.")
    if stats["rewritings_not_tried"]:
        report.line(f"{stats['rewritings_not_tried']:,} rarer rewritings were not tried.")
    _rules(report, "Rules that hold", record["rules"])
    _rules(report, "Not taken", record["rejected"])
    if not record["rules"] and not record["rejected"]:
        report.line("No rule has enough support.")


def _rules(report: Report, title: str, rules: list[Mapping[str, Any]]) -> None:
    if not rules:
        return
    report.line()
    report.line(f"{title:<44}{'for':>8}{'against':>9}{'held out':>15}")
    for rule in rules[:_RULES]:
        evidence = rule["evidence"]
        held = f"{evidence['held_support']:,}/{evidence['held_against']:,}"
        report.line(f"  {_short(_what(rule), 40):<42}{evidence['support']:>8,}{evidence['against']:>9,}{held:>15}")
        report.line(f"    {_where(rule)}" + (f": {rule['why_not']}" if rule["why_not"] else ""))
        if rule["examples"] and not rule["why_not"]:
            for url in rule["examples"][0]:
                report.line(f"      {_short(url, _WIDTH - 4)}")
    if len(rules) > _RULES:
        report.line(f"  and {len(rules) - _RULES:,} more, with --save or --json")


def _what(rule: Mapping[str, Any]) -> str:
    if rule["parameters"]:
        return "drop " + ", ".join(rule["parameters"])
    return f"{rule['find']} -> {rule['replace'] or '(nothing)'}"


def _where(rule: Mapping[str, Any]) -> str:
    if rule["host"]:
        return f"on {clean(rule['host'])}{clean(rule['folder'])}"
    others = f" but {len(rule['not_hosts'])}" if rule["not_hosts"] else ""
    place = f"{clean(rule['folder'])} of all hosts" if rule["folder"] else "all hosts"
    return f"on {place}{others}; {rule['num_hosts']:,} agree"


def _short(text: str, width: int) -> str:
    text = clean(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _row(report: Report, name: str, count: int, remark: str) -> None:
    report.line(f"{name:<10}{count:>10,}   {remark}".rstrip())
