"""A comparison as people read it: a table of measures, the verdict, and the shared passages side by side.

1. It fits 80 columns. Numbers are rounded, but none so that it looks as if it reached the threshold or 1, and a
   distance that is 1 less the similarity is shown as that.
2. Shared text is coloured on a terminal and stands between [[ and ]] elsewhere.
3. What is left out for length is counted, and can be had.
"""

from collections.abc import Sequence
from fractions import Fraction

from rich.table import Table
from rich.text import Text

from nearsame.answers.comparisons import ComparedText, Comparison, Measured, Passage
from nearsame.named import NamedTuple
from nearsame.outputs.console import clean
from nearsame.outputs.report_page import ReportPage
from nearsame.shares import counted, cut, exactly, percent

__all__ = ["NAMES", "Sources", "report", "shown_distance", "verdict"]

NAMES = {
    "jaccard": "Jaccard",
    "containment_a": "containment of a in b",
    "containment_b": "containment of b in a",
    "containment": "containment, the greater one",
    "cosine_sets": "cosine of sets",
    "minhash": "MinHash estimate",
    "simhash": "SimHash",
    "cosine": "cosine of frequencies",
    "euclidean": "Euclidean distance",
    "indel": "edit distance (Indel)",
    "levenshtein": "edit distance (Levenshtein)",
    "clusters": "Jaccard of clusters",
    "length": "length ratio",
}
_SHORT = {"radians": " rad"}
_DIGITS = 4
_MOST_PASSAGES = 10
_CONTEXT = 30  # characters on either side of a passage
_END = 120  # characters of a long passage, at its start and at its end


class Sources(NamedTuple):
    """What the two sides are called, their texts, and what to say of where these were found."""

    a: str
    b: str
    a_text: str
    b_text: str
    remarks: Sequence[str] = ("", "")


def report(out: ReportPage, comparison: Comparison, sources: Sources, *, everything: bool = False) -> None:
    """Print both sides, the measures with the decision, and the longest shared passages, or all of them."""
    unit = "words" if comparison.recipe.get("unit") != "chars" else "characters"
    sides = zip("ab", sources[:2], (comparison.a, comparison.b), sources.remarks, strict=True)
    for letter, name, side, remark in sides:
        out.line(f"{letter}  {clean(name)}", style="bold")
        out.line(f"   {_counts(side, unit)}")
        if remark:
            out.line(f"   {remark}")
    out.line()
    out.show(_measures(comparison))
    out.line()
    out.line(verdict(comparison), style="bold")
    _list_passages(out, comparison, sources, unit, everything=everything)


def verdict(comparison: Comparison) -> str:
    """The decision in words."""
    if comparison.measure == "containment":
        value = max(_value(comparison["containment_a"]), _value(comparison["containment_b"]))
    else:
        value = _value(comparison[comparison.measure])
    least = exactly(comparison.threshold)
    shown = cut(value)
    if comparison.similar:
        return f"Near-duplicates: {NAMES[comparison.measure]} {shown} >= {least}."
    if value >= comparison.threshold:
        return "Not near-duplicates: a text without words resembles only its copies, and an empty one resembles none."
    return f"Not near-duplicates: {NAMES[comparison.measure]} {shown} < {least}."


def _value(measured: Measured) -> Fraction | float:
    return 0 if measured.similarity is None else measured.similarity


def _counts(side: ComparedText, unit: str) -> str:
    words = "" if unit == "characters" else f", {side.tokens:,} {unit}"
    return f"{side.characters:,} characters{words}, {counted(side.shingles, 'different shingle')}"


def _measures(comparison: Comparison) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("measure", no_wrap=True)
    table.add_column("similarity", no_wrap=True)
    table.add_column("distance", no_wrap=True)
    table.add_column("of", overflow="fold")
    for measured in comparison.measures:
        style = "bold" if measured.name == comparison.measure else ""
        similarity = "" if measured.similarity is None else cut(measured.similarity)
        error = "" if not measured.error else f" ± {measured.error:.3f}"
        of = f"{measured.of}; {measured.note}" if measured.note else measured.of
        table.add_row(NAMES[measured.name], similarity + error, shown_distance(measured, similarity), of, style=style)
    return table


