"""A pair as one decides about it on a terminal: what it is, both texts with what only one of them has, and the keys.

1. It fits the terminal: long common stretches are cut in the middle, and what does not fit is counted.
2. What one side alone has is red and green, or, where there are no colours, in [-...-] and {+...+}.
"""

from collections.abc import Iterator, Sequence

from rich.text import Text

from nearsame.answers.doubts import Doubt, Undecided
from nearsame.answers.reports import KINDS, MatchKind, SeenDocument, SideBySide
from nearsame.named import NamedTuple
from nearsame.outputs.console import clean
from nearsame.outputs.report_page import ReportPage
from nearsame.printable import printable
from nearsame.shares import cut_short, exactly

__all__ = ["Standing", "page"]

_KEYS = (
    "y duplicates  n keep both  k keep the other  u unsure  m note  z undo",
    "space next  b back  c next cluster  t all text  q quit",
)
_KEYS_OF_LABELS = (
    "y near-duplicates  n different  u unsure  z undo",
    "space next  b back  t all text  q quit",
)

_AROUND = 60  # characters of common text on either side of a difference
_LEAST_LINES = 3
_SIGNS = {"a": ("-", "red", "[-", "-]"), "b": ("+", "green", "{+", "+}")}


class Standing(NamedTuple):
    """Where one is, and what was decided.

    Attributes:
        number: of the pair, from 0.
        pairs: that there are.
        decided: how many of them are.
        kind: what the texts of this one have in common.
        said: what was decided of it, in words.
        remark: what became of the last key.
    """

    number: int
    pairs: int
    decided: int
    kind: MatchKind
    said: str
    remark: str = ""


def page(out: ReportPage, doubt: Undecided, view: SideBySide, standing: Standing, lines: int | None) -> None:
    """Print a pair.

    Args:
        out: Where.
        doubt: The pair.
        view: Its texts.
        standing: Where one is.
        lines: How many there may be; None: as many as it takes.
    """
    head = list(_head(doubt, standing))
    keys, fates = (_KEYS, (": goes", ": stays")) if isinstance(doubt, Doubt) else (_KEYS_OF_LABELS, ("", ""))
    for line, style in head:
        out.line(line, style=style)
    taken = out.height([*(line for line, _ in head), *keys]) + 7
    room = None if lines is None else max(_LEAST_LINES, (lines - taken) // 2)
    everything = room is None or not isinstance(doubt, Doubt)  # what is to be labelled is an excerpt
    for letter, document, fate, pieces in (
        ("a", doubt.goes, fates[0], view.a), ("b", doubt.stays, fates[1], view.b)
    ):  # fmt: skip
        out.line()
        out.line(f"{_SIGNS[letter][0]} {_called(document)}{fate}", style=f"bold {_SIGNS[letter][1]}")
        out.passage(_marked(pieces, letter, coloured=out.coloured, everything=everything), room)
    out.line()
    if standing.remark:
        out.line(standing.remark, style="bold")
    for line in keys:
        out.line(line, style="dim")


def _head(doubt: Undecided, standing: Standing) -> Iterator[tuple[str, str]]:
    where = f"Pair {standing.number + 1:,} of {standing.pairs:,}, {standing.decided:,} decided."
    if isinstance(doubt, Doubt):
        yield f"{where} Cluster {doubt.cluster + 1:,} of {doubt.clusters:,}, {doubt.documents:,} documents.", "dim"
        why = f"; {doubt.why}" if doubt.why else ""
        said = f"{cut_short(doubt.similarity)} (from {exactly(doubt.least)} on)"
        line = f"{doubt.measure} {said}, {KINDS[standing.kind]}{why}"
        yield line.rstrip(), "bold"
    else:
        yield where, "dim"
    if standing.said:
        yield f"Decided: {clean(standing.said)}.", "bold yellow"


def _called(document: SeenDocument) -> str:
    place = f"{document.source}:{document.row}"
    return clean(document.id + (f" ({place})" if document.source and document.id != place else ""))


def _marked(pieces: Sequence[tuple[str, str, int, int]], letter: str, *, coloured: bool, everything: bool) -> Text:
    """A text with what it alone has marked."""
    _, colour, opening, closing = _SIGNS[letter]
    text = Text()
    last = len(pieces) - 1
    for place, (kind, content, _, left_out) in enumerate(pieces):
        if kind == "gap":
            text.append(f" (... {left_out:,} characters ...) ", "dim")
        elif kind == "alone":
            shown = printable(content, lines=True)
            text.append(shown if coloured else f"{opening}{shown}{closing}", f"bold {colour}")
        else:
            _common(text, content, first=place == 0, last=place == last, everything=everything)
    return text


def _common(text: Text, content: str, *, first: bool, last: bool, everything: bool) -> None:
    """What both have; far from what differs, left out."""
    before, after = 0 if first else _AROUND, 0 if last else _AROUND
    if first and last:
        before = 20 * _AROUND
    if everything or len(content) <= before + after + _AROUND:
        text.append(printable(content, lines=True))
        return
    text.append(printable(content[:before], lines=True))
    text.append(f" (... {len(content) - before - after:,} characters ...) ", "dim")
    text.append(printable(content[len(content) - after :], lines=True))
