"""What people read when a run is over: the summary, and pairs with their texts.

1. It fits 80 columns, and is plain ASCII but for what comes from documents.
2. What there is none of is not mentioned.
3. Texts are made harmless first: no control character of a document reaches the terminal.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa

from nearsame.answers.stats import Stats
from nearsame.files.passed_over import PassedOver
from nearsame.outputs.lines import cells, columns, cropped, is_plain
from nearsame.outputs.progress import watched
from nearsame.outputs.promises import component, condition, content, guarantee, in_bytes, measured, near
from nearsame.outputs.remarks import remarks
from nearsame.printable import printable, printable_json, wrapped
from nearsame.shares import counted, cut, percent

if TYPE_CHECKING:
    from nearsame.outputs.styles import QuietConsole

__all__ = ["Report", "described", "print_json", "watched", "window"]

_MOST_COLUMNS = 100
_LEAST_SPEED = 0.05  # of what is not shown as 0.0
_COLOURS = {"-": "red", "+": "green"}
_WORD = r"\w+"
_SHOWN_SKIPS = 5
_BEFORE = 24  # characters of common text before the first difference


def print_json(record: Mapping[str, Any]) -> None:
    """A record on standard output."""
    sys.stdout.write(printable_json(json.dumps(record, indent=2, ensure_ascii=False)) + "\n")
    sys.stdout.flush()


class Report:
    """Text for people on a stream."""

    def __init__(self, stream: TextIO) -> None:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # what the encoding lacks is not a reason to fail at the very end
        self._stream, self._is_plain = stream, is_plain(stream)
        self._width = min(columns(), _MOST_COLUMNS)

    @cached_property
    def _console(self) -> "QuietConsole":
        from nearsame.outputs.styles import QuietConsole  # noqa: PLC0415  (see outputs/lines.py)

        # A text in brackets or colons is a text: rich's markup and emoji are for texts of one's own.
        return QuietConsole(file=self._stream, highlight=False, soft_wrap=False, markup=False, emoji=False)

    def summary(self, stats: Stats, skipped: pa.Table, passed_over: PassedOver) -> None:
        """What a run of dedup did."""
        self._counts(stats)
        judged = max(stats.documents - stats.against, 1)
        if stats.against:
            self._row("against", stats.against, "all kept")
        self._row("kept", stats.kept, percent(stats.kept / judged, 1))
        self._row("removed", stats.removed, percent(stats.removed / judged, 1))
        if stats.exact_copies:
            self._row("  exact copies", stats.exact_copies, f"the same {content(stats)}")
        if stats.near_copies:
            self._row("  near copies", stats.near_copies, near(stats))
        self._others(stats)
        if stats.chained:
            self._row("    by a chain", stats.chained, "less similar to their witness than that")
        if stats.largest:
            self._row("clusters", stats.clusters, "a kept document and those that it stands for")
            self.line(f"  largest: {self._largest(stats)}")
        if stats.component:
            self.line(f"  {component(stats)}")
        self._evidence(stats)
        self._remarks(stats, skipped, passed_over)
        if stats.documents:
            self.line(f"Guarantee: {guarantee(stats)}")
        if stats.audit:
            self.line(f"Measured: {measured(stats.audit)}")

    def pairs(self, stats: Stats, num_pairs: int, skipped: pa.Table, passed_over: PassedOver) -> None:
        """What a run of pairs found."""
        self._counts(stats)
        self._row("pairs", num_pairs, condition(stats))
        self._hosts(stats, num_pairs, "of documents of one host", "of two hosts")
        self._remarks(stats, skipped, passed_over)
        if stats.audit:
            self.line(f"Measured: {measured(stats.audit)}")

    def written(self, place: str, *, folder: bool = False) -> None:
        """Where it is, in one piece that can be copied, and that it is a folder, whatever its name looks like."""
        self._put(printable(f"Written: {place.rstrip('/')}/" if folder else f"Written: {place}"))

    def examples(self, table: pa.Table, *, places: bool = False) -> None:
        """Removed documents and their witnesses, each with the passage where they first differ.

        Args:
            table: They, with their texts.
            places: Whether sources and rows stand beside ids, which do not tell documents apart.
        """
        if not table.num_rows:
            return
        self.line()
        self.line("Nothing was written. Some that would go (-), above their witnesses (+):")
        for pair in table.to_pylist():
            self.line()
            self.pair(pair, places=places)

    def pair(self, pair: Mapping[str, Any], *, title: str = "", signs: str = "-+", places: bool = False) -> None:
        """A document above its witness, from where they first differ."""
        same = "the same text" if pair["text"] == pair["witness_text"] else ""
        remark = ": ".join(filter(None, (title, same if not title else "")))
        self.line(f"{_similarity(pair)}   {remark}".rstrip(), style="bold")
        passages = window(clean(pair["text"]), clean(pair["witness_text"]))
        for sign, side, passage in zip(signs, ("", "witness_"), passages, strict=True):
            name = self._named(pair, side, self._width - 4, place=places)
            self.line(f"  {sign} {name}", style=_COLOURS[sign])
            self.line(f"    {self._fit(passage or '(no text)', self._width - 4)}", style="dim")

    def _named(self, pair: Mapping[str, Any], side: str, width: int, *, place: bool) -> str:
        """The id of a side; with its place, as far as that is known, which gives way to half of the width."""
        name, source = clean(pair[f"{side}id"]), pair.get(f"{side}source")
        if not place or source is None:
            return self._fit(name, width)
        row = f", row {pair[f'{side}row']:,}" if f"{side}row" in pair else ""
        name = self._fit(name, width // 2)
        room, source = width - cells(name) - 2 - len(row), clean(source)
        if cells(source) > room:  # of a path the end says most
            source = "..." + cropped(source[::-1], max(room - 3, 0))[::-1].lstrip()
        return f"{name}  {source}{row}"

    def heading(self, text: str) -> None:
        """A line that stands out, after an empty one."""
        self.line()
        self.line(text, style="" if self._is_plain else "bold underline")

    def line(self, text: str = "", *, style: str = "") -> None:
        """Text that is wrapped at words, with the style where there are styles."""
        text = printable(text)
        indent = len(text) - len(text.lstrip())
        if self._is_plain and text.isascii():
            for line in wrapped(text.strip(), max(self._width - indent, 1)) or [""]:
                self._put(" " * indent + line)
            return
        from rich.text import Text  # noqa: PLC0415  (see outputs/lines.py)

        for piece in Text(text.strip(), style).wrap(self._console, self._width - indent):
            piece.rstrip()
            piece.pad_left(indent)
            self._console.print(piece, overflow="ignore", no_wrap=True, crop=False)

    def _put(self, line: str) -> None:
        """A line as it is, without a style."""
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def _counts(self, stats: Stats) -> None:
        seconds = sum(stats.seconds.values())
        speed = stats.text_bytes / 1e6 / max(seconds, 1e-3)
        read = " read" if stats.unread else ""  # of what equals no other nothing is known but the size on disk
        fast = f", {speed:,.1f} MB/s" if speed >= _LEAST_SPEED else ""
        about = f"{in_bytes(stats.text_bytes)} of {content(stats)}{read} in {seconds:,.1f} s{fast}"
        self._row("documents", stats.documents, about)

    def _row(self, name: str, count: int, remark: str) -> None:
        width = max(16, len(name))  # a longer name takes from the room of the number
        self.line(f"{name:<{width}}{count:>{max(1, 26 - width)},}   {remark}".rstrip())

    def _others(self, stats: Stats) -> None:
        """What went before anything was compared: by the word of an index, or of the documents."""
        if stats.known_copies:
            self._row("  known", stats.known_copies, "to an index that was asked")
        if stats.other_copies > stats.known_copies:
            by_word = stats.other_copies - stats.known_copies
            self._row("  not by text", by_word, "by what URLs and pages say of themselves")

    def _evidence(self, stats: Stats) -> None:
        """Which layer removed how many, and what else speaks for it."""
        for layer in stats.layers:
            other = f"; {layer['other_text']:,} with another text" if layer["other_text"] else ""
            entered = f"of {counted(layer['documents'], 'document')}"
            by_text = layer["layer"] in {"index", "digest", "text"}
            self._row(f"  layer {layer['layer']}", layer["removed"], entered if by_text else entered + other)
        if stats.same_host is None or not stats.removed:
            return
        self._hosts(stats, stats.removed, "removed for a document of their own host", "for one of another")
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in stats.evidence.items())
        self.line(f"  evidence: {kinds} (a document may have several)")

    def _hosts(self, stats: Stats, total: int, same: str, other: str) -> None:
        """Of one host and of two, apart."""
        if stats.same_host is None or stats.cross_host is None:
            return
        unknown = total - stats.same_host - stats.cross_host
        self._row("same host", stats.same_host, same)
        self._row("other host", stats.cross_host, other + (f"; {unknown:,} unknown" if unknown else ""))

    def _largest(self, stats: Stats) -> str:
        room = self._width - len("  largest: ")
        listed = ""
        for name, size in stats.largest:
            more = f"{', ' if listed else ''}{size:,} {self._short(name)}"
            if listed and cells(listed + more) > room:
                break
            listed += more
        return listed

    def _remarks(self, stats: Stats, skipped: pa.Table, passed_over: PassedOver) -> None:
        for sentence in remarks(stats, passed_over):
            self.line(sentence)
        self.skipped(skipped)

    def skipped(self, skipped: pa.Table) -> None:
        """The records that could not be read."""
        if skipped.num_rows:
            self._row("not readable", skipped.num_rows, "counted nowhere else")
            for record in skipped.slice(0, _SHOWN_SKIPS).to_pylist():
                self.line(f"  {described(record)}")
            if skipped.num_rows > _SHOWN_SKIPS:
                self.line(f"  and {skipped.num_rows - _SHOWN_SKIPS:,} more")

    def _short(self, name: str) -> str:
        return self._fit(clean(name), 30)

    def _fit(self, text: str, width: int) -> str:
        return text if cells(text) <= width else cropped(text, width - 3).rstrip() + "..."


def clean(text: str) -> str:
    """A text on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[:1_000_000]).split())


