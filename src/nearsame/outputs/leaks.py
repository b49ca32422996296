"""What people read about leaks: a summary on the terminal, and one for a model card.

Everything shown stands in the record; nothing is computed here but words and shares.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearsame._version import __version__
from nearsame.files.passed_over import PassedOver
from nearsame.outputs.console import Report, clean, described
from nearsame.outputs.html import render
from nearsame.outputs.promises import in_bytes
from nearsame.printable import shortened
from nearsame.shares import counted, cut, exactly, percent

__all__ = ["leaks_markdown", "leaks_page", "show_leaks"]

_SHOWN, _SHOWN_SKIPS, _COLUMNS = 10, 5, 6
_BENCHMARKS, _LINES, _REMARKS = 100, 200, 20  # that a page has
_LONGEST = 200  # characters of a name there
_WHY = {
    "short": "too short for a shingle, or too little of them in several pieces",
    "plain": "of too few different words",
    "boilerplate": "all boilerplate",
    "empty": "without a word",
}


def show_leaks(report: Report, record: Mapping[str, Any], skipped: pa.Table, passed_over: PassedOver) -> None:
    """The summary of a run, and the items with the largest scores."""
    stats = record["stats"]
    seconds = sum(stats["seconds"].values())
    speed = stats["text_bytes"] / 1e6 / max(seconds, 1e-3)
    about = f"{in_bytes(stats['text_bytes'])} of text in {seconds:,.1f} s, {speed:,.1f} MB/s"
    _row(report, "documents", stats["documents"], about)
    benchmarks = stats["benchmarks"]
    of = f"of {counted(len(benchmarks), 'benchmark')}; {stats['sought']:,} were looked for"
    _row(report, "items", stats["items"], of)
    _row(report, "leaked", stats["leaked"], f"in {counted(stats['leaked_documents'], 'document')}")
    if stats["removed"] is not None:
        _row(report, "removed", stats["removed"]["documents"], _cut_out(stats["removed"]))
    report.line()
    report.line(f"  {'benchmark':<32}{'items':>9}{'sought':>9}{'leaked':>9}{'share':>8}{'documents':>11}")
    for one in benchmarks:
        share = percent(one["leaked"] / max(one["items"], 1), 1)
        counts = "".join(f"{one[name]:>9,}" for name in ("items", "sought", "leaked"))
        report.line(f"  {_short(one['name'], 31):<32}{counts}{share:>8}{one['documents']:>11,}")
    _items(report, record["items"])
    _remarks(report, record, skipped, passed_over)
    report.line(_definition(record["settings"]))


def _cut_out(removed: Mapping[str, int]) -> str:
    """What else than whole documents was removed."""
    if not removed["passages"]:
        return "of these documents"
    passages = f"{counted(removed['passages'], 'passage')} ({counted(removed['characters'], 'character')})"
    return f"without a word left; {passages} cut out"


def _items(report: Report, items: Sequence[Mapping[str, Any]]) -> None:
    if not items:
        return
    report.heading("Leaked items")
    for item in items[:_SHOWN]:
        where = f"{counted(item['documents'], 'document')}, {', '.join(item['columns'])}"
        name = f"{_short(item['benchmark'], 20)} {_short(item['item'], 30)}"
        report.line(f"  {cut(item['score'], 3)} {_short(f'{name}: {clean(where)}', 66)}")
    if len(items) > _SHOWN:
        report.line(f"  and {len(items) - _SHOWN:,} more, with -o or --json")


def _remarks(report: Report, record: Mapping[str, Any], skipped: pa.Table, passed_over: PassedOver) -> None:
    report.line()
    for sentence in _not_looked_for(record):
        report.line(sentence)
    left_out = record["boilerplate"]
    if left_out:
        one = left_out[0]
        example = f"such as {clean(one['shingle'])!r}, in {one['texts']:,} texts of {clean(one['benchmark'])}"
        report.line(f"Left out as boilerplate: {counted(len(left_out), 'shingle')}, {example}.")
    for sentence in (*passed_over.sentences(), *(f"Note: {note}." for note in record["stats"]["notes"])):
        report.line(sentence)
    if skipped.num_rows:
        _row(report, "not readable", skipped.num_rows, "counted nowhere else")
        for line in skipped.slice(0, _SHOWN_SKIPS).to_pylist():
            report.line(f"  {described(line)}")
        if skipped.num_rows > _SHOWN_SKIPS:
            report.line(f"  and {skipped.num_rows - _SHOWN_SKIPS:,} more")


def leaks_markdown(record: Mapping[str, Any]) -> str:
    """A section of a model card: what was looked for, how, and what was found of each benchmark and where."""
    stats = record["stats"]
    lines = [
        "## Contamination by benchmarks",
        "",
        f"{_found(stats)} {_definition(record['settings'])}",
        "",
        "| benchmark | items | looked for | leaked | share of items | documents |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in stats["benchmarks"]:
        share = percent(one["leaked"] / max(one["items"], 1), 2)
        counts = " | ".join(f"{one[name]:,}" for name in ("items", "sought", "leaked"))
        lines.append(f"| {_cell(one['name'])} | {counts} | {share} | {one['documents']:,} |")
    lines += _by_source(record["matrix"])
    unsought = [f"{number:,} {_WHY[reason]}" for reason, number in _unsought(record).items()]
    if unsought:
        lines += ["", f"Texts of items that were not looked for: {'; '.join(unsought)}."]
    return "\n".join(lines) + "\n"


def leaks_page(record: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> str:
    """A page: counts, where items stand, and some of them with both passages."""
    stats = record["stats"]
    benchmarks = sorted(stats["benchmarks"], key=lambda one: -one["leaked"])  # stable
    matrix = sorted(record["matrix"], key=lambda line: -line["items"])
    some = stats["benchmarks"] if len(benchmarks) <= _BENCHMARKS else benchmarks[:_BENCHMARKS]
    remarks = list(_not_looked_for(record))
    return render(
        "leaks.html",
        heading="Contamination by benchmarks",
        parts=[("summary", "Summary"), *([("items", "Leaked items")] if shown else [])],
        found=_found(stats),
        definition=_definition(record["settings"]),
        benchmarks=[_named(one) | {"share": percent(one["leaked"] / max(one["items"], 1), 2)} for one in some],
        benchmarks_more=_more(len(benchmarks), _BENCHMARKS),
        matrix=list(map(_named, record["matrix"] if len(matrix) <= _LINES else matrix[:_LINES])),
        matrix_more=_more(len(matrix), _LINES),
        remarks=[shortened(one, 2 * _LONGEST) for one in remarks[:_REMARKS]],
        remarks_more=_more(len(remarks), _REMARKS),
        shown=shown,
        shown_note=_about_shown(record, shown),
        versions={"nearsame": __version__},
        settings=record["settings"],
    )


def _named(line: Mapping[str, Any]) -> dict[str, Any]:
    """With names that a page has room for."""
    names = (name for name in ("name", "benchmark", "source") if name in line)
    return {**line, **{name: shortened(line[name], _LONGEST) for name in names}}


def _more(number: int, most: int) -> str:
    return f"{number - most:,} more, with fewer leaked items: -o has them." if number > most else ""


def _about_shown(record: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> str:
    """Which items are there, and how many of their places have texts."""
    total = len(record["items"])
    some = "All of them" if len(shown) == total else f"{len(shown):,} of {total:,}"
    texts = [bool(span["sides"]) for item in shown for span in item["spans"]]
    said = f"{some}, the largest score first, each with its first places."
    if any(texts) and not all(texts):
        said += f" There is room for the texts of {sum(texts):,} of these {len(texts):,} places."
    return f"{said} Coloured: what both sides have." if any(texts) else said


def _found(stats: Mapping[str, Any]) -> str:
    """What was found, in a sentence."""
    items = f"{stats['leaked']:,} of {counted(stats['items'], 'item')}"
    documents = f"{stats['leaked_documents']:,} of {counted(stats['documents'], 'training document')}"
    size = in_bytes(stats["text_bytes"])
    return (
        f"{items} of {counted(len(stats['benchmarks']), 'benchmark')} were found in {documents} ({size} of text) by"
        f" nearsame {__version__}."
    )


def _definition(rule: Mapping[str, Any]) -> str:
    """What counts as found."""
    size, least = rule["shingle_size"], exactly(rule["threshold"])
    return (
        f"A text of an item counts as found if one window of a document, {rule['window']:g} times as long as the text,"
        f" has at least {least} of the text's different {size}-word shingles (case, punctuation, markup"
        f" and line breaks aside); a text with fewer than {size} of them, if it stands there word for word. Shingles in"
        f" more than {counted(rule['boilerplate'], 'text')} of a benchmark do not count."
    )


def _by_source(matrix: Sequence[Mapping[str, Any]]) -> list[str]:
    """The leaked items by benchmark and source, those sources that have most; nothing, where all is in one source."""
    totals: dict[str, int] = {}
    for line in matrix:
        totals[line["source"]] = totals.get(line["source"], 0) + line["items"]
    sources = sorted(totals, key=lambda name: (-totals[name], name))[:_COLUMNS]
    if not sources:
        return []
    counts = {(line["benchmark"], line["source"]): line["items"] for line in matrix}
    names = " | ".join(map(_cell, sources))
    more = "" if len(totals) == len(sources) else f" (of {len(totals):,} sources those with most)"
    lines = ["", f"Leaked items by source{more}:", "", f"| benchmark | {names} |"]
    lines.append(f"| --- |{' ---: |' * len(sources)}")
    for benchmark in dict.fromkeys(line["benchmark"] for line in matrix):
        numbers = " | ".join(f"{counts.get((benchmark, source), 0):,}" for source in sources)
        lines.append(f"| {_cell(benchmark)} | {numbers} |")
    return lines


def _not_looked_for(record: Mapping[str, Any]) -> Iterator[str]:
    """The same in sentences."""
    for reason, number in _unsought(record).items():
        yield f"Not looked for: {counted(number, 'text')} {_WHY[reason]}."
    for counts in record["stats"]["benchmarks"]:
        if not counts["texts"]:
            yield f"Nothing to look for in {clean(counts['name'])}: no {'text' if counts['items'] else 'items'}."


def _unsought(record: Mapping[str, Any]) -> dict[str, int]:
    """How many texts were not looked for, by reason."""
    counts = dict.fromkeys(_WHY, 0)
    for one in record["stats"]["benchmarks"]:
        for reason, number in one["unsought"].items():
            counts[reason] += number
    return {reason: number for reason, number in counts.items() if number}


def _cell(text: str) -> str:
    r"""A text in a table: neither a bar nor a line of its own.

    >>> _cell("a|b\nc")
    'a\\|b c'
    """
    return clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _short(text: str, width: int) -> str:
    text = clean(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _row(report: Report, name: str, count: int, remark: str) -> None:
    report.line(f"{name:<16}{count:>10,}   {remark}".rstrip())