def shown_distance(measured: Measured, similarity: str) -> str:
    """A distance with its unit: what is counted as a whole number; one that is 1 less the similarity, as that."""
    if measured.distance is None:
        return ""
    if not measured.unit and measured.similarity is not None:
        return f"{1 - float(similarity):.{_DIGITS}f}"
    whole = measured.unit not in ("", "radians")
    unit = _SHORT.get(measured.unit, f" {measured.unit}" if measured.unit else "")
    if measured.distance == 1 and whole:
        unit = unit.removesuffix("s")
    return f"{int(measured.distance):,}{unit}" if whole else f"{float(measured.distance):.{_DIGITS}f}{unit}"


def _list_passages(out: ReportPage, comparison: Comparison, sources: Sources, unit: str, *, everything: bool) -> None:
    out.line()
    shown = comparison.passages
    promise = f"Every shared run of {comparison.passage_tokens} or more {unit} is found."
    if not shown:
        out.line(f"No shared passage. {promise}")
        return
    sides = " and ".join(
        f"{percent(side.in_passages / side.tokens)} of {letter}"
        for letter, side in (("a", comparison.a), ("b", comparison.b))
    )
    out.line(f"{counted(shown, 'shared passage')}, {sides}. {promise}")
    if not everything and len(shown) > _MOST_PASSAGES:
        longest = set(sorted(shown, key=lambda passage: -passage.tokens)[:_MOST_PASSAGES])
        shown = tuple(passage for passage in shown if passage in longest)
    for passage in shown:
        out.line()
        places = f"a {passage.a_start:,}-{passage.a_end:,}, b {passage.b_start:,}-{passage.b_end:,}"
        out.line(f"{passage.tokens:,} {unit}: characters {places}", style="dim")
        out.show(_side_by_side(out, passage, sources, everything=everything))
    if len(shown) < len(comparison.passages):
        out.line()
        out.line(f"The {len(shown)} longest are shown; --all shows all {len(comparison.passages):,}.")


def _side_by_side(out: ReportPage, passage: Passage, sources: Sources, *, everything: bool) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    table.add_row(
        _shown(sources.a_text, passage.a_start, passage.a_end, coloured=out.coloured, everything=everything),
        _shown(sources.b_text, passage.b_start, passage.b_end, coloured=out.coloured, everything=everything),
    )
    return table


def _shown(text: str, start: int, end: int, *, coloured: bool, everything: bool) -> Text:
    """A passage with a little of what stands around it."""
    before, after = _last_words(text[:start]), _first_words(text[end:])
    inside = text[start:end]
    if not everything and end - start > 3 * _END:
        inside = f"{_first_words(inside, _END)} (...) {_last_words(inside, _END)}"
    left = f"{'... ' if len(before) < start else ''}{_spaced(before)}"
    right = f"{_spaced(after)}{' ...' if len(after) < len(text) - end else ''}"
    opening, closing = ("", "") if coloured else ("[[", "]]")
    return Text.assemble((left, "dim"), (f"{opening}{clean(inside)}{closing}", "bold green"), (right, "dim"))


def _first_words(text: str, size: int = _CONTEXT) -> str:
    """The start of a text, to the end of a word where there is one."""
    if len(text) <= size:
        return text
    cut = text[:size]
    return (cut.rstrip() and cut.rstrip().rpartition(" ")[0]) or cut


def _last_words(text: str, size: int = _CONTEXT) -> str:
    """The end of a text, from the start of a word."""
    if len(text) <= size:
        return text
    cut = text[-size:]
    return (cut.lstrip() and cut.lstrip().partition(" ")[2]) or cut


def _spaced(text: str) -> str:
    """A text made harmless, a space at its ends kept."""
    cleaned = clean(text)
    return f"{' ' if text[:1].isspace() and cleaned else ''}{cleaned}{' ' if text[-1:].isspace() else ''}"