def described(record: Any) -> str:
    """A record that could not be read, in a line: where it is, and why."""
    known = record if isinstance(record, Mapping) else record._asdict()
    return f"{printable(_place(known))}: {printable(known['reason'])}"


def window(a: str, b: str) -> tuple[str, str]:
    """Both texts from a little before the first word that differs, be it only in its capitals where no other does.

    Example:
        >>> window("One two three", "one two four")
        ('One two three', 'one two four')
    """
    x, y = (list(re.finditer(_WORD, text)) for text in (a, b))
    at = _first((word.group().casefold() for word in x), (word.group().casefold() for word in y))
    if at == len(x) == len(y):
        place = _first(a, b)
        return (_from(a, place), _from(b, place)) if a != b else (a, b)
    return _from(a, x[at].start() if at < len(x) else len(a)), _from(b, y[at].start() if at < len(y) else len(b))


def _first(a: Iterable[str], b: Iterable[str]) -> int:
    """Where two sequences first differ: the length of what they have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _from(text: str, place: int) -> str:
    if place <= _BEFORE:
        return text
    start = text.rfind(" ", 0, place - _BEFORE) + 1 or place - _BEFORE
    return "..." + text[start:]


def _similarity(pair: Mapping[str, Any]) -> str:
    return f"{cut(pair['similarity'], 3)} {pair['measure']}"


def _place(record: Mapping[str, Any]) -> str:
    if record["line"] is not None:
        return f"{record['source']}, line {record['line']}"
    return record["source"] if record["position"] is None else f"{record['source']}, record {record['position']}"
